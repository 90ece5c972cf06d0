"""The editor beside the Train panel in a window of 720 x 450 pixels: nothing is cut off, nothing covers a layer."""

import pytest
from places import LARGE, SMALL
from playwright.sync_api import expect
from test_diff import NET, write
from test_journey import Graph


@pytest.mark.sample(False)
def test_nothing_is_cut_or_covered_beside_the_training(page, lab, tmp_path):
    page.set_viewport_size(LARGE)
    write(page, lab, small=NET)
    page.locator(".jp-DirListing-item", has_text="small.labdl").dblclick()
    graph = Graph(page)
    expect(graph.node("relu")).to_be_visible()
    page.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    form = page.locator(".labdl-TrainForm")
    expect(form.get_by_label("Backend")).to_be_visible(timeout=60_000)
    controls = page.locator(".react-flow__controls")
    expect(controls).to_be_visible()
    page.set_viewport_size(SMALL)
    try:
        expect(controls).to_be_hidden()  # they would cover layers
        status = page.locator(".labdl-status")
        assert status.evaluate("bar => bar.scrollWidth - bar.clientWidth") <= 0
        keys = page.get_by_role("button", name="Show the keys of the canvas")
        right = status.bounding_box()["x"] + status.bounding_box()["width"]
        assert keys.bounding_box()["x"] + keys.bounding_box()["width"] <= right
        assert form.get_by_label("Data set").bounding_box()["width"] >= 100
        page.screenshot(path=tmp_path / "narrow.png")
    finally:
        page.set_viewport_size(LARGE)
