"""The editor in a window of 720 x 450 pixels, in the panel and in a cell: the canvas keeps room beside one open panel."""

import time

import pytest
from places import LARGE, SMALL, run_in_notebook
from playwright.sync_api import expect
from test_diff import NET, write
from test_journey import Graph
from test_selecting import CELL

ROOM = 100  # pixels: wide enough to see and select a node
AXES = (("x", "width"), ("y", "height"))


def check_whole(graph: Graph) -> None:
    """The graph is fitted again into the smaller canvas, as long as nobody has moved the view."""

    def overhang() -> float:
        """Pixels by which nodes stand out of the canvas."""
        frame = graph.canvas.bounding_box()
        boxes = [node.bounding_box() for node in graph.canvas.locator(".react-flow__node").all()]
        return max(
            max(frame[at] - box[at], box[at] + box[size] - frame[at] - frame[size])
            for box in boxes
            for at, size in AXES
        )

    deadline = time.monotonic() + 60
    while overhang() > 1:
        assert time.monotonic() < deadline, f"nodes stand {overhang():.0f} pixels out of the canvas"
        graph.page.wait_for_timeout(100)


def check_panels(page) -> None:
    graph = Graph(page)
    palette, inspector = page.locator(".labdl-palette"), page.locator(".labdl-panes .labdl-inspector")
    expect(palette).to_be_visible()
    expect(inspector).to_be_visible()
    page.set_viewport_size(SMALL)
    for panel in (palette, inspector):
        expect(panel).to_have_count(0)
    check_whole(graph)
    page.get_by_label("Show the palette").click()
    expect(palette).to_be_visible()
    assert graph.canvas.bounding_box()["width"] >= ROOM
    check_whole(graph)
    page.get_by_label("Show the properties").click()
    expect(inspector).to_be_visible()
    expect(palette).to_have_count(0)
    assert graph.canvas.bounding_box()["width"] >= ROOM
    page.get_by_label("Hide the properties").click()
    expect(inspector).to_have_count(0)
    page.set_viewport_size(LARGE)
    expect(palette).to_be_visible()
    expect(inspector).to_be_visible()


def test_panels_in_the_panel(page, lab):
    page.set_viewport_size(LARGE)
    write(page, lab, small=NET)
    page.locator(".jp-DirListing-item", has_text="small.labdl").dblclick()
    expect(Graph(page).node("relu")).to_be_visible()
    check_panels(page)


def test_panels_in_a_cell(page, lab):
    page.set_viewport_size(LARGE)
    run_in_notebook(page, lab, CELL)
    expect(Graph(page).node("2")).to_be_visible(timeout=60_000)
    check_panels(page)


@pytest.mark.sample(False)
def test_layers_stay_in_view_beside_the_training(page, lab):
    page.set_viewport_size(LARGE)
    write(page, lab, small=NET)
    page.locator(".jp-DirListing-item", has_text="small.labdl").dblclick()
    graph = Graph(page)
    graph.node("relu").click()
    page.set_viewport_size(SMALL)
    check_visible(graph)
    page.set_viewport_size(LARGE)
    page.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    expect(page.locator(".labdl-TrainPanel").get_by_label("Backend")).to_be_visible(timeout=60_000)
    page.set_viewport_size(SMALL)
    check_visible(graph)


def check_visible(graph: Graph) -> None:
    """A layer is in view, however small the canvas is."""
    deadline = time.monotonic() + 40
    while True:
        frame = graph.canvas.bounding_box()
        boxes = [node.bounding_box() for node in graph.canvas.locator(".react-flow__node").all()]
        if frame["width"] < 400 and any(
            all(frame[at] < box[at] + box[size] and box[at] < frame[at] + frame[size] for at, size in AXES)
            for box in boxes
            if box
        ):
            return
        assert time.monotonic() < deadline, f"no layer is in view: {frame}, {boxes}"
        graph.page.wait_for_timeout(100)
