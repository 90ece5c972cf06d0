"""Selecting the layers downstream of one: by the context menu in the panel, and by its key in a cell of a notebook."""

import nbformat
import pytest
from playwright.sync_api import expect
from test_diff import NET, write
from test_journey import Graph

CELL = """\
import labdl
from labdl import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(8), nn.ReLU(), nn.Linear(10))
labdl.lab.Editor(labdl.trace(model, labdl.Spec((None, 1, 8, 8))))
"""


@pytest.mark.timeout(120)
def test_downstream_in_the_panel(page, lab):
    write(page, lab, selecting=NET)
    page.locator(".jp-DirListing-item", has_text="selecting.labdl").dblclick()
    graph = Graph(page)
    graph.node("relu").click()
    graph.node("relu").click(button="right")
    page.locator(".lm-Menu-itemLabel", has_text="Select Downstream Layers").click()
    expect(graph.canvas.locator(".react-flow__node.selected .labdl-node-name")).to_have_text(["relu", "flat", "head"])


def run_cell(page, lab, source: str) -> None:
    """Open a new notebook of one cell and run it."""
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cell = nbformat.v4.new_code_cell(source)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=spec), lab.folder / "cell.ipynb")
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="cell.ipynb").dblclick()
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=60_000)  # the kernel is there
    page.locator(".jp-Notebook .cm-content").first.click()
    page.keyboard.press("Control+Enter")


@pytest.mark.timeout(120)
def test_downstream_in_a_cell(page, lab):
    run_cell(page, lab, CELL)
    graph = Graph(page)
    expect(graph.node("3")).to_contain_text("? × 10", timeout=60_000)
    graph.node("2").click()
    page.keyboard.press("Shift+D")
    expect(graph.canvas.locator(".react-flow__node.selected .labdl-node-name")).to_have_text(["2", "3"])
