"""Keys in the output of a cell: a widget keeps those that it uses, and the notebook has all others."""

import json

import pytest
from places import open_notebook, run_cell, write_notebook
from playwright.sync_api import expect
from test_journey import Graph
from test_selecting import CELL


def sources(page) -> list[str]:
    return page.locator(".jp-Notebook .jp-Cell .cm-content").all_inner_texts()


def run_editor(page, lab, workspace: str):
    """An editor in the second of three cells, of a saved notebook."""
    write_notebook(lab, "first = 1", CELL, "third = 3")
    open_notebook(page, lab, workspace=workspace)
    run_cell(page, 1)
    graph = Graph(page)
    expect(graph.node("2")).to_be_visible(timeout=60_000)
    return graph


def outputs(lab) -> int:
    """Number of outputs in the saved notebook."""
    text = (lab.folder / "cell.ipynb").read_text()
    return sum(len(cell.get("outputs", [])) for cell in json.loads(text)["cells"]) if text else 0


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.sample(False)
@pytest.mark.blank_page
@pytest.mark.parametrize("workspace", ["lab/tree", "notebooks"])
def test_keys_of_the_editor_in_a_cell(page, lab, workspace):
    graph = run_editor(page, lab, workspace)
    cells = sources(page)
    nodes = graph.canvas.locator(".react-flow__node")
    expect(nodes).to_have_count(5)

    # the notebook is saved as from anywhere else
    graph.node("2").click()
    assert outputs(lab) == 0
    page.keyboard.press("Control+s")
    for _ in range(100):
        if outputs(lab):
            break
        page.wait_for_timeout(100)
    assert outputs(lab) == 1

    # the editor's own keys
    graph.node("2").click()
    press(page, "Control+d")
    expect(nodes).to_have_count(6)
    press(page, "Delete")
    expect(nodes).to_have_count(5)
    press(page, "Control+z")
    expect(nodes).to_have_count(6)
    press(page, "Control+z", "Control+a")
    expect(graph.canvas.locator(".react-flow__node.selected")).to_have_count(5)
    press(page, "Control+c", "Control+v")
    expect(nodes).to_have_count(10)
    press(page, "Backspace")
    expect(nodes).to_have_count(5)
    graph.node("2").click()
    press(page, "Shift+A")
    menu = page.locator(".labdl-quick-menu")
    expect(menu).to_be_visible()
    page.keyboard.type("sigm")
    expect(menu.locator("[role=option]").first).to_contain_text("Sigmoid")
    press(page, "Escape")

    # Escape takes the focus from a layer, and the editor keeps its keys
    graph.node("2").click()
    press(page, "Escape")
    expect(graph.canvas).to_be_focused()
    press(page, "Shift+A")
    expect(menu).to_be_visible()
    press(page, "Escape")

    # keys that insert, cut, copy, merge and delete cells do nothing to them
    graph.node("2").click()
    for keys in ("a", "b", "dd", "x", "c", "v", "y", "m", "z", "1", "0", "ii", "j"):
        press(page, *keys)
        page.wait_for_timeout(50)  # a shortcut waits for what the browser does with its key
        assert sources(page) == cells, keys
    press(page, "ArrowDown", "Enter")
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    # Enter in the form of a block
    graph.node("2").click()
    press(page, "Control+g")
    times = page.get_by_label("Repetitions")
    times.fill("3")
    times.press("Enter")
    expect(nodes).to_have_count(7)
    graph.canvas.focus()
    press(page, "Control+z", "Control+z")
    expect(nodes).to_have_count(5)

    # text fields take text, new lines and undo
    graph.node("2").click()
    name = page.locator("#labdl-name")
    name.fill("middle")
    press(page, "x", "Control+a", "d", "d", "Control+z")
    expect(name).not_to_have_value("dd")
    name.fill("middle")
    press(page, "Enter")
    expect(graph.node("middle")).to_be_visible()
    graph.canvas.click(position={"x": 20, "y": 200})
    press(page, "Shift+N")
    page.keyboard.type("one")
    press(page, "Enter")
    page.keyboard.type("two")
    expect(page.get_by_label("Text of the note")).to_have_value("one\ntwo")
    press(page, "Escape")
    assert sources(page) == cells

    # the notebook's other shortcuts
    graph.node("middle").click()
    press(page, "Control+Shift+c")
    expect(page.locator(".lm-CommandPalette-input:visible")).to_be_focused()
    press(page, "Escape")
    graph.node("middle").click()
    page.evaluate("document.activeElement.dataset.before = true")
    press(page, "Shift+Enter")
    expect(page.locator("[data-before]")).to_have_count(0)
