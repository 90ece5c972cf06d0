"""A published model by its name, and an ONNX file by a double-click: both open as model graphs."""

import numpy as np
import pytest
from playwright.sync_api import expect
from test_journey import Graph

import labdl
from labdl import nn

SECONDS = 8.0  # from the choice to a graph with its shapes, on a busy machine; tests/bench/editor.py measures it


def test_a_model_of_the_zoo_opens_by_name(page, lab):
    page.locator(".jp-LauncherCard", has_text="Model from the Zoo").click()
    dialog = page.get_by_role("dialog")
    search = dialog.get_by_role("combobox", name="Search models")
    expect(search).to_be_focused()
    options = dialog.get_by_role("option")
    assert options.count() > 10

    # nothing fits: nothing can be opened
    page.keyboard.type("resnet2000")
    expect(options).to_have_count(0)
    expect(dialog.get_by_text("No model matches “resnet2000”.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Open")).to_be_disabled()

    # arrow keys choose among those that fit, and what is known of each stands beside them
    search.fill("resnet")
    expect(dialog.get_by_role("option", selected=True)).to_have_text("resnet18")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    expect(dialog.get_by_role("option", selected=True)).to_have_text("resnet50")
    expect(dialog.get_by_text("25,557,032")).to_be_visible()
    expect(dialog.get_by_role("link", name="arxiv.org/abs/1512.03385")).to_be_visible()

    # a setting that cannot be is refused before anything is made
    classes = dialog.get_by_label("Classes")
    classes.fill("ten")
    expect(dialog.get_by_role("button", name="Open")).to_be_disabled()
    classes.fill("10")
    expect(dialog.get_by_role("button", name="Open")).to_be_enabled()
    began = page.evaluate("() => performance.now()")
    page.keyboard.press("Enter")

    graph = Graph(page)
    expect(graph.node("head")).to_contain_text("N × 10")
    expect(page.locator(".labdl-status-phase[data-phase=done]")).to_be_attached()
    seconds = (page.evaluate("() => performance.now()") - began) / 1000
    expect(page.locator(".labdl-node-name")).to_have_text(
        ["input", "stem", "relu", "pool", "0", "1", "2", "3", "average", "head"]
    )
    expect(page.locator(".labdl-status")).to_contain_text("175 layers")
    assert (lab.folder / "resnet50.labdl").is_file()
    assert seconds < SECONDS

    # again, by a double-click, beside the file that is there
    page.keyboard.press("Control+Shift+c")
    page.keyboard.type("Open Model from the Zoo")
    page.keyboard.press("Enter")
    search.fill("resnet50")
    dialog.get_by_role("option", name="resnet50", exact=True).dblclick()
    expect(page.locator(".lm-TabBar-tabLabel", has_text="resnet50-1.labdl")).to_be_visible()
    assert sorted(path.name for path in lab.folder.glob("resnet50*")) == ["resnet50-1.labdl", "resnet50.labdl"]
    assert (
        labdl.load(lab.folder / "resnet50-1.labdl", backend="numpy", parameters=False).count_parameters() == 25_557_032
    )


@pytest.mark.sample(False)
def test_an_onnx_file_opens_by_a_double_click(page, lab):
    model = nn.Sequential(nn.Linear(8), nn.ReLU(), nn.Linear(3)).build((None, 4), backend="numpy", seed=0)
    labdl.export(model, lab.folder / "small.onnx")
    page.get_by_role("button", name="Refresh the file browser").first.click()
    row = page.locator(".jp-DirListing-item", has_text="small.onnx")
    row.dblclick()
    output = page.locator(".react-flow__node", has_text="Linear").last
    expect(output).to_contain_text("N × 3", timeout=60_000)  # a process of its own converts it
    expect(page.locator(".lm-TabBar-tabLabel", has_text="small.onnx")).to_have_count(0)
    loaded = labdl.load(lab.folder / "small", backend="numpy")
    x = np.ones((2, 4), "float32")
    np.testing.assert_allclose(labdl.predict(loaded, x), labdl.predict(model, x), rtol=1e-5)

    # its files are there now: they are opened, or replaced, as the person says
    written = (lab.folder / "small.npz").stat().st_mtime_ns
    for button, is_new in (("Cancel", False), ("Open small.labdl", False), ("Replace", True)):
        row.dblclick()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("small.labdl, small.npz")
        dialog.get_by_role("button", name=button, exact=True).click()
        expect(dialog).to_have_count(0)
        expect(page.locator(".lm-TabBar-tabLabel", has_text="small.onnx")).to_have_count(0, timeout=60_000)
        assert ((lab.folder / "small.npz").stat().st_mtime_ns != written) == is_new, button
