"""Records of runs read from their folders."""

import csv

import numpy as np
import pytest
from runs import DATA, WAIT, holding, soon, trainer

from labdl import runs
from labdl.train import Checkpoint
from labdl.train.checkpoint import latest
from labdl.train.race.client import RaceRun

pytestmark = pytest.mark.sample(backends=1)

METHODS = ("figure", "to_csv", "to_arrow", "to_tensorboard", "to_svg", "to_png")


def test_record_matches_the_run(backend, tmp_path):
    run = trainer(backend, metrics=["mean_absolute_error"]).start(
        *DATA, validation=DATA, epochs=3, batch_size=8, folder=tmp_path / "runs" / "one"
    )
    run.wait(WAIT)
    record = run.record
    assert (record.id, record.status, record.backend) == ("one", "finished", backend.name)
    assert record.history == run.history
    assert record.steps["step"].tolist() == list(range(1, 16))
    assert np.isfinite(record.steps["loss"]).all()
    summary = record.summary()
    assert summary["best"]["mean_absolute_error"]["value"] == min(run.history["mean_absolute_error"])
    assert summary["higher"] == []
    assert record.rates["value"][0] == np.float64(0.05)
    (row,) = runs.list(tmp_path)
    assert (row.figures, row.best, row.spark) == (summary["figures"], summary["best"], summary["spark"])
    assert "finished · 3 epochs" in run.to_svg()
    with open(run.to_csv(tmp_path / "a.csv"), newline="") as file:
        assert [row["val_loss"] for row in csv.DictReader(file) if row["val_loss"]] == [
            repr(v) for v in run.history["val_loss"]
        ]
    assert all(getattr(RaceRun, name) is getattr(type(run), name) for name in METHODS), "one implementation for both"


def test_record_of_an_active_run(backend, tmp_path):
    with holding(backend) as make:
        held = make(tmp_path / "run")
        catalog = runs.Catalog(tmp_path)
        assert soon(lambda: [row.status for row in catalog.look()] == ["running"])
        record = held.run.record
        held.go(4)
        held.until(5)
        assert soon(lambda: record.refresh().step >= 4)
        assert record.alive
        held.run.pause()
        held.go(1)
        assert soon(lambda: catalog.look()[0].status == "paused")
        held.run.resume()
        held.go()
        held.run.wait(WAIT)
    assert record.refresh().status == "finished"
    assert catalog.look()[0].status == "finished"
    assert catalog.look()[0].epoch == 3


def test_resumed_run_counts_each_step_once(backend, tmp_path):
    kept = {"batch_size": 8, "folder": tmp_path / "run"}
    first = trainer(backend).start(*DATA, epochs=2, checkpoint=Checkpoint(tmp_path / "kept"), **kept)
    first.wait(WAIT)
    assert first.record.checkpoint == latest(tmp_path / "kept"), "automatic checkpoints are recorded"
    again = trainer(backend).start(*DATA, epochs=4, resume=first.record.checkpoint, **kept)
    again.wait(WAIT)
    record = again.record
    assert [mark["kind"] for mark in record.marks] == ["resumed"]
    assert record.steps["step"].tolist() == list(range(1, 21))
    assert [row["epoch"] for row in record.epochs] == [1, 2, 3, 4]
    assert record.history == again.history
