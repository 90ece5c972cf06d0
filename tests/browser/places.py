"""Where people meet a widget: a panel of its own, or the output of a cell in a notebook."""

import re
import time

import nbformat
import pytest
from playwright.sync_api import expect

from labdl.lab.widgets import notebook_output

PLACES = ("panel", "cell")
in_both_places = pytest.mark.parametrize("place", PLACES)
SMALL, LARGE = {"width": 720, "height": 450}, {"width": 1440, "height": 900}
NEW_GRAPH = """\
import labdl
from labdl.graph import Graph, Node

labdl.lab.Editor(Graph({"input": Node("Input", "input", {"shape": (None, 784)})}))
"""
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def write_notebook(lab, *cells, name: str = "cell.ipynb") -> None:
    """Write a notebook whose cells are sources, or cells with their outputs."""
    cells = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), lab.folder / name)


def cell_of(folder):
    """A cell that has shown a run, or a folder of runs: the page needs no kernel for it."""
    isfolder = not (folder / "events.jsonl").exists()
    mime = notebook_output.FOLDER if isfolder else notebook_output.RUN
    place = {"version": 1, "folder": folder.resolve().as_posix(), "beside": None, "final": False}
    output = nbformat.v4.new_output("display_data", {mime: place, "text/plain": "a run"})
    return nbformat.v4.new_code_cell("run", execution_count=1, outputs=[output])


def command(page, label: str) -> None:
    """Carry out a command of the palette."""
    page.keyboard.press("Control+Shift+c")
    palette = page.locator(".lm-CommandPalette-input")
    palette.fill(label)
    palette.press("Enter")


def open_notebook(page, lab, name: str = "cell.ipynb", workspace: str = "lab"):
    page.goto(lab.url.replace("/lab?", f"/{workspace}/{name}?") + ("&reset" if workspace.startswith("lab") else ""))
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)


def run_cell(page, number: int = 0) -> None:
    """Run a cell by the keyboard, as soon as a kernel takes it.

    JupyterLab asks for a kernel when a cell is run before it has requested one itself, and forgets a cell that waits for
    a kernel when the connection to the kernel is made again, as on a slow start.
    """
    expect(page.locator(".jp-KernelName:visible")).not_to_have_text("No Kernel", timeout=60_000)
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    deadline, waited = time.monotonic() + 60, 0
    while waited < 7:
        assert time.monotonic() < deadline, "no kernel takes the cell"
        prompt = cell.locator(".jp-InputPrompt").inner_text()
        if prompt == "[ ]:":
            cell.locator(".cm-content").click()
            page.keyboard.press("Control+Enter")
            waited = 0
        elif "*" in prompt:
            waited += 1
        else:
            return
        page.wait_for_timeout(300)


def run_in_notebook(page, lab, source: str) -> None:
    """Open a new notebook of one cell beside JupyterLab's file browser, and run it."""
    write_notebook(lab, source)
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="cell.ipynb").dblclick()
    run_cell(page)


def new_model(page) -> None:
    """Make a model from the launcher; by the keyboard it gets an input, of the shape of the digits, which is not selected."""
    page.locator(".jp-LauncherCard", has_text="Model Graph").click()
    expect(page.locator(".labdl-empty")).to_be_visible()
    page.keyboard.press("Shift+A")
    page.keyboard.press("Enter")
    expect(page.locator(".labdl-node-type")).to_have_text("Input")
    page.keyboard.press("Escape")


def open_editor(page, lab, place: str) -> None:
    """Show the editor with a graph that has an input alone."""
    if place == "panel":
        new_model(page)
    else:
        run_in_notebook(page, lab, NEW_GRAPH)
        expect(page.locator(".labdl-canvas")).to_be_visible(timeout=60_000)


def open_run(page, lab, folder, place: str):
    """Show a run of the served folder; returns its dashboard."""
    if place == "panel":
        command(page, "Open Training Run")
        page.locator(".jp-Dialog input").fill(folder.relative_to(lab.folder).as_posix())
        page.locator(".jp-Dialog .jp-mod-accept").click()
        dashboard = page.locator(".labdl-RunPanel:visible .labdl-dashboard")
    else:
        write_notebook(lab, cell_of(folder), "untouched")
        open_notebook(page, lab, workspace="lab/tree")
        dashboard = page.locator(".jp-OutputArea-output .labdl-dashboard")
    expect(dashboard).to_be_visible(timeout=60_000)
    expect(dashboard).not_to_have_attribute("data-status", re.compile("waiting"))
    return dashboard
