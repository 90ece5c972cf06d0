"""A model from elsewhere: as Python beside the canvas, pasted, sent to a notebook; from an ONNX file."""

import re

import pytest
from places import new_model
from playwright.sync_api import expect
from test_journey import Graph

import labdl
from labdl import nn


def test_python_both_ways(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    new_model(page)
    graph = Graph(page)
    expect(graph.node("input")).to_be_visible()

    # layers come from Python on the clipboard
    page.evaluate("navigator.clipboard.writeText('nn.Flatten(), nn.Linear(10)')")
    graph.canvas.click(position={"x": 20, "y": 400})
    page.keyboard.press("Control+v")
    expect(graph.node("linear")).to_be_visible()
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    expect(page.locator(".react-flow__node.selected")).to_have_count(2)
    page.evaluate("navigator.clipboard.writeText('nn.Liner(10)')")
    page.keyboard.press("Control+v")
    expect(page.locator(".labdl-status-notice")).to_contain_text("did you mean 'Linear'?")
    graph.connect("input", "flatten")
    expect(graph.node("linear").locator(".labdl-node-shape")).to_have_text("N × 10")

    # the code stands beside the canvas and follows it
    page.locator("[data-jp-item-name=code]").click()
    code = page.locator(".labdl-code")
    text = code.get_by_role("textbox")
    expect(text).to_contain_text("self.linear = nn.Linear(10)")
    box = graph.node("input").bounding_box()

    # what is written there is on the canvas, with the nodes where they were, and undone in one step
    line = code.locator(".cm-line", has_text="self.linear = nn.Linear(10)")
    line.click()
    page.keyboard.press("End")
    page.keyboard.type("\nself.relu = nn.ReLU()")
    code.locator(".cm-line", has_text="x = self.linear(x)").click()
    page.keyboard.press("End")
    page.keyboard.type("\nx = self.relu(x)  # mine")
    expect(graph.node("relu").locator(".labdl-node-shape")).to_have_text("N × 10")
    expect(page.locator(".react-flow__edge")).to_have_count(3)
    expect(text).to_contain_text("# mine")
    assert graph.node("input").bounding_box() == box

    # what cannot be read is marked and changes nothing, until it is taken back
    page.keyboard.press("Backspace")
    page.keyboard.type("\nx = self.nothing(x)")
    problem = code.get_by_role("alert")
    expect(problem).to_contain_text("self.nothing is not a layer")
    expect(code.locator(".cm-line.labdl-code-problem")).to_have_text(re.compile("self.nothing"))
    expect(graph.node("relu")).to_be_visible()
    code.get_by_role("button", name="Revert to the canvas").click()
    expect(problem).to_have_count(0)
    expect(text).not_to_contain_text("nothing")
    page.keyboard.press("Escape")
    graph.canvas.click(position={"x": 20, "y": 400})
    page.keyboard.press("Control+z")
    expect(graph.node("relu")).to_have_count(0)
    expect(text).not_to_contain_text("relu")

    # to a notebook: a new one, as none is open
    code.get_by_role("button", name="Send the code to a notebook").click()
    cell = page.locator(".jp-Notebook .jp-CodeCell").first
    expect(cell).to_contain_text("class Model(nn.Module):", timeout=60_000)


@pytest.mark.sample(False)
def test_an_onnx_file_opens_as_a_graph(page, lab):
    labdl.export(nn.Sequential(nn.Linear(5), nn.ReLU()).build((None, 3), backend="numpy"), lab.folder / "small.onnx")
    page.get_by_role("button", name="Refresh the file browser").click()
    page.locator(".jp-DirListing-item", has_text="small.onnx").click(button="right")
    page.get_by_role("menuitem", name="Convert to Model Graph").click()
    expect(page.locator(".react-flow__node")).to_have_count(3, timeout=30_000)
    assert (lab.folder / "small.npz").is_file()
    page.locator(".jp-DirListing-item", has_text="small.onnx").click(button="right")
    page.get_by_role("menuitem", name="Convert to Model Graph").click()
    expect(page.locator(".jp-Dialog")).to_contain_text("small.labdl, small.npz")
    page.locator(".jp-Dialog .jp-mod-reject").click()
