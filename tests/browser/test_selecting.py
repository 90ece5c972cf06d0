"""Selecting the layers downstream of one: by the context menu in the panel, and by its key in a cell of a notebook."""

import pytest
from places import run_in_notebook
from playwright.sync_api import expect
from test_diff import NET, write
from test_journey import Graph

pytestmark = pytest.mark.sample(False)

CELL = """\
import labdl
from labdl import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(8), nn.ReLU(), nn.Linear(10))
labdl.lab.Editor(labdl.trace(model, labdl.Spec((None, 1, 8, 8))))
"""


def test_downstream_in_the_panel(page, lab):
    write(page, lab, selecting=NET)
    page.locator(".jp-DirListing-item", has_text="selecting.labdl").dblclick()
    graph = Graph(page)
    graph.node("relu").click()
    graph.node("relu").click(button="right")
    page.locator(".lm-Menu-itemLabel", has_text="Select Downstream Layers").click()
    expect(graph.canvas.locator(".react-flow__node.selected .labdl-node-name")).to_have_text(["relu", "flat", "head"])


def test_downstream_in_a_cell(page, lab):
    run_in_notebook(page, lab, CELL)
    graph = Graph(page)
    expect(graph.node("3")).to_contain_text("N × 10", timeout=60_000)
    graph.node("2").click()
    page.keyboard.press("Shift+D")
    expect(graph.canvas.locator(".react-flow__node.selected .labdl-node-name")).to_have_text(["2", "3"])
