"""Finding layers on the canvas, and exporting the model from there."""

import onnx
import pytest
from places import LARGE, open_editor
from playwright.sync_api import expect
from test_journey import Graph


@pytest.mark.sample(False)
def test_find_layers_and_export_the_model(page, lab):
    page.set_viewport_size(LARGE)
    open_editor(page, lab, "panel")
    graph = Graph(page)
    expect(graph.node("input").locator(".labdl-node-shape")).to_have_text("N × 1 × 8 × 8")
    graph.node("input").click()
    for layer in ("conv2d", "flatten", "linear"):
        page.keyboard.press("Shift+A")
        page.keyboard.type(layer)
        page.keyboard.press("Enter")
        expect(graph.node(layer)).to_be_visible()

    # by type, by shape, one after the other
    page.keyboard.press("Control+f")
    count = page.locator(".labdl-find-count")
    page.keyboard.type("linear")
    expect(count).to_have_text("1 of 1")
    expect(graph.node("linear").locator(".labdl-node")).to_contain_class("labdl-mod-selected")
    page.get_by_role("textbox", name="Find layers").fill("1 x 8 x 8")
    expect(count).to_have_text("1 of 1")
    expect(graph.node("input").locator(".labdl-node")).to_contain_class("labdl-mod-selected")
    page.keyboard.press("Escape")
    expect(page.get_by_role("search", name="Find layers")).to_have_count(0)
    expect(page.locator(".labdl-canvas")).to_be_focused()

    # the model as a file of another format
    page.locator("[data-jp-item-name=export]").click()
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("menuitem", name="Export as ONNX").click()
    assert download.value.suggested_filename == "untitled.onnx"
    onnx.checker.check_model(onnx.load(download.value.path()))
