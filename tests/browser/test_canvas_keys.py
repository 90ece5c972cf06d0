"""Focus, keys and selection of the canvas, in a panel and in a cell: what a designer's hand expects."""

import pytest
from places import in_both_places, open_editor
from playwright.sync_api import expect
from test_journey import Graph, center

pytestmark = pytest.mark.sample(False)


def selected(graph) -> list[str]:
    return graph.canvas.locator(".react-flow__node.selected .labdl-node-name").all_inner_texts()


def add(page, *layers: str) -> None:
    """Add layers by keyboard, each behind the one before."""
    for layer in layers:
        page.keyboard.press("Shift+A")
        expect(page.locator(".labdl-quick-menu")).to_be_visible()
        page.keyboard.type(layer)
        expect(page.locator(".labdl-quick-menu [role=option]").first).to_have_attribute("data-layer", layer)
        page.keyboard.press("Enter")
        expect(page.locator(".labdl-quick-menu")).to_have_count(0)


@in_both_places
def test_the_canvas_keeps_the_focus(page, lab, place):
    open_editor(page, lab, place)
    graph = Graph(page)
    nodes = graph.canvas.locator(".react-flow__node")
    if place == "panel":
        expect(graph.canvas).to_be_focused()  # no click is needed in a new document
    else:
        graph.canvas.click(position={"x": 300, "y": 300})
    start = 1  # the input
    expect(nodes).to_have_count(start)
    add(page, "Linear", "ReLU", "Dropout")
    expect(nodes).to_have_count(start + 3)

    # undo after a deletion, of the focused layer
    graph.node("relu").click()
    page.keyboard.press("Delete")
    expect(nodes).to_have_count(start + 2)
    page.keyboard.press("Control+z")
    expect(nodes).to_have_count(start + 3)

    # a chain of undos removes the focused layer and goes on
    graph.node("dropout").focus()
    for left in (2, 1, 0):
        page.keyboard.press("Control+z")
        expect(nodes).to_have_count(start + left)
    page.keyboard.press("Control+Shift+z")
    expect(nodes).to_have_count(start + 1)

    # the sheet of keys
    page.keyboard.press("Shift+?")
    sheet = page.get_by_role("dialog", name="Keys of the canvas")
    expect(sheet).to_contain_text("Ctrl+Shift+G")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(graph.canvas).to_be_focused()


@in_both_places
def test_selecting_as_in_figma(page, lab, place):
    open_editor(page, lab, place)
    graph = Graph(page)
    graph.canvas.click(position={"x": 300, "y": 300})
    add(page, "Linear", "ReLU", "Dropout")
    page.keyboard.press("Control+a")
    assert {"linear", "relu", "dropout"} <= set(selected(graph))
    graph.node("relu").click()
    assert selected(graph) == ["relu"]
    graph.node("linear").click(modifiers=["Shift"])
    assert set(selected(graph)) == {"relu", "linear"}
    graph.node("dropout").click(modifiers=["Control"])
    assert set(selected(graph)) == {"relu", "linear", "dropout"}
    graph.node("relu").click(modifiers=["Shift"])
    assert set(selected(graph)) == {"linear", "dropout"}
    graph.node("linear").click(modifiers=["Control"])
    assert selected(graph) == ["dropout"]
    # several stay selected while one of them is dragged
    graph.node("relu").click(modifiers=["Shift"])
    x, y = center(graph.node("relu"))
    graph.press_and_move((x, y), (x + 40, y + 20))
    assert set(selected(graph)) == {"relu", "dropout"}


def test_tooltips_name_the_keys(page, lab):
    open_editor(page, lab, "panel")
    expect(page.locator(".labdl-GraphPanel, .jp-Toolbar").locator("[title*='Shift+A']").first).to_be_visible()
