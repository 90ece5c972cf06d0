"""A run at a glance: its charts, what people do as marks on them, steps by hand, branches, and what can be kept."""

import csv
import json
import re
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest
from places import in_both_places, open_run
from playwright.sync_api import expect

RUN = """
import sys, time, numpy as np
from labdl import nn, train
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
trainer = train.Trainer(nn.Sequential(nn.Linear(8), nn.ReLU(), nn.Linear(1)), loss="mean_squared_error",
                        optimizer=train.SGD(0.05), metrics=["mean_absolute_error"], backend="torch")
trainer.start(x, x[:, :1], validation=(x, x[:, :1]), epochs=1000, batch_size=8, folder=sys.argv[1],
              callbacks=[lambda _: time.sleep(0.01)]).wait()
"""


@pytest.fixture
def run(lab):
    """A run in a process of its own, as a script starts it: its folder."""
    folder = lab.folder / "seen"
    process = subprocess.Popen([sys.executable, "-c", RUN, str(folder)], cwd=lab.folder)
    try:
        deadline = time.monotonic() + 60
        while not (folder / "events.jsonl").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        yield folder
    finally:
        process.kill()
        process.wait()


def events(run, kind):
    return [e for line in (run / "events.jsonl").read_text().splitlines() if (e := json.loads(line))["kind"] == kind]


def step_of(panel) -> int:
    found = re.search(r"step ([\d,]+)", panel.locator(".labdl-dashboard-facts").inner_text())
    return int(found[1].replace(",", ""))


@pytest.mark.sample(every=2)
@in_both_places
def test_a_run_at_a_glance(page, lab, run, place, tmp_path):
    page.set_viewport_size({"width": 1280, "height": 720})
    panel = open_run(page, lab, run, place)
    expect(panel).to_have_attribute("data-status", "running")
    page.keyboard.press("Control+b")

    # all that there is to see; in a panel without scrolling
    expect(panel.locator(".labdl-chart[data-metric]")).to_have_count(2)
    expect(panel.locator(".labdl-chart-small canvas")).to_have_count(3)
    expect(panel.locator("[data-tile=memory] b")).to_have_text(re.compile(r"\d+(\.\d)? [MG]B"), timeout=30_000)
    gradient = panel.locator("[data-tile=gradient]")
    expect(gradient).to_be_visible(timeout=30_000)
    if place == "panel":
        expect(gradient).to_be_in_viewport(ratio=1)
    expect(panel.locator("[data-best=val_loss]")).to_contain_text("best")
    tab, settings = (panel.locator(s).bounding_box() for s in (".labdl-tab >> nth=-1", ".labdl-chart-settings"))
    assert tab["x"] + tab["width"] <= settings["x"] or tab["y"] + tab["height"] <= settings["y"]

    # one step by hand
    panel.get_by_role("button", name="Pause the training").click()
    expect(panel).to_have_attribute("data-status", "paused")
    one = panel.get_by_role("button", name="Run one more step")
    expect(one).to_be_enabled()
    before = step_of(panel)
    one.click()
    expect(panel.locator(".labdl-dashboard-facts")).to_contain_text(f"step {before + 1:,} /")
    expect(panel).to_have_attribute("data-status", "paused")
    [answer] = [e for e in events(run, "command") if e["command"] == "step"]
    assert (answer["status"], answer["step"]) == ("done", before + 1)

    # a branch that cannot be, and one that can
    branch = panel.get_by_role("button", name="Branch: start another run from here")
    branch.click()
    form = panel.get_by_role("dialog")
    form.get_by_label("Total epochs").fill("none")
    form.get_by_role("button", name="Start", exact=True).click()
    expect(form.get_by_role("alert")).to_have_text("The number of epochs must be an integer of at least 1.")
    form.get_by_label("Total epochs").fill("1")
    page.keyboard.press("Enter")
    expect(panel.locator(".labdl-dashboard-note")).to_contain_text("epochs")
    assert events(run, "command")[-1]["status"] == "refused"
    branch.click()
    form.get_by_label("Learning rate").fill("0.01")
    page.keyboard.press("Enter")
    marks = panel.get_by_role("list", name="Marks on the curves")
    expect(marks).to_contain_text(f"step {before + 1:,}: seen-branch-1 branched from here", timeout=60_000)
    expect(panel.locator(".labdl-dashboard-note")).to_have_count(0)

    # what was done stands on the curve, for the pointer and for keys
    rate = panel.get_by_label("Learning rate", exact=True)
    rate.fill("0.001")
    rate.press("Enter")
    told = f"step {before + 1:,}: learning rate set manually to 0.001"
    expect(marks).to_contain_text(told)
    chart = panel.locator(".labdl-chart[data-metric=loss]")
    plot = chart.get_by_role("img")
    plot.focus()
    for _ in range(8):
        page.keyboard.press("Shift+ArrowRight")
    expect(chart.get_by_role("status")).to_contain_text(told)
    page.keyboard.press("Escape")
    expect(chart.get_by_role("status")).to_have_count(0)

    # a part of the run, and all of it again
    box = chart.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 50, steps=4)
    page.mouse.up()
    reset = panel.get_by_role("button", name="Reset zoom")
    reset.click()
    expect(reset).to_have_count(0)

    # what can be kept
    kept = {}
    for kind in ("csv", "svg", "png"):
        chart.get_by_role("button", name="Download loss").click()
        with page.expect_download() as download:
            chart.locator(f"[data-download={kind}]").click()
        kept[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(kept[kind])
    assert {path.name for path in kept.values()} == {"loss.csv", "loss.svg", "loss.png"}
    rows = list(csv.DictReader(kept["csv"].open()))
    told = {int(s): v for e in events(run, "steps") for s, v in zip(e["step"], e["loss"], strict=True)}
    assert {int(row["step"]): float(row["loss"]) for row in rows} == pytest.approx(told)
    assert {int(row["step"]): float(row["val_loss"]) for row in rows if row["val_loss"]} == {
        e["step"]: e["val_loss"] for e in events(run, "epoch")
    }
    drawn = ElementTree.parse(kept["svg"]).getroot()
    assert "loss" in "".join(drawn.itertext())
    assert len(drawn.findall(".//{*}path")) > 5
    assert kept["png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"

    # the choices stay, and a page that comes later shows the same
    panel.get_by_label("Axis").select_option("Time")
    panel.get_by_label("Smoothing").select_option("More")
    page.reload()
    expect(panel).to_have_attribute("data-status", "paused", timeout=60_000)
    expect(panel.get_by_label("Axis")).to_have_value("time")
    expect(panel.get_by_label("Smoothing")).to_have_value("more")
    expect(marks).to_contain_text("learning rate set manually to 0.001")
    page.evaluate("() => localStorage.clear()")
