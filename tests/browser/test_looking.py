"""Looking inside a model: its parameters in the inspector, and what its layers make of one sample."""

import re

import numpy as np
import pytest
from places import run_in_notebook
from playwright.sync_api import expect
from test_journey import Graph

import labdl
from labdl.graph import Edge, Node
from labdl.graph import Graph as Model

pytestmark = pytest.mark.sample(False)


def network() -> Model:
    layers = {
        "n1": Node("Input", "image", {"shape": (None, 1, 8, 8)}),
        "n2": Node("Conv2d", "conv", {"out_channels": 16, "kernel_size": 3, "padding": "same"}),
        "n3": Node("ReLU", "relu"),
        "n4": Node("Flatten", "flat"),
        "n5": Node("Linear", "head", {"out_features": 10}),
    }
    chain = list(layers)
    edges = {f"e{i}": Edge(chain[i], chain[i + 1]) for i in range(4)}
    return Model(layers, edges, positions={i: (0, 102 * at) for at, i in enumerate(chain)})


def open_document(page, name: str) -> Graph:
    page.locator(".jp-DirListing-item", has_text=name).dblclick()
    graph = Graph(page)
    expect(graph.node("head")).to_contain_text("N × 10")
    return graph


@pytest.fixture
def document(lab, page):
    """A saved model of which one value is not a number."""
    model = network().to_module().build(backend="torch", seed=0)
    values = model.state_dict()
    values["head/bias:0"][3] = np.nan
    model.load_state_dict(values)
    labdl.save(model, lab.folder / "inside.labdl")
    page.get_by_title("Refresh the file browser").first.click()
    yield "inside.labdl"
    for suffix in (".labdl", ".npz"):
        (lab.folder / "inside").with_suffix(suffix).unlink(missing_ok=True)


def test_parameters_and_one_sample(page, lab, document):
    graph = open_document(page, document)
    inspector = page.locator(".labdl-inspector")
    graph.node("head").click()
    weights = inspector.locator(".labdl-section", has_text="Weights")
    expect(weights.locator(".labdl-array")).to_have_count(2)
    expect(weights).to_contain_text("1024 × 10")
    expect(weights.get_by_role("img").first).to_have_attribute(
        "aria-label", re.compile("^kernel:0: 10,240 values from")
    )
    expect(weights.locator(".labdl-figures .labdl-mod-problem")).to_have_text("Not finite1")
    expect(weights).to_contain_text("From inside.npz, saved")

    # closed, it stays closed; a layer without parameters has none of it
    weights.get_by_role("button").click()
    expect(weights.locator(".labdl-array")).to_have_count(0)
    graph.node("relu").click()
    expect(inspector).to_contain_text("ReLU")
    expect(weights).to_have_count(0)
    graph.node("conv").click()
    weights.get_by_role("button").click()
    expect(weights).to_contain_text("3 × 3 × 1 × 16")

    page.get_by_role("button", name="Run one sample").click()
    strips = page.locator(".labdl-activation")
    notice = page.locator(".labdl-status-notice")
    expect(notice).to_contain_text("of digits on torch, with parameters from inside.npz", timeout=60_000)
    expect(strips).to_have_count(5)
    expect(graph.node("conv").locator("canvas")).to_be_visible()
    expect(graph.node("head").locator(".labdl-activation")).to_contain_text("1 not finite")
    sample = inspector.locator(".labdl-section", has_text="One sample")
    expect(sample).to_contain_text("1 × 16 × 8 × 8")
    expect(sample).to_contain_text("16 of 16 channels")

    # out of date as soon as the graph changes, and again up to date when the change is undone
    graph.field("out_channels").fill("8")
    expect(graph.node("conv")).to_contain_text("N × 8 × 8 × 8")
    expect(page.locator(".labdl-activation.labdl-mod-stale")).to_have_count(5)
    graph.field("out_channels").press("Tab")
    graph.canvas.press("Control+z")
    expect(page.locator(".labdl-activation.labdl-mod-stale")).to_have_count(0)
    graph.node("conv").click()
    graph.field("kernel_size").fill("99")
    graph.field("padding").fill("0")
    expect(graph.node("conv").locator(".labdl-node-problem")).to_be_visible()
    page.get_by_role("button", name="Run one sample").click()
    expect(page.locator(".labdl-status-notice")).to_contain_text("The sample could not run: ")
    expect(page.locator(".labdl-activation.labdl-mod-stale")).to_have_count(5)
    page.get_by_role("button", name="Remove the outputs of the sample").click()
    expect(strips).to_have_count(0)


CELL = """\
import labdl
from labdl import nn

model = nn.Sequential(nn.Conv2d(4, kernel_size=3), nn.Flatten(), nn.Linear(10)).build((None, 1, 8, 8), backend="torch")
editor = labdl.lab.Editor(model)
editor
"""


def test_the_model_of_a_notebook(page, lab):
    run_in_notebook(page, lab, CELL)
    graph = Graph(page)
    expect(graph.node("2")).to_contain_text("N × 10", timeout=90_000)

    graph.node("0").click()
    weights = page.locator(".labdl-section", has_text="Weights")
    expect(weights).to_contain_text("3 × 3 × 1 × 4")
    page.get_by_role("button", name="Run one sample").click()
    # first what goes away after a few seconds
    notice = page.locator(".labdl-status-notice")
    expect(notice).to_contain_text("on torch, with the weights of the model.", timeout=60_000)
    expect(page.locator(".labdl-activation")).to_have_count(4)
    expect(page.locator(".labdl-section", has_text="One sample")).to_contain_text("1 × 4 × 6 × 6")
    page.get_by_role("button", name="Clear the sample").click()
    expect(page.locator(".labdl-activation")).to_have_count(0)
