"""A run in a notebook is always there: after a refresh, in a second browser, with a busy kernel, a dead one, and none."""

import json
import re
import subprocess
import sys
import time

import nbformat
import pytest
from conftest import close_connection_errors, jupyterlab
from places import open_notebook, run_cell, write_notebook
from playwright.sync_api import expect

TRAIN = """
import time
import numpy as np
from labdl import nn, train
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
trainer = train.Trainer(nn.Sequential(nn.Linear(1)), loss="mean_squared_error", optimizer=train.SGD(0.05), backend="torch")
run = trainer.start(x, x[:, :1], epochs=100_000, batch_size=8, folder="runs/mine", callbacks=[lambda _: time.sleep(0.02)])
run
"""
BUSY = "print('now busy')\ntime.sleep(60)"


def saved(page, lab, name: str = "cell.ipynb"):
    deadline = time.monotonic() + 60
    while True:
        page.keyboard.press("Control+s")  # a dialog about the kernel may be there, and take the key
        try:
            expect(page.locator(".lm-TabBar-tab.lm-mod-current.jp-mod-dirty")).to_have_count(0, timeout=5000)
            break
        except AssertionError:
            if time.monotonic() > deadline:
                raise
    while True:
        try:
            return nbformat.read(lab.folder / name, as_version=4)
        except nbformat.reader.NotJSONError:  # the server is writing it
            assert time.monotonic() < deadline, "the notebook was not written"
            page.wait_for_timeout(100)


def saved_run_output(page, lab, seconds: float = 60):
    """The saved output of a run that has ended, as soon as the page has fetched its last picture from the server."""
    deadline = time.monotonic() + seconds
    while True:
        [output] = [o for o in saved(page, lab).cells[0].outputs if o.output_type == "display_data"]
        if output.data["application/vnd.labdl.run.v1+json"].get("final"):
            return output
        assert time.monotonic() < deadline, "the notebook has no picture of the ended run"
        page.wait_for_timeout(200)


def dashboard(page):
    return page.locator(".jp-OutputArea .labdl-dashboard")


def step_of(page, panel=None) -> int:
    text = (panel or dashboard(page)).locator(".labdl-dashboard-facts").inner_text()
    return int(re.search(r"step\s+([\d,]+)", text)[1].replace(",", ""))


def moves(page, panel=None):
    before = step_of(page, panel)
    deadline = time.monotonic() + 60
    while step_of(page, panel) <= before:
        assert time.monotonic() < deadline, "the dashboard stands still"
        page.wait_for_timeout(200)


@pytest.mark.sample(every=2)
@pytest.mark.blank_page
@pytest.mark.parametrize("workspace", ["lab/tree", "notebooks"])
def test_a_run_that_has_ended_has_one_dashboard(page, lab, workspace):
    """Its output and the update of it arrive together."""
    write_notebook(lab, TRAIN.replace("epochs=100_000", "epochs=3"), "run.wait();\nrun")
    open_notebook(page, lab, workspace=workspace)
    run_cell(page, 0)
    run_cell(page, 1)
    expect(dashboard(page)).to_have_count(2, timeout=60_000)
    page.wait_for_timeout(1000)
    counts = page.locator(".jp-CodeCell .jp-OutputArea").evaluate_all(
        "all => all.map(one => one.querySelectorAll('.labdl-dashboard').length)"
    )
    assert counts == [1, 1]


@pytest.mark.sample(False)
@pytest.mark.blank_page
def test_a_run_in_a_notebook_is_always_there(page, lab, chromium):
    write_notebook(lab, TRAIN, BUSY)
    open_notebook(page, lab, workspace="lab/tree")
    run_cell(page, 0)
    expect(dashboard(page)).to_have_attribute("data-status", "running", timeout=60_000)
    expect(page.locator(".jp-CodeCell").nth(0).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[1\]"))
    moves(page)

    # the kernel is busy: curves go on, and commands are obeyed
    run_cell(page, 1)
    expect(page.locator(".jp-OutputArea").nth(1)).to_contain_text("now busy")
    moves(page)
    dashboard(page).get_by_role("button", name="Pause").click()
    expect(dashboard(page)).to_have_attribute("data-status", "paused")

    # refreshed, the kernel still busy
    saved(page, lab)
    page.goto(lab.url.replace("/lab?", "/lab/tree/cell.ipynb?"))
    expect(dashboard(page)).to_have_attribute("data-status", "paused", timeout=60_000)
    dashboard(page).get_by_role("button", name="Resume").click()
    expect(dashboard(page)).to_have_attribute("data-status", "running")
    moves(page)

    # a second browser shows the same, and one hears what the other says
    other = chromium.new_context().new_page()
    other.goto(lab.url.replace("/lab?", "/lab/workspaces/other/tree/cell.ipynb?") + "&reset")
    expect(dashboard(other)).to_have_attribute("data-status", "running", timeout=60_000)
    dashboard(other).get_by_role("button", name="Pause").click()
    expect(dashboard(page)).to_have_attribute("data-status", "paused")
    dashboard(page).get_by_role("button", name="Resume").click()
    expect(dashboard(other)).to_have_attribute("data-status", "running")
    other.context.close()

    # the kernel dies: the dashboard says so, and keeps what there was
    kill_kernels(lab)
    expect(dashboard(page)).to_have_attribute("data-status", "lost", timeout=60_000)
    assert step_of(page) > 0
    expect(dashboard(page).locator("canvas").first).to_be_visible()

    # opened again where there is no kernel, and no folder either: the curves are in the notebook
    svg = saved_run_output(page, lab).data["image/svg+xml"]
    assert len(svg.encode()) <= 20_000
    assert "mean_squared_error" in svg or "loss" in svg
    (lab.folder / "runs").rename(lab.folder / "elsewhere")
    open_notebook(page, lab, workspace="lab/tree")
    picture = page.locator(".labdl-RunOutput-picture")
    expect(picture).to_be_visible()
    assert page.evaluate("(i) => i.complete && i.naturalWidth > 100", picture.element_handle())
    expect(dashboard(page)).to_have_count(0)


SCRIPT = TRAIN.replace('folder="runs/mine"', 'folder="scripted"').replace("\nrun\n", "\nrun.wait()\n")


@pytest.mark.sample(False)
def test_the_server_may_restart_and_the_computer_sleep(chromium, tmp_path):
    """The page is not reloaded: it says what it knows, and goes on where it was."""
    with jupyterlab(tmp_path) as lab:
        script = subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=lab.folder)
        page = chromium.new_page(viewport={"width": 1400, "height": 900})
        close_connection_errors(page)
        page.goto(f"{lab.url}&reset")
        page.wait_for_selector(".jp-LauncherCard", timeout=60_000)
        wait_until(lambda: (lab.folder / "scripted" / "events.jsonl").exists())
        open_run(page, "scripted")
        panel = page.locator(".labdl-dashboard")
        expect(panel).to_have_attribute("data-status", "running")
        moves(page, panel)
        # a laptop that is closed: no answer comes for a while, and no error either
        page.context.set_offline(True)
        page.wait_for_timeout(3000)
        page.context.set_offline(False)
        moves(page, panel)
    try:
        expect(panel).to_be_visible()
        before = step_of(page, panel)
        with jupyterlab(tmp_path, again=lab):
            expect(panel).to_have_attribute("data-status", "running", timeout=30_000)
            wait_until(lambda: step_of(page, panel) > before + 100, 30)
            panel.get_by_role("button", name="Stop").click()
            expect(panel).to_have_attribute("data-status", "stopped")
            script.wait(30)
    finally:
        script.kill()
        page.close()


def open_run(page, path: str):
    page.keyboard.press("Control+Shift+c")
    palette = page.locator(".lm-CommandPalette-input")
    palette.fill("Open Training Run")
    palette.press("Enter")
    page.locator(".jp-Dialog input").fill(path)
    page.locator(".jp-Dialog .jp-mod-accept").click()


def wait_until(condition, seconds: float = 60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it has not come about"
        time.sleep(0.1)


def kill_kernels(lab):
    import psutil

    for process in psutil.process_iter(["cmdline", "cwd"]):
        command = " ".join(process.info["cmdline"] or ())
        if "ipykernel_launcher" in command and str(lab.folder.parent) in command + str(process.info["cwd"]):
            process.kill()


@pytest.mark.sample(False)
def test_a_notebook_runs_without_a_page_and_keeps_the_final_curves(tmp_path):
    """As nbconvert, papermill or a continuous integration runs it; GitHub and nbviewer show what is kept."""
    from nbclient import NotebookClient

    made = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(TRAIN.replace("epochs=100_000", "epochs=3")),
            nbformat.v4.new_code_cell("run.wait();"),
        ]
    )
    NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    [output] = [o for o in made.cells[0].outputs if o.output_type == "display_data"]
    assert output.data["application/vnd.labdl.run.v1+json"] == {
        "version": 1,
        "folder": str(tmp_path / "runs" / "mine"),
        "beside": "runs/mine",
        "final": True,
    }
    svg = output.data["image/svg+xml"]
    assert "finished" in svg
    assert len(svg.encode()) <= 20_000
    nbformat.validate(made)
    assert len(json.dumps(made.cells[0])) < 30_000
