"""The same graph, weights and data on four backends, in one chart of a notebook's output and of a panel."""

import re

import pytest
from places import open_notebook, run_cell, write_notebook
from playwright.sync_api import expect
from test_notebook_runs import saved

pytestmark = pytest.mark.sample(False)

RACE = """
import numpy as np
from labdl import lab, nn, train
from sklearn.datasets import load_digits
x, y = load_digits(return_X_y=True)
x = (x / 16).astype("float32")
model = nn.Sequential(nn.Linear(16), nn.ReLU(), nn.Linear(10)).build((None, 64), backend="torch", seed=0)
race = lab.race(model, (x[:512], y[:512]), epochs=400, batch_size=64, optimizer=train.SGD(0.1), folder="runs/race", at_once=4)
race
"""
BACKENDS = ("torch", "tensorflow", "paddle", "mindspore")


START = 600_000  # ms: four frameworks start beside each other


@pytest.mark.timeout(1200)
@pytest.mark.blank_page
def test_four_backends_in_one_chart(page, lab):
    write_notebook(lab, RACE)
    open_notebook(page, lab, workspace="lab/tree")
    run_cell(page, 0)
    board = page.locator(".jp-OutputArea .labdl-runs")
    expect(board).to_have_attribute("data-group", "race", timeout=START)
    for backend in BACKENDS:
        expect(board).to_contain_text(re.compile(backend, re.IGNORECASE), timeout=START)
    expect(board.locator("canvas").first).to_be_visible(timeout=START)
    board.get_by_role("button", name="Stop all").click(timeout=START)
    expect(board.get_by_text("Running", exact=True)).to_have_count(0, timeout=START)
    kept = saved(page, lab)
    [output] = [o for o in kept.cells[0].outputs if o.output_type == "display_data"]
    assert output.data["application/vnd.labdl.runs.v1+json"]["beside"] == "runs/race"
