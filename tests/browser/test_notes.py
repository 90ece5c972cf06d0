"""Notes on the canvas, and classes that come onto it from files, cells and kernels."""

import json
from pathlib import Path

import h5py
import pytest
from places import new_model
from playwright.sync_api import expect
from test_journey import Graph, center

from labdl.graph import Edge, Node
from labdl.graph import Graph as GraphData
from labdl.saving import load_structure, save_structure

pytestmark = pytest.mark.sample(False)


def test_notes_beside_the_layers(page, lab):
    new_model(page)
    graph = Graph(page)
    graph.move("input", 300, 60)
    notes = page.locator(".react-flow__node-note")

    # a key puts one where the pointer is, and what is typed goes into it: one step
    box = graph.canvas.bounding_box()
    page.mouse.click(box["x"] + 500, box["y"] + 200)
    page.keyboard.press("Shift+N")
    page.keyboard.type("Why one input?\nSee §3")
    page.keyboard.press("Escape")
    expect(notes).to_have_text(["Why one input?\nSee §3"])
    at = notes.bounding_box()
    assert abs(at["x"] - box["x"] - 500) < 3
    assert abs(at["y"] - box["y"] - 200) < 3
    expect(notes).to_be_focused()
    assert "Note: Why one input?" in notes.get_attribute("aria-label")
    page.keyboard.press("Control+z")
    expect(notes).to_have_count(0)
    page.keyboard.press("Control+Shift+z")
    expect(notes).to_have_text(["Why one input?\nSee §3"])

    # written again by a double-click, and taken back as one step
    notes.dblclick()
    page.keyboard.type(", p. 7")
    page.mouse.click(box["x"] + 60, box["y"] + 400)
    expect(notes).to_have_text(["Why one input?\nSee §3, p. 7"])
    page.keyboard.press("Control+z")
    expect(notes).to_have_text(["Why one input?\nSee §3"])

    # dragged, and made larger at a corner; each is one step
    start = center(notes)
    graph.press_and_move(start, (start[0] - 60, start[1] + 120))
    moved = notes.bounding_box()
    assert -61 < moved["x"] - at["x"] < -40  # a drag begins after a few pixels
    assert 80 < moved["y"] - at["y"] < 121
    corner = (moved["x"] + moved["width"], moved["y"] + moved["height"])
    graph.press_and_move(corner, (corner[0] + 80, corner[1] + 40))
    large = notes.bounding_box()
    assert 60 < large["width"] - moved["width"] < 90
    assert 25 < large["height"] - moved["height"] < 50
    left = (large["x"], large["y"])  # at the upper left corner it moves as well
    graph.press_and_move(left, (left[0] - 30, left[1] - 20))
    larger = notes.bounding_box()
    assert 15 < larger["width"] - large["width"] < 40
    assert abs(large["x"] - larger["x"] - larger["width"] + large["width"]) < 3
    for former in (large, moved, at):
        page.keyboard.press("Control+z")
        expect_box(notes, former)
    for _ in range(2):
        page.keyboard.press("Control+Shift+z")
    expect_box(notes, large)

    # a color, a copy, and a note behind a layer that does not take its clicks
    page.locator(".react-flow__node-toolbar").get_by_label("Blue").click()
    page.keyboard.press("Control+d")
    expect(notes).to_have_count(2)
    page.keyboard.press("Delete")
    expect(notes).to_have_count(1)
    graph.node("input").click()
    run(page, "Add Note Around Selection")
    expect(page.get_by_label("Text of the note")).to_be_focused()
    page.keyboard.type("Data")
    page.keyboard.press("Escape")
    expect(notes).to_have_count(2)
    for _ in range(2):
        graph.node("input").click()
        expect(page.locator("#labdl-name")).to_have_value("input")
        notes.filter(has_text="Data").click(position={"x": 8, "y": 8})
        expect(page.locator("#labdl-note-text")).to_have_value("Data")  # selected it is still behind

    # in the file, and there after a reload
    page.keyboard.press("Control+s")
    page.locator(".jp-Dialog input[type=text]").first.fill("noted.labdl")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator(".lm-TabBar-tab.lm-mod-current", has_text="noted.labdl").first).to_be_visible()
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    path = lab.folder / "noted.labdl"
    saved = load_structure(path).notes
    assert [(n.text, n.color) for n in saved.values()] == [("Why one input?\nSee §3", "blue"), ("Data", "yellow")]
    with h5py.File(path) as file:
        assert file.attrs["version"] == 4
    with page.expect_download() as download:
        run(page, "Download as SVG")
    picture = Path(download.value.path()).read_text()
    assert "Why one input?" in picture
    assert "Data" in picture
    page.reload()
    expect(notes).to_have_count(2, timeout=60_000)
    expect(notes.filter(has_text="Why one input?")).to_be_visible()

    # as the last note goes, the file is as it was without any
    for _ in range(2):
        notes.last.click(position={"x": 6, "y": 6})
        page.keyboard.press("Delete")
    expect(notes).to_have_count(0)
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    with h5py.File(path) as file:
        assert file.attrs["version"] == 3


BLOCK = """class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.{part} = nn.Linear(WIDTH)

    def forward(self, x):
        return ops.relu(self.{part}(x))
"""


def test_classes_of_files_cells_and_kernels(page, lab):
    page.keyboard.press("Escape")
    source = "from labdl import nn, ops\n\n\n" + BLOCK.format(name="Stem", part="stem").replace("WIDTH", "7")
    (lab.folder / "stem.py").write_text(source)
    (lab.folder / "words.txt").write_text("no Python")
    cells = [
        "# a title",
        BLOCK.format(name="Neck", part="neck").replace("WIDTH", "6"),
        "from labdl import nn, ops\nWIDTH = 5",
        BLOCK.format(name="Head", part="head"),
    ]
    code = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    written = [
        {"cell_type": "markdown", "metadata": {}, "source": cells[0]},
        *({**code, "source": c} for c in cells[1:]),
    ]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": python, "cells": written}
    (lab.folder / "made.ipynb").write_text(json.dumps(notebook))

    page.get_by_title("Refresh the file browser.").or_(page.get_by_label("Refresh the file browser.")).first.click()
    new_model(page)
    graph = Graph(page)
    expect(graph.node("input")).to_be_visible()
    box = graph.canvas.bounding_box()

    # a file of the file browser lands where it is dropped; nothing in it runs, and one of another kind says so
    def drag(item, x: float, y: float) -> None:
        graph.press_and_move(center(item), (x, y))

    place = (box["x"] + 150, box["y"] + 500)
    drag(page.locator(".jp-DirListing-item", has_text="stem.py"), *place)
    expect(graph.node("stem")).to_be_visible()
    around = graph.node("relu").bounding_box(), graph.node("stem").bounding_box()
    assert all(abs(b["x"] + b["width"] / 2 - place[0]) < 140 and abs(b["y"] + 30 - place[1]) < 140 for b in around)
    drag(page.locator(".jp-DirListing-item", has_text="words.txt"), *place)
    expect(page.locator(".labdl-status-notice")).to_contain_text("words.txt is not a Python file")

    # a cell of a notebook beside it
    page.locator(".jp-DirListing-item", has_text="made.ipynb").dblclick()
    panel = page.locator(".jp-NotebookPanel")
    cell = panel.locator(".jp-Notebook-cell")
    expect(cell).to_have_count(4, timeout=30_000)
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=60_000)
    for n in (2, 3):
        cell.nth(n).locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
    expect(cell.nth(3).locator(".jp-InputPrompt")).to_have_text("[2]:", timeout=60_000)
    tab = page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text="made.ipynb")
    middle = page.locator("#jp-main-dock-panel").bounding_box()
    graph.press_and_move(center(tab), (middle["x"] + middle["width"] - 20, middle["y"] + middle["height"] / 2))
    expect(graph.canvas).to_be_visible()
    cell.nth(1).locator(".cm-content").click()
    box = graph.canvas.bounding_box()
    drag(cell.nth(1).locator(".jp-InputPrompt"), box["x"] + box["width"] - 150, box["y"] + 160)
    expect(graph.node("neck")).to_be_visible()

    # a class that a kernel has, with the number that it was defined with
    graph.canvas.click(position={"x": 8, "y": 8})
    run(page, "Add Class from a Kernel")
    page.locator(".jp-Dialog").get_by_role("button", name="List Classes").click()
    menu = page.get_by_role("dialog", name="Classes of the kernel")
    expect(menu.get_by_role("button", name="Head")).to_be_focused(timeout=30_000)
    page.keyboard.press("Enter")
    expect(graph.node("head")).to_be_visible()
    expect(graph.node("head")).to_contain_text("→ 5")
    expect(menu).to_have_count(0)


def test_kept_blocks_and_favorites_follow_the_person(page, lab, chromium):
    page.keyboard.press("Escape")
    nodes = {"i": Node("Input", "input", {"shape": (None, 4)}), "a": Node("Linear", "stem/a", {"out_features": 3})}
    places = {"i": (0.0, 0.0), "a": (0.0, 160.0)}
    block = GraphData(nodes, {"e": Edge("i", "a")}, "kept", places, {"stem": "Stem"})
    save_structure(block, lab.folder / "kept.labdl")
    address = lab.url.replace("/lab?", "/lab/tree/kept.labdl?")
    page.goto(address)
    Graph(page).node("a").click()
    run(page, "Save Block to Palette")
    item = page.locator(".labdl-palette-item", has_text="stem")
    expect(item).to_be_visible()
    row = page.locator(".labdl-palette-row", has=page.locator("[data-layer=ReLU]")).first
    row.hover()
    row.get_by_label("ReLU is a favorite").click()
    page.reload()
    expect(item).to_be_visible(timeout=60_000)

    # another browser, with a storage of its own
    other = chromium.new_page(viewport={"width": 1600, "height": 1000})
    try:
        other.goto(address)
        expect(other.locator(".labdl-palette-item", has_text="stem")).to_be_visible(timeout=60_000)
        expect(other.get_by_role("button", name="Favorites", exact=True)).to_be_visible()
    finally:
        other.close()
    kept = lab.folder.parent / "config" / "lab" / "user-settings" / "labdl" / "palette.jupyterlab-settings"
    assert '"stem"' in kept.read_text()


def expect_box(locator, box: dict[str, float]) -> None:
    """The element comes to stand there."""
    for _ in range(50):
        found = locator.bounding_box()
        if all(abs(found[part] - box[part]) < 3 for part in box):
            return
        locator.page.wait_for_timeout(50)
    pytest.fail(f"it stands at {found}, not at {box}")


def run(page, command: str) -> None:
    """A command by the palette."""
    field = page.locator(".lm-CommandPalette-input")
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    page.keyboard.press("Control+Shift+c")
    field.fill(command)
    expect(page.locator(".lm-CommandPalette-item.lm-mod-active")).to_contain_text(command)
    page.keyboard.press("Enter")
    expect(field).to_be_hidden()
