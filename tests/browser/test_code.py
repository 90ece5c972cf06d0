"""A model from elsewhere: as Python beside the canvas, pasted, sent to a notebook; from an ONNX file."""

import base64
import re

import numpy as np
import pytest
from places import new_model
from playwright.sync_api import expect
from test_journey import Graph, center

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


DROP = """
(target, content) => {
  const transfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
  transfer.items.add(new File([bytes], "outside.onnx"));
  for (const type of ["dragenter", "dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }
}
"""


@pytest.mark.sample(False)
def test_an_onnx_file_is_dropped_on_the_canvas(page, lab):
    model = nn.Sequential(nn.Linear(5), nn.ReLU()).build((None, 3), backend="numpy", seed=0)
    labdl.export(model, lab.folder / "inside.onnx")
    content = base64.b64encode((lab.folder / "inside.onnx").read_bytes()).decode()
    page.get_by_role("button", name="Refresh the file browser").click()
    new_model(page)
    tab = page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab")
    graph = Graph(page)
    box = graph.canvas.bounding_box()

    # from the file browser: a document of its own, as by a double click; the one below stays as it is
    item = page.locator(".jp-DirListing-item", has_text="inside.onnx")
    graph.press_and_move(center(item), (box["x"] + 200, box["y"] + 300))
    expect(tab.filter(has_text="inside.labdl")).to_have_class(re.compile("lm-mod-current"), timeout=60_000)
    shown = page.locator(".react-flow__node:visible")
    expect(shown).to_have_count(3)
    loaded = labdl.load(lab.folder / "inside", backend="numpy")
    x = np.ones((2, 3), "float32")
    np.testing.assert_allclose(labdl.predict(loaded, x), labdl.predict(model, x), rtol=1e-5)
    tab.filter(has_text="untitled").click()
    expect(shown).to_have_count(1)

    # from outside: it is stored beside the model first, and never over another file
    canvas = page.locator(".labdl-canvas:visible")
    canvas.evaluate(DROP, content)
    expect(tab.filter(has_text="outside.labdl")).to_have_class(re.compile("lm-mod-current"), timeout=60_000)
    expect(shown).to_have_count(3)
    assert (lab.folder / "outside.onnx").read_bytes() == (lab.folder / "inside.onnx").read_bytes()
    tab.filter(has_text="untitled").click()
    expect(shown).to_have_count(1)
    canvas.evaluate(DROP, content)
    expect(page.locator(".labdl-status-notice:visible")).to_contain_text("outside.onnx already exists")
