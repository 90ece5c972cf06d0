"""What the editor says of a model: costs, problems, and the buttons that mend them."""

import re

import pytest
from places import new_model
from playwright.sync_api import expect
from test_journey import Graph


def test_a_problem_is_mended_at_a_click_and_costs_are_shown(page, lab):
    new_model(page)
    graph = Graph(page)
    expect(graph.node("input")).to_contain_text("N × 1 × 8 × 8")
    graph.move("input", 300, 60)
    graph.drop("Conv2d", 300, 240, out_channels="4", kernel_size="9")
    graph.connect("input", "conv2d")
    expect(graph.node("conv2d").locator(".labdl-node-problem")).to_be_visible()

    # in the inspector of the layer, and in the list of problems
    graph.node("conv2d").click()
    page.locator(".labdl-inspector .labdl-fix", has_text='Set padding of conv2d to "same"').click()
    expect(graph.node("conv2d")).to_contain_text("N × 4 × 8 × 8")
    expect(graph.node("conv2d").locator(".labdl-node-problem")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(graph.node("conv2d").locator(".labdl-node-problem")).to_be_visible()
    graph.canvas.press("Escape")
    page.locator(".labdl-problems .labdl-fix").click()
    expect(graph.node("conv2d")).to_contain_text("N × 4 × 8 × 8")

    # 4 kernels of 9 × 9 on 64 places: a multiplication and an addition each
    status = page.locator(".labdl-status")
    expect(status).to_contain_text("328 parameters")
    expect(status).to_contain_text("41.5 k FLOPs")
    expect(graph.node("conv2d").locator(".labdl-node-params")).to_have_text("328")
    status.get_by_role("button", name="FLOPs").click()
    expect(graph.node("conv2d").locator(".labdl-node-params")).to_have_text("41.5 k")
    expect(page.locator(".labdl-facts")).to_contain_text("2.6 kB")


@pytest.mark.sample(False)
def test_layers_are_aligned_and_the_graph_is_downloaded(page, lab):
    new_model(page)
    graph = Graph(page)
    expect(graph.node("input")).to_contain_text("N × 1 × 8 × 8")
    graph.move("input", 250, 60)
    graph.drop("ReLU", 400, 240)
    graph.connect("input", "relu")
    graph.canvas.press("Control+a")

    def choose(menu: str, command: str) -> None:
        graph.node("relu").click(button="right")
        page.locator(".lm-Menu-item", has_text=re.compile(f"^{menu}$")).hover()
        page.locator(".lm-Menu-item", has_text=re.compile(f"^{command}$")).click()

    choose("Arrange", "Align Left")
    left = graph.node("input").bounding_box()["x"]
    page.wait_for_function(
        """left => Math.abs(document.querySelectorAll('.react-flow__node')[1].getBoundingClientRect().x - left) < 1""",
        arg=left,
    )
    with page.expect_download() as found:
        choose("Export", "Download as SVG")
    assert re.fullmatch(r"untitled\d*\.svg", found.value.suggested_filename)
    text = found.value.path().read_text(encoding="utf-8")
    assert "N × 1 × 8 × 8" in text
    assert 'data-node="relu"' in text
    with page.expect_download() as found:
        choose("Export", "Download as PNG")
    assert found.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.sample(False)
def test_jupyterlabs_own_places(page):
    """Its status bar tells of the model in front, its property inspector has the properties that are hidden beside the
    canvas, and a layer says all that is written about it."""
    new_model(page)
    graph = Graph(page)
    graph.node("input").click()
    beside = page.locator(".labdl-GraphPanel .labdl-inspector")
    expect(beside.get_by_label("Name", exact=True)).to_have_value("input")
    page.get_by_role("button", name="Hide the properties").click()
    page.locator(".jp-SideBar.jp-mod-right .lm-TabBar-tab[title^='Property Inspector']").click()
    there = page.locator(".labdl-PropertyInspector")
    expect(beside).to_have_count(0)
    expect(there.get_by_label("Name", exact=True)).to_have_value("input")
    graph.node("input").dblclick()
    page.keyboard.type("picture")
    expect(graph.node("picture")).to_be_visible()
    there.get_by_label("Name", exact=True).press("Control+z")
    page.get_by_role("button", name="Show the properties").click()
    expect(beside).to_be_visible()
    expect(there).to_contain_text("are shown beside the canvas")
    page.locator(".jp-SideBar.jp-mod-right .lm-TabBar-tab[title^='Property Inspector']").click()

    line = page.locator("#jp-main-statusbar .labdl-StatusItem")
    expect(line).to_have_text("1 layer · 0 parameters")
    graph.drop("Linear", 300, 300)
    expect(line).to_have_text("2 layers · 0 parameters · 1 problem")
    page.keyboard.press("Control+Shift+l")
    expect(line).to_be_hidden()
    page.locator(".lm-TabBar-tabLabel", has_text=".labdl").click()

    page.get_by_label("Search layers").fill("")
    item = page.locator(".labdl-palette [data-layer=DropoutChannels]")
    expect(item).to_have_attribute("title", re.compile("^In training.*Semantics: torch.nn.Dropout1d", re.DOTALL))
