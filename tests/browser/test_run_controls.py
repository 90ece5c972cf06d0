"""Steering a run from its panel: what is shown is what the run says, by mouse and by keyboard."""

import json
import re
import subprocess
import sys
import time

import pytest
from places import LARGE, PLACES, SMALL, open_run
from playwright.sync_api import expect

EPOCHS = 100_000
RUN = f"""
import sys, time, numpy as np
from labdl import nn, train
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
trainer = train.Trainer(nn.Sequential(nn.Linear(1)), loss="mean_squared_error", optimizer=train.SGD(0.05), backend="torch")
trainer.start(x, x[:, :1], epochs={EPOCHS}, batch_size=8, folder=sys.argv[1], callbacks=[lambda _: time.sleep(0.02)]).wait()
"""


@pytest.fixture
def run(lab):
    """A run in a process of its own, as a script starts it: the folder and the process."""
    folder = lab.folder / "steered"
    process = subprocess.Popen([sys.executable, "-c", RUN, str(folder)], cwd=lab.folder)
    try:
        deadline = time.monotonic() + 60
        while not (folder / "events.jsonl").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        yield folder, process
    finally:
        process.kill()
        process.wait()


def events(run, kind):
    return [e for line in (run / "events.jsonl").read_text().splitlines() if (e := json.loads(line))["kind"] == kind]


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(("place", "size"), [("panel", LARGE), ("cell", SMALL)], ids=PLACES)
def test_a_run_is_steered(page, lab, run, place, size):
    page.set_viewport_size(size)
    run, process = run
    panel = open_run(page, lab, run, place)
    facts = panel.locator(".labdl-dashboard-facts")
    expect(panel).to_have_attribute("data-status", "running")

    # the learning rate, applied on Enter; the field empties when the run has said so
    rate = panel.get_by_label("Learning rate", exact=True)
    expect(rate).to_have_attribute("placeholder", "0.05")
    rate.fill("fast")
    rate.press("Enter")
    expect(panel.get_by_role("alert")).to_have_text("The learning rate must be a number of at least 0.")
    rate.press("Escape")
    expect(panel.get_by_role("alert")).to_have_count(0)
    rate.fill("0.02")
    rate.press("Enter")
    expect(rate).to_have_attribute("placeholder", "0.02")
    expect(rate).to_have_value("")

    # more epochs, by keyboard alone
    rate.press("Tab")
    expect(panel.get_by_label("Add epochs", exact=True)).to_be_focused()
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(facts).to_contain_text(f"of {EPOCHS + 3:,}")

    # a checkpoint, from the button; those that the run keeps by itself come and go beside it
    keep = panel.get_by_role("button", name="Save a checkpoint of the training now")
    keep.focus()
    page.keyboard.press("Enter")
    expect(facts).to_contain_text(re.compile(r"checkpoint step \d"))
    deadline = time.monotonic() + 60
    while not (own := [event for event in events(run, "checkpoint") if not event.get("automatic")]):
        assert time.monotonic() < deadline, "no checkpoint was written on command"
        page.wait_for_timeout(100)
    [kept] = own
    assert (run / "checkpoints" / f"step-{kept['step']:08d}" / "model.npz").is_file()

    # at rest too, and a page that comes later shows the same
    panel.get_by_role("button", name="Pause").click()
    expect(panel).to_have_attribute("data-status", "paused")
    rate.fill("0")
    rate.press("Enter")
    expect(rate).to_have_attribute("placeholder", "0")
    expect(panel).to_have_attribute("data-status", "paused")
    page.reload()
    expect(panel).to_have_attribute("data-status", "paused", timeout=60_000)
    expect(panel.get_by_label("Learning rate", exact=True)).to_have_attribute("placeholder", "0")
    expect(facts).to_contain_text(f"of {EPOCHS + 3:,}")
    assert [e["value"] for e in events(run, "learning_rate")] == [0.02, 0]
    assert [e["epochs"] for e in events(run, "epochs")] == [EPOCHS + 3]

    panel.get_by_role("button", name="Stop").click()
    expect(panel).to_have_attribute("data-status", "stopped")
    expect(panel.locator(".labdl-dashboard-fields")).to_have_count(0)
    for button in panel.locator(".labdl-dashboard-command").all():
        expect(button).to_be_disabled()
    assert process.wait(30) == 0
