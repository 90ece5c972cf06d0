"""Two models side by side: what only one has, what is set otherwise, and the way from one difference to the next."""

import re

import pytest
from playwright.sync_api import expect
from test_accessible import AXE, THEMES, use_theme
from test_journey import Graph

import labdl
from labdl import models
from labdl.graph import Edge, Node
from labdl.graph import Graph as GraphData
from labdl.saving import structure

pytestmark = pytest.mark.sample(False)

NODES = {
    "a": Node("Input", "image", {"shape": (None, 1, 8, 8)}),
    "b": Node("Conv2d", "conv", {"out_channels": 4, "kernel_size": 3, "padding": "same"}),
    "c": Node("ReLU", "relu"),
    "d": Node("Flatten", "flat"),
    "e": Node("Linear", "head", {"out_features": 10}),
}
NET = GraphData(NODES, {n: Edge(*pair) for n, pair in zip("1234", ("ab", "bc", "cd", "de"), strict=True)}, name="net")


def write(page, lab, **graphs):
    for name, graph in graphs.items():
        (lab.folder / f"{name}.labdl").write_bytes(structure.encode(graph))
    page.get_by_role("button", name="Refresh the file browser").first.click()


def listed(page):
    return page.get_by_role("listbox", name="Differences").get_by_role("option")


def side(page, name):
    return page.locator(f".labdl-diff-side.labdl-diff-{name} .labdl-canvas")


def place(page, name, layer):
    """Where a layer stands in the canvas of a side."""
    named = page.locator(".labdl-node-name", has_text=re.compile(f"^{layer}$"))
    box = side(page, name).locator(".react-flow__node").filter(has=named).first.bounding_box()
    return round(box["x"] - side(page, name).bounding_box()["x"]), round(box["y"])


def command(page, label):
    page.keyboard.press("Control+Shift+c")
    page.keyboard.type(label)
    page.keyboard.press("Enter")


def test_what_was_changed_since_it_was_saved(page, lab):
    write(page, lab, net=NET)
    page.locator(".jp-DirListing-item", has_text="net.labdl").dblclick()
    graph = Graph(page)
    graph.node("conv").click()
    graph.field("kernel_size").fill("5")
    graph.field("kernel_size").press("Tab")
    graph.node("relu").click()
    page.keyboard.press("Delete")
    expect(graph.node("relu")).to_have_count(0)

    command(page, "Compare with the Saved File")
    changes = listed(page)
    new_link = "conv → flatconnection added"  # closes the gap
    expect(changes).to_have_text(["convkernel_size: 3 → 5", "reluremoved", new_link])
    expect(side(page, "old").locator(".labdl-diff-strip")).to_have_text(["kernel_size: 3 → 5", "removed"])
    expect(side(page, "new").locator(".labdl-diff-strip")).to_have_text(["kernel_size: 3 → 5"])
    expect(page.locator(".labdl-diff-totals")).to_contain_text("2.6 k → 2.7 k")
    expect(side(page, "old").locator(".labdl-diff-edge.labdl-diff-removed")).to_have_count(2)
    # the same layers stand at the same places
    assert place(page, "old", "head") == place(page, "new", "head")

    # from one to the next by keyboard, on both sides
    page.keyboard.press("F8")
    expect(changes.nth(0)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".labdl-diff .react-flow__node.selected")).to_have_count(2)
    page.keyboard.press("F8")
    expect(changes.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(changes.nth(0)).to_have_attribute("aria-selected", "true")

    # everybody can read it, in each theme
    page.add_script_tag(path=AXE)
    for theme in THEMES:
        use_theme(page, theme)
        found = page.evaluate("() => axe.run('.labdl-diff')")["violations"]
        assert [f"{v['id']}: {n['html'][:160]}" for v in found for n in v["nodes"]] == [], theme

    # what is done to the document meanwhile is seen here
    page.locator(".lm-TabBar-tabLabel", has_text="net.labdl").first.click()
    graph.canvas.first.click(position={"x": 200, "y": 20})
    for _ in range(2):
        page.keyboard.press("Control+z")
    page.locator(".lm-TabBar-tabLabel", has_text="↔").click()
    expect(page.get_by_text("The two models do not differ.")).to_be_visible()


def test_two_large_models(page, lab):
    write(page, lab, **{name: labdl.trace(models.create(name), name=name) for name in ("resnet18", "resnet34")})
    rows = page.locator(".jp-DirListing-item")
    compare = page.locator(".lm-Menu-itemLabel", has_text="Compare Models")
    rows.filter(has_text="resnet34").click()
    rows.filter(has_text="resnet34").click(button="right")
    expect(page.locator(".lm-Menu-itemLabel", has_text="Rename")).to_be_visible()
    expect(compare).to_be_hidden()  # one alone is compared with nothing
    page.keyboard.press("Escape")
    rows.filter(has_text="resnet18").click(modifiers=["Control"])
    rows.filter(has_text="resnet18").click(button="right")
    compare.click()

    # whole blocks are one difference each, and what is alike is folded on both sides
    changes = listed(page)
    expect(changes.nth(1)).to_have_text("stages/0/27 layers added")
    expect(page.locator(".labdl-diff-totals")).to_contain_text("11.7 M → 21.8 M+86 %")
    assert changes.filter(has_text="layers added").count() == 8
    assert changes.count() == 1 + 8 + 4
    for name in ("old", "new"):
        expect(side(page, name).locator(".labdl-block", has_text="BasicBlock").first).to_contain_text("7 layers")
    expect(side(page, "new").locator(".labdl-diff-added.labdl-diff-node").first).to_contain_text("BasicBlock")
    expect(side(page, "old").locator(".labdl-diff-node")).to_have_count(0)

    # both sides move together
    for at in (8, 2):
        changes.nth(at).click()
        page.wait_for_timeout(400)
        views = [side(page, name).locator(".react-flow__viewport").get_attribute("style") for name in ("old", "new")]
        assert views[0] == views[1]
    added = side(page, "new").locator(".labdl-diff-node").first
    expect(added).to_be_in_viewport()

    # a block is opened on both sides, and folded again
    assert place(page, "old", "0") == place(page, "new", "0")
    nodes = page.locator(".labdl-diff .react-flow__node")
    count = nodes.count()
    side(page, "old").locator(".labdl-block", has_text="BasicBlock").first.dblclick()
    expect(nodes).to_have_count(count + 2 * 4)  # its own blocks stay folded
    side(page, "new").get_by_label("Collapse stages/0/0").click()
    expect(nodes).to_have_count(count)

    # an open model is compared with a file that is chosen
    rows.filter(has_text="resnet18").dblclick()
    expect(page.locator(".labdl-status")).to_contain_text("69 layers")
    command(page, "Compare with…")
    dialog = page.get_by_role("dialog")
    dialog.locator(".jp-DirListing-item", has_text="resnet34").click()
    dialog.get_by_role("button", name="Select").click()
    expect(page.locator(".lm-TabBar-tabLabel", has_text="resnet34.labdl ↔ resnet18.labdl")).to_be_visible()
    expect(page.locator(".labdl-diff-totals:visible")).to_contain_text("21.8 M → 11.7 M")


def test_in_a_notebook(page):
    page.locator(".jp-LauncherCard", has_text="Python 3").first.click()
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=60_000)  # what is run before may be lost
    cell = page.locator(".jp-Notebook .jp-Cell").first
    cell.locator(".cm-content").click()
    page.keyboard.insert_text(
        "import labdl\n"
        "from labdl import lab, models\n"
        'lab.Diff(models.create("resnet18"), models.create("resnet18", classes=10))'
    )
    page.keyboard.press("Shift+Enter")
    view = cell.locator(".labdl-diff")
    expect(view.get_by_role("option")).to_have_text(["headout_features: 1000 → 10"], timeout=120_000)
    expect(view.locator(".labdl-diff-totals")).to_contain_text("11.7 M → 11.2 M")
    expect(view.locator(".labdl-diff-strip")).to_have_count(2)
    view.get_by_role("option").click()
    expect(view.locator(".react-flow__node.selected")).to_have_count(2)
