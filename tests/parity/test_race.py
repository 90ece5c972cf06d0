"""A race of backends: worker processes that begin alike, read the same files and do not pull each other down (R6.4, D9)."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import labdl
from labdl import framework_info, nn, ops, train
from labdl.errors import ConfigError, ModelError
from labdl.runs.metadata import group
from labdl.train.race.race import Leaderboard
from labdl.train.race.serialization import pack

WAIT = 180


def corners():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(96, 6)).astype("float32")
    return labdl.data.ArrayDataset(x, (x[:, :3].argmax(1)).astype("int64"), name="corners", classes=["a", "b", "c"])


@pytest.fixture(scope="module")
def data():
    return corners()


def model():
    return nn.Sequential(nn.Linear(12), nn.Tanh(), nn.Linear(3))


def soon(test):
    for _ in range(WAIT * 10):
        if test():
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def raced(data, tmp_path_factory):
    """Two frameworks, the same training."""
    folder = tmp_path_factory.mktemp("race")
    race = train.race(
        model(),
        data,
        validation=data,
        backends=["torch", "paddle"],
        epochs=3,
        batch_size=16,
        seed=4,
        folder=folder,
        optimizer=train.SGD(0.05, momentum=0.9),
        metrics=["accuracy"],
        schedule=train.LinearWarmup(steps=5, then=train.CosineDecay()),
    )
    assert race.alive
    return race.wait(WAIT)


def test_a_racer_shows_itself_in_a_notebook(raced, monkeypatch):
    shown = []
    cell = SimpleNamespace(display_pub=SimpleNamespace(publish=lambda data, **_: shown.append(data)))
    monkeypatch.setattr("labdl.lab.widgets.notebook_output._shell", lambda: cell)
    raced.runs["torch"]._ipython_display_()
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    assert shown[-1]["application/vnd.labdl.run.v1+json"]["final"] is True
    assert "finished" in shown[-1]["image/svg+xml"]


def test_backends_in_a_race_agree(raced):
    """The same weights at the start, data in the same order: the losses differ by rounding."""
    first, second = raced.runs["torch"], raced.runs["paddle"]
    assert (first.status, second.status) == ("finished", "finished"), raced.table()
    assert first.history.keys() == second.history.keys() == {"loss", "accuracy", "val_loss", "val_accuracy"}
    np.testing.assert_allclose(first.history["loss"], second.history["loss"], atol=1e-5)
    np.testing.assert_allclose(first.history["val_loss"], second.history["val_loss"], atol=1e-5)
    assert first.history["loss"][-1] < first.history["loss"][0]
    assert [run.started["backend"] for run in (first, second)] == ["torch", "paddle"]
    assert first.step == second.step == 18
    for name, value in labdl.load_parameters(first.folder / "model.npz").items():
        np.testing.assert_allclose(labdl.load_parameters(second.folder / "model.npz")[name], value, atol=1e-5)


def test_a_race_is_the_training_that_one_backend_makes_alone(raced, data):
    """In a process of this test, from the same seed."""
    code = (
        "import sys, json, numpy as np, labdl; sys.path.insert(0, sys.argv[1]); import test_race as t\n"
        "from labdl import train\n"
        "data = t.corners()\n"
        "trainer = train.Trainer(t.model(), backend='torch', seed=4, optimizer=train.SGD(0.05, momentum=0.9),\n"
        "    metrics=['accuracy'], schedule=train.LinearWarmup(steps=5, then=train.CosineDecay()))\n"
        "print(json.dumps(trainer.fit(data, validation=data, epochs=3, batch_size=16, progress=False)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, os.path.dirname(__file__)], capture_output=True, text=True, check=True
    )
    alone = json.loads(done.stdout.splitlines()[-1])
    for name, values in raced.runs["torch"].history.items():
        assert alone[name] == pytest.approx(values, abs=1e-6)


def test_the_runs_of_a_race_belong_together(raced):
    told = group(raced.folder)
    assert (told["kind"], told["name"]) == ("race", raced.folder.name)
    for run in raced.runs.values():
        start = json.loads((run.folder / "events.jsonl").read_text().splitlines()[0])
        assert start["group"] == raced.folder.name


def test_the_table_of_a_race(raced):
    table = raced.table()
    assert [row["backend"] for row in table] == ["torch", "paddle"]
    for row in table:
        assert row["status"] == "finished"
        assert row["epochs"] == 3
        assert row["seconds"] > 0
        assert row["samples_per_second"] > 0
        assert row["val_loss"] == raced.runs[row["backend"]].history["val_loss"][-1]
        assert row["error"] is None
    lines = str(table).splitlines()
    assert lines[0].split() == [
        "backend",
        "status",
        "epochs",
        "seconds",
        "samples_per_second",
        "loss",
        "accuracy",
        "val_loss",
        "val_accuracy",
    ]
    assert len(lines) == 3
    assert "<th>backend</th>" in table._repr_html_()
    assert "finished" in repr(raced)


def test_a_worker_that_crashes_is_a_row_and_a_missing_backend_is_said(data, tmp_path, monkeypatch, request):
    """One is killed in the middle, one is not installed, one is stopped: each row says so."""
    real = framework_info.problem
    monkeypatch.setattr(
        framework_info,
        "problem",
        lambda name: (
            "backend 'mindspore' is not installed: pip install labdl[mindspore]" if name == "mindspore" else real(name)
        ),
    )
    race = train.race(
        model(), data, backends=["torch", "mindspore", "paddle"], epochs=1_000_000, folder=tmp_path, optimizer="sgd"
    )
    first, missing, other = race.runs.values()
    request.addfinalizer(race.stop)
    heard = {run: [] for run in race.runs.values()}
    for run, events in heard.items():
        run.subscribe(events.extend)
        run.subscribe(lambda _, run=run: run.status)  # a listener may ask
    other.obey("learning_rate", 0.001, "page-1")  # before it has begun
    with pytest.raises(ConfigError, match=r"command wants one of pause, .*, received 'explode'"):
        other.obey("explode")
    assert soon(lambda: first.step and other.step)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait(WAIT)
    assert first.status == "failed"
    assert first.error.startswith("the worker process ended with signal SIGKILL")
    step = other.step
    assert soon(lambda: other.step > step), "the crash of one does not end the other"
    assert missing.status == "missing"
    other.obey("pause", identity="page-2")
    assert soon(lambda: other.status == "paused")
    with pytest.raises(TimeoutError, match=r"still going on after 0\.1 s: paddle"):
        race.wait(0.1)
    race.stop()
    rows = {row["backend"]: row for row in race.wait(WAIT).table()}
    assert {name: row["status"] for name, row in rows.items()} == {
        "torch": "failed",
        "mindspore": "missing",
        "paddle": "stopped",
    }
    assert "not installed: pip install" in rows["mindspore"]["error"]
    assert "SIGKILL" in str(race.table())
    assert labdl.load_parameters(tmp_path / "paddle" / "model.npz")
    assert not os.path.exists(race._exchange.name), "what the workers shared is gone"
    assert [(e["kind"], e["status"]) for e in heard[missing]] == [("end", "failed")]
    for run, status in ((first, "failed"), (other, "stopped")):
        kinds, late = [e["kind"] for e in heard[run]], []
        assert (kinds[0], kinds[-1], kinds.count("end"), heard[run][-1]["status"]) == ("start", "end", 1, status)
        run.subscribe(late.extend)
        assert late == heard[run]
    recorded = [json.loads(line) for line in (other.folder / "events.jsonl").read_text().splitlines()]
    assert heard[other] == recorded
    assert [e["value"] for e in recorded if e["kind"] == "learning_rate"] == [0.001]
    assert [(e["id"], e["status"]) for e in recorded if e["kind"] == "command"] == [
        ("page-1", "done"),
        ("page-2", "done"),
    ]
    assert "SIGKILL" in heard[first][-1]["message"]


def test_what_a_worker_raises_is_its_rows_error(data, tmp_path):
    """A model that this loss does not fit: the worker's own sentence."""
    race = train.race(model(), data, backends=["torch"], folder=tmp_path, loss="mean_squared_error").wait(WAIT)
    (row,) = race.table()
    assert row["status"] == "failed"
    assert row["error"]
    assert "Traceback" not in row["error"]


def test_a_model_that_is_no_graph_is_refused(data, tmp_path):
    class Deciding(nn.Module):
        def __init__(self):
            self.head = nn.Linear(3)

        def forward(self, x):
            return self.head(x) if float(labdl.to_numpy(ops.sum(x))) > 0 else self.head(-x)

    with pytest.raises(ModelError, match="the model cannot travel to worker processes, because it is no graph"):
        train.race(Deciding(), data, backends=["torch"], folder=tmp_path)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"backends": ["torch", "jax"]}, "backends wants some of mindspore, paddle, tensorflow, torch, received 'jax'"),
        ({"backends": []}, "different backends, at least one"),
        ({"backends": ["torch", "torch"]}, "different backends, at least one"),
        ({"at_once": 0}, "at_once wants an integer at least 1"),
        ({"loss": lambda output, target: output}, "cannot travel: give a name"),
        ({"metrics": [abs]}, "cannot travel: give a name"),
        ({"output_dir": "x"}, "each backend its own output_dir"),
        ({"speed": 3}, "Trainer has the settings"),
        ({"schedule": train.schedules.Lambda(lambda step: 1.0)}, "cannot travel"),
    ],
)
def test_what_cannot_travel_is_refused_at_once(settings, sentence, data, tmp_path):
    with pytest.raises(ConfigError, match=sentence):
        train.race(model(), data, folder=tmp_path, **{"backends": ["torch"], **settings})


def test_data_that_are_no_arrays_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="wants data as arrays"):
        train.race(model(), range(7), backends=["torch"], folder=tmp_path)


def test_settings_travel_as_plain_data(data, tmp_path):
    settings = {
        "optimizer": train.AdamW(0.01, groups=[("*/bias:0", {"weight_decay": 0.0})]),
        "loss": nn.CrossEntropyLoss(label_smoothing=0.1),
        "metrics": ["accuracy", train.metrics.TopKAccuracy(k=2)],
        "stopping": train.EarlyStopping(patience=3),
        "average": 0.9,
        "schedule": "cosine",
    }
    pack(tmp_path, model(), data, data, settings, {"epochs": 2}, 5)
    order = json.loads((tmp_path / "order.json").read_text())
    trainer = train.Trainer.from_config(labdl.load_structure(tmp_path / "model.labdl"), order["settings"])
    assert (
        trainer.optimizer == settings["optimizer"] or trainer.optimizer.settings() == settings["optimizer"].settings()
    )
    assert [list(group) for group in trainer.optimizer.groups] == [["*/bias:0", {"weight_decay": 0.0}]]
    assert trainer.loss_function.label_smoothing == 0.1
    assert trainer.metrics["top_k_accuracy"].k == 2
    assert trainer.settings.stopping == settings["stopping"]
    assert np.array_equal(np.load(tmp_path / order["data"]["files"][0]), data.arrays[0])


def test_standings_without_an_error_have_no_column_for_it():
    rows = Leaderboard([{"backend": "torch", "loss": 0.5, "error": None}])
    assert str(rows) == "backend  loss\ntorch    0.5"


def test_the_parent_needs_no_framework():
    code = (
        "import sys, numpy as np, tempfile; from labdl import nn, train; from labdl.train.race.serialization import pack\n"
        "from pathlib import Path\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    data = np.zeros((8, 2), 'float32'), np.zeros(8, int)\n"
        "    pack(Path(folder), nn.Sequential(nn.Linear(3)), data, None, {}, {}, 0)\n"
        "print([n for n in ('torch', 'tensorflow', 'paddle', 'mindspore') if n in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
