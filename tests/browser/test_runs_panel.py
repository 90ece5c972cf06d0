"""The Runs panel: a folder's runs appear by themselves, are sorted, written about, compared and deleted."""

import json
import re
import subprocess
import sys
import time

import pytest
from places import SMALL, cell_of, open_notebook, write_notebook
from playwright.sync_api import expect
from test_accessible import AXE
from test_notebook_runs import wait_until

RUN = """
import sys, time, numpy as np
from labdl import nn, train
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
trainer = train.Trainer(nn.Sequential(nn.Linear(1)), loss="mean_squared_error", optimizer=train.SGD(0.05), backend="torch")
print("ready", flush=True)
sys.stdin.readline()
run = trainer.start(x, x[:, :1], epochs=100_000, batch_size=8, folder=sys.argv[1], callbacks=[lambda _: time.sleep(0.02)])
run.wait()
"""


def recorded(folder, *, rate, loss, backend="torch", age=3600.0, **start):
    """A run that is over, of two epochs with two steps each."""
    folder.mkdir(parents=True)
    began = time.time() - age
    events = [
        {
            "kind": "start",
            "version": 2,
            "id": folder.name,
            "pid": 2**22 - 1,
            "model": "net",
            "backend": backend,
            "epochs": 2,
            "steps_per_epoch": 2,
            "batch_size": 8,
            "settings": {"learning_rate": rate, "seed": 0},
            **start,
        },
        {"kind": "steps", "step": [1, 2, 3, 4], "loss": [2 * loss, 1.8 * loss, 1.2 * loss, loss]},
        {"kind": "pace", "step": 4, "steps": 4, "samples": 32, "data": 0.1, "compute": 0.3, "update": 0.1},
        {"kind": "epoch", "epoch": 2, "step": 4, "loss": loss, "val_loss": 1.1 * loss},
        {"kind": "end", "status": "finished"},
    ]
    lines = [json.dumps({"kind": event["kind"], "time": began + i, **event}) for i, event in enumerate(events)]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture
def script(lab):
    """A script that starts a run in the folder "runs/live" when it is told to."""
    arguments = [sys.executable, "-c", RUN, str(lab.folder / "runs" / "live")]
    process = subprocess.Popen(arguments, cwd=lab.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def open_panel(page):
    page.keyboard.press("Control+Shift+c")
    palette = page.locator(".lm-CommandPalette-input")
    palette.fill("Training Runs")
    palette.press("Enter")
    panel = page.locator(".labdl-RunsPanel:visible")
    expect(panel).to_be_visible()
    return panel


def names(panel):
    return panel.locator("tr[data-row]").evaluate_all("rows => rows.map(row => row.dataset.row.split('/').pop())")


def violations(page):
    found = page.evaluate("() => axe.run('.labdl-RunsPanel')")["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def about(run):
    return json.loads((run / "about.json").read_text())


def test_runs_of_a_folder_are_listed_and_compared(page, lab, script):
    runs = lab.folder / "runs"
    for i, (rate, loss) in enumerate([(0.1, 3.0), (0.01, 1.0), (0.001, 2.0)]):
        recorded(runs / f"run-{i}", rate=rate, loss=loss, age=3600 * (i + 1), backend=["paddle", "torch", "torch"][i])
    panel = open_panel(page)
    expect(panel.locator("tr[data-row]")).to_have_count(3)
    assert names(panel) == ["run-1", "run-2", "run-0"], "the best first"
    assert script.stdout.readline() == "ready\n"

    # a run that a script starts is there by itself, and moves
    script.stdin.write("go\n")
    script.stdin.flush()
    events = runs / "live" / "events.jsonl"
    while not events.exists():
        assert script.poll() is None
        time.sleep(0.02)
    live = panel.locator('tr[data-row="runs/live"]')
    expect(live).to_be_visible()
    expect(live.locator(".labdl-runs-status")).to_have_text("Running")
    epoch = live.locator('td[data-kind="epochs"]')
    expect(epoch).to_have_text(re.compile(r"^[1-9]\d* / 100000"))
    before = epoch.inner_text()
    expect(epoch).not_to_have_text(before)
    expect(live.locator(".labdl-runs-spark path")).to_have_attribute("d", re.compile("^M.*L"))
    live.hover()
    expect(live.get_by_role("button", name="Delete live")).to_be_disabled()

    # sorted, filtered, grouped
    panel.get_by_role("button", name=re.compile("^val_loss")).click()
    assert names(panel) == ["run-1", "run-2", "run-0", "live"]
    panel.get_by_label("Filter runs").fill("run-")
    expect(panel.locator("tr[data-row]")).to_have_count(3)
    panel.get_by_label("Group by").select_option("backend")
    expect(panel.locator("tr.labdl-runs-group")).to_have_count(2)
    panel.get_by_label("Group by").select_option("")

    # tags, a note and a name, where they stand; another writer's words are not lost
    first = panel.locator('tr[data-row="runs/run-1"]')
    first.get_by_role("button", name=re.compile("^Tags")).click()
    first.get_by_role("textbox", name="Tags").fill("best, small")
    page.keyboard.press("Enter")
    expect(first.locator(".labdl-runs-tag")).to_have_text(["best", "small"])
    note = first.get_by_role("button", name=re.compile("^Notes"))
    note.click()
    (runs / "run-1" / "about.json").write_text(json.dumps({"version": 1, "tags": ["best", "small"], "note": "by hand"}))
    field = first.get_by_role("textbox", name="Notes")
    field.fill("low rate")
    field.press("Enter")
    expect(first.get_by_role("alert")).to_contain_text("by hand")
    assert about(runs / "run-1")["note"] == "by hand"
    field.press("Enter")
    expect(note).to_contain_text("low rate")
    first.focus()
    page.keyboard.press("F2")
    first.get_by_role("textbox", name="Name").fill("The best one")
    page.keyboard.press("Enter")
    expect(first.locator(".labdl-runs-name")).to_have_text("The best one")
    said = about(runs / "run-1")
    assert (said["name"], said["tags"], said["note"]) == ("The best one", ["best", "small"], "low rate")

    # the three over each other, their settings side by side
    charts = panel.locator(".labdl-overlay-chart")
    expect(charts.first.locator("canvas")).to_be_visible()
    expect(panel.get_by_role("list", name="Legend").get_by_role("button")).to_have_text(
        ["The best one", "run-2", "run-0"]
    )
    box = charts.first.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(charts.first.locator(".labdl-run-tip")).to_contain_text("The best one")
    panel.get_by_role("tab", name="Settings").click()
    row = panel.get_by_role("row", name=re.compile("^learning_rate"))
    expect(row.locator("td")).to_have_text(["0.01", "0.001", "0.1"])

    # a range on an axis filters the table too
    panel.get_by_role("tab", name="Parallel coordinates").click()
    expect(panel.locator(".labdl-parallel-lines path")).to_have_count(3)
    axis = panel.locator('[data-axis="settings.learning_rate"] .labdl-parallel-reach')
    box = axis.bounding_box()
    page.mouse.move(box["x"] + 14, box["y"] + box["height"] - 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 14, box["y"] + box["height"] * 0.4, steps=4)
    page.mouse.up()
    expect(panel.locator(".labdl-parallel-lines path")).to_have_count(2)
    expect(panel.locator("tr[data-row]")).to_have_count(2)
    page.mouse.click(box["x"] + 14, box["y"] + box["height"] / 2)
    expect(panel.locator("tr[data-row]")).to_have_count(3)

    # deleted once it is agreed, and gone from the page
    panel.locator('tr[data-row="runs/run-0"]').focus()
    page.keyboard.press("Delete")
    panel.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(panel.locator("tr[data-row]")).to_have_count(2)
    assert not (runs / "run-0").exists()

    # a page that comes later shows the same folder, and a run opens its dashboard
    page.reload()
    live = page.locator('.labdl-RunsPanel tr[data-row="runs/live"]')
    expect(live).to_be_visible(timeout=60_000)
    script.kill()
    expect(live.locator(".labdl-runs-status")).to_have_text("Lost", timeout=10_000)
    live.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".labdl-dashboard:visible")).to_have_attribute("data-status", "lost")


@pytest.mark.sample(False)
def test_runs_in_a_cell(page, lab):
    """Enter, letters and Ctrl+A belong to the table and its fields, not to the notebook."""
    runs = lab.folder / "runs"
    for i, loss in enumerate([3.0, 1.0, 2.0]):
        recorded(runs / f"run-{i}", rate=0.1, loss=loss, age=3600 * (i + 1))
    write_notebook(lab, "first = 1", cell_of(runs), "third = 3")
    open_notebook(page, lab, workspace="lab/tree")
    page.set_viewport_size(SMALL)
    panel = page.locator(".jp-OutputArea-output .labdl-runs")
    expect(panel.locator("tr[data-row]")).to_have_count(3)
    first = panel.locator('tr[data-row$="run-1"]')
    first.focus()
    page.keyboard.press("F2")
    first.get_by_role("textbox", name="Name").fill("b")
    page.keyboard.type("ddx")
    page.keyboard.press("Enter")
    expect(first.locator(".labdl-runs-name")).to_have_text("bddx")
    wait_until(lambda: (runs / "run-1" / "about.json").exists())
    assert about(runs / "run-1")["name"] == "bddx"
    panel.get_by_label("Filter runs").fill("")
    panel.get_by_label("Filter runs").press("a")
    expect(panel.get_by_label("Filter runs")).to_have_value("a")
    panel.get_by_label("Filter runs").fill("")
    first.focus()
    for key in ("a", "d", "d", "x", "Control+a"):
        page.keyboard.press(key)
    expect(panel.locator("tr[data-row][aria-selected=true]")).to_have_count(3)
    expect(page.locator(".jp-Cell.jp-mod-selected")).to_have_count(1)
    expect(page.locator(".jp-Cell")).to_have_count(3)
    first.focus()
    page.keyboard.press("Delete")
    panel.get_by_role("alertdialog").get_by_role("button", name="Delete").press("Enter")
    expect(panel.locator("tr[data-row]")).to_have_count(2)
    assert not (runs / "run-1").exists()


@pytest.mark.sample(False)
def test_a_race_and_a_sweep_have_panels_of_their_own(page, lab):
    race, sweep = lab.folder / "both" / "race-1", lab.folder / "both" / "sweep-1"
    for backend, loss in (("torch", 1.0), ("paddle", 1.25)):
        recorded(race / backend, rate=0.1, loss=loss, backend=backend, group="race-1")
    for i, (rate, loss) in enumerate([(0.1, 3.0), (0.01, 1.0), (0.001, 2.0)]):
        recorded(sweep / f"trial-{i}", rate=rate, loss=loss, params={"learning_rate": rate}, group="sweep-1")
    (race / "group.json").write_text(json.dumps({"version": 1, "kind": "race", "name": "race-1", "time": time.time()}))
    (sweep / "group.json").write_text(
        json.dumps(
            {
                "version": 1,
                "kind": "sweep",
                "name": "sweep-1",
                "time": time.time(),
                "method": "grid",
                "metric": "val_loss",
                "mode": "min",
            }
        )
    )
    # from the file browser, by the folder
    page.locator(".jp-DirListing-item", has_text="both").click(button="right")
    page.locator(".lm-Menu-itemLabel", has_text="Show Training Runs").click()
    panel = page.locator(".labdl-RunsPanel:visible")
    panel.get_by_role("button", name="race-1").first.click()
    panel = page.locator(".labdl-RunsPanel:visible")
    leaderboard = panel.get_by_role("table", name="Leaderboard")
    expect(leaderboard.locator("tbody tr")).to_have_count(2)
    expect(leaderboard.locator("tbody tr").nth(0)).to_contain_text("reference")
    expect(leaderboard.locator("tbody tr").nth(1)).to_contain_text(re.compile(r"torch.*0\.5000.*64"))
    expect(panel.locator(".labdl-overlay-chart canvas")).to_have_count(2)
    expect(panel.get_by_role("button", name="Stop all")).to_be_disabled()
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    page.locator(".lm-TabBar-tabLabel", has_text="Runs: both").click()
    panel = page.locator(".labdl-RunsPanel:visible")
    panel.get_by_role("button", name="sweep-1").first.click()
    panel = page.locator(".labdl-RunsPanel:visible")
    expect(panel.locator(".labdl-sweep-best")).to_contain_text(re.compile(r"trial-1.*1\.100"))
    expect(panel.locator(".labdl-sweep-progress")).to_contain_text("3 trials")
    expect(panel.locator(".labdl-parallel-lines path")).to_have_count(3)
    assert violations(page) == []
    panel.get_by_role("tab", name="Settings").click()
    assert violations(page) == []
