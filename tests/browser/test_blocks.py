"""Blocks: made of layers, collapsed, expanded, entered, repeated, kept in the palette; one step back each."""

import itertools
import re

import pytest
from places import new_model
from playwright.sync_api import expect
from test_building import group
from test_journey import Graph, center

from labdl.saving import structure

pytestmark = pytest.mark.sample(False)


def test_blocks(page, lab):
    new_model(page)
    graph = Graph(page)
    nodes = page.locator(".react-flow__node")
    edges = page.locator(".react-flow__edge")
    inspector = page.locator(".labdl-inspector")
    graph.move("input", 300, 60)
    graph.node("input").click()
    for layer in ("Flatten", "Linear", "ReLU", "Linear"):
        page.keyboard.press("Shift+A")
        page.keyboard.type(layer)
        page.keyboard.press("Enter")
    expect(edges).to_have_count(4)
    graph.node("linear").click()
    graph.field("out_features").fill("6")
    graph.node("linear_1").click()
    graph.field("out_features").fill("3")
    expect(page.locator(".labdl-status-problems")).to_have_text("No problems")

    # a block of two layers
    graph.node("linear").click()
    graph.node("relu").click(modifiers=["Control"])
    graph.canvas.press("Control+g")
    frame = page.locator(".labdl-frame")
    expect(frame).to_have_count(1)
    expect(frame.locator(".labdl-frame-name")).to_have_text("block")
    rename(page, "Name", "hidden")
    rename(page, "Class", "Hidden")
    expect(frame).to_contain_text("Hidden")

    # drawn as one box, which carries its layers and their costs
    page.get_by_label("Collapse hidden").click()
    expect(nodes).to_have_count(4)
    box = graph.node("hidden")
    expect(box.locator(".labdl-node-kind")).to_have_text("Hidden")
    expect(box).to_contain_text("2 layers")
    expect(box).to_contain_text("N × 6")
    expect(box.locator(".labdl-node-params")).to_have_attribute("title", re.compile("^390 parameters"))
    heights = [graph.node(name).bounding_box() for name in ("input", "flatten", "hidden", "linear_1")]
    for above, below in itertools.pairwise(heights):
        assert above["y"] + above["height"] < below["y"], "nodes cover each other"

    # entered: its inside, and what it is connected to
    box.dblclick()
    expect(page.get_by_role("navigation", name="Breadcrumbs")).to_contain_text("hidden")
    expect(nodes).to_have_count(4)
    expect(page.locator(".labdl-mod-outside")).to_have_count(2)
    graph.canvas.press("Escape")
    expect(page.get_by_role("navigation", name="Breadcrumbs")).to_have_count(0)

    # in a row of three, each with weights of its own
    graph.node("hidden").click()
    inspector.get_by_label("Repetitions").fill("3")
    inspector.get_by_role("button", name="Repeat").click()
    expect(nodes).to_have_count(6)
    expect(edges).to_have_count(5)
    expect(graph.node("2")).to_contain_text("N × 6")
    expect(page.locator(".labdl-status-figure").first).to_have_text("495 parameters")
    page.keyboard.press("Control+z")
    expect(nodes).to_have_count(4)

    # kept in the palette, and put into a link from there
    graph.node("hidden").click()
    inspector.get_by_role("button", name="Save to palette").click()
    expect(group(page.locator(".labdl-palette"), "Blocks")).to_have_text(["hidden"])
    page.get_by_label("Search layers").fill("hidden")
    last = page.locator(".react-flow__edge").last
    x, y = center(last)
    page.locator(".labdl-palette-item[data-layer='block:hidden']").hover()
    page.mouse.down()
    page.mouse.move(x, y, steps=8)
    page.mouse.move(x + 1, y)
    page.mouse.up()
    expect(graph.node("hidden_1")).to_contain_text("N × 6")
    expect(edges).to_have_count(4)
    page.keyboard.press("Control+z")
    expect(graph.node("hidden_1")).to_have_count(0)
    page.locator(".labdl-palette-row", has_text="hidden").hover()
    page.get_by_label("Remove hidden from the list").click()
    expect(page.locator(".labdl-palette-item[data-layer='block:hidden']")).to_have_count(0)

    # open again in its place, saved, and a class in Python
    graph.node("hidden").click()
    inspector.get_by_role("button", name="Expand").click()
    expect(frame).to_have_count(1)
    expect(nodes).to_have_count(5)
    graph.canvas.press("Control+s")
    page.locator(".jp-Dialog input[type=text]").first.fill("blocks.labdl")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    expect(page.locator(".lm-TabBar-tabLabel", has_text=re.compile("^blocks.labdl$"))).to_be_visible()  # it is saved
    graph.canvas.press("Control+z")  # saving is no end of undoing
    expect(graph.node("hidden")).to_be_visible()
    page.keyboard.press("Control+Shift+z")
    page.get_by_label("Collapse hidden").click()
    graph.node("hidden").click()
    graph.canvas.press("Control+Shift+g")
    expect(frame).to_have_count(0)
    expect(graph.node("linear")).to_be_visible()

    # what was saved is an open block, and a class in Python
    saved = lab.folder / "blocks.labdl"
    model = structure.decode(saved.read_bytes(), saved.name)
    assert model.groups == {"hidden": "Hidden"}
    assert "class Hidden(nn.Module):" in model.to_python()


def rename(page, label: str, text: str) -> None:
    field = page.locator(".labdl-inspector").get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")
