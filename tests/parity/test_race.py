"""Races of backends in worker processes: equal results, failures of single workers, serialization of the training."""

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
from labdl.errors import ConfigError, ModelError, TrainingError
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
def finished_race(data, tmp_path_factory):
    """A race of two frameworks."""
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


@pytest.mark.sample(False)
def test_race_run_is_displayed_in_a_notebook(finished_race, monkeypatch):
    shown = []
    cell = SimpleNamespace(display_pub=SimpleNamespace(publish=lambda data, **_: shown.append(data)))
    monkeypatch.setattr("labdl.lab.widgets.notebook_output._shell", lambda: cell)
    finished_race.runs["torch"]._ipython_display_()
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    assert shown[-1]["application/vnd.labdl.run.v1+json"]["final"] is True
    assert "finished" in shown[-1]["image/svg+xml"]


def test_backends_in_a_race_agree(finished_race):
    """The same weights at the start, data in the same order: the losses differ by rounding."""
    first, second = finished_race.runs["torch"], finished_race.runs["paddle"]
    assert (first.status, second.status) == ("finished", "finished"), finished_race.table()
    assert first.history.keys() == second.history.keys() == {"loss", "accuracy", "val_loss", "val_accuracy"}
    np.testing.assert_allclose(first.history["loss"], second.history["loss"], atol=1e-5)
    np.testing.assert_allclose(first.history["val_loss"], second.history["val_loss"], atol=1e-5)
    assert first.history["loss"][-1] < first.history["loss"][0]
    assert [run.start_event["backend"] for run in (first, second)] == ["torch", "paddle"]
    assert first.step == second.step == 18
    for name, value in labdl.load_parameters(first.folder / "model.npz").items():
        np.testing.assert_allclose(labdl.load_parameters(second.folder / "model.npz")[name], value, atol=1e-5)


def test_race_has_the_results_of_a_single_training(finished_race, data):
    """With the same seed, in this process."""
    trainer = train.Trainer(
        model(),
        backend="torch",
        seed=4,
        optimizer=train.SGD(0.05, momentum=0.9),
        metrics=["accuracy"],
        schedule=train.LinearWarmup(steps=5, then=train.CosineDecay()),
    )
    alone = trainer.fit(data, validation=data, epochs=3, batch_size=16, progress=False)
    for name, values in finished_race.runs["torch"].history.items():
        assert alone[name] == pytest.approx(values, abs=1e-6)


def test_runs_of_a_race_are_a_group(finished_race):
    info = group(finished_race.folder)
    assert (info["kind"], info["name"]) == ("race", finished_race.folder.name)
    for run in finished_race.runs.values():
        start = json.loads((run.folder / "events.jsonl").read_text().splitlines()[0])
        assert start["group"] == finished_race.folder.name


def test_table_of_a_race(finished_race):
    table = finished_race.table()
    assert [row["backend"] for row in table] == ["torch", "paddle"]
    for row in table:
        assert row["status"] == "finished"
        assert row["epochs"] == 3
        assert row["seconds"] > 0
        assert row["samples_per_second"] > 0
        assert row["val_loss"] == finished_race.runs[row["backend"]].history["val_loss"][-1]
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
    assert "finished" in repr(finished_race)


def test_crashed_stopped_and_missing_backends(data, tmp_path, monkeypatch, request):
    """One worker is killed, one backend is not installed, one is stopped: the others continue, the table shows it."""
    real = framework_info.problem
    monkeypatch.setattr(
        framework_info,
        "problem",
        lambda name: (
            "backend 'mindspore' is not installed: pip install \"labdl[mindspore]\""
            if name == "mindspore"
            else real(name)
        ),
    )
    race = train.race(
        model(), data, backends=["torch", "mindspore", "paddle"], epochs=1_000_000, folder=tmp_path, optimizer="sgd"
    )
    first, missing, other = race.runs.values()
    request.addfinalizer(race.stop)
    received = {run: [] for run in race.runs.values()}
    for run, events in received.items():
        run.subscribe(events.extend)
        run.subscribe(lambda _, run=run: run.status)  # a listener may read the status
    other.send_command("learning_rate", 0.001, "page-1")  # before the start of the training
    with pytest.raises(ConfigError, match=r"command wants one of pause, .*, received 'explode'"):
        other.send_command("explode")
    assert soon(lambda: first.step and other.step)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait(WAIT)
    assert first.status == "failed"
    assert first.error.startswith("the worker process ended with signal SIGKILL")
    step = other.step
    assert soon(lambda: other.step > step), "the crash of one worker does not end the other"
    assert missing.status == "missing"
    other.send_command("pause", identity="page-2")
    assert soon(lambda: other.status == "paused")
    with pytest.raises(TimeoutError, match=r"still active after 0\.1 s: paddle"):
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
    assert not os.path.exists(race._exchange.name), "the shared files are removed"
    assert [(e["kind"], e["status"]) for e in received[missing]] == [("end", "failed")]
    for run, status in ((first, "failed"), (other, "stopped")):
        kinds, late = [e["kind"] for e in received[run]], []
        assert (kinds[0], kinds[-1], kinds.count("end")) == ("start", "end", 1), (run, received[run][-5:])
        assert received[run][-1]["status"] == status
        run.subscribe(late.extend)
        assert late == received[run]
    recorded = [json.loads(line) for line in (other.folder / "events.jsonl").read_text().splitlines()]
    assert received[other] == recorded
    assert [e["value"] for e in recorded if e["kind"] == "learning_rate"] == [0.001]
    assert [(e["id"], e["status"]) for e in recorded if e["kind"] == "command"] == [
        ("page-1", "done"),
        ("page-2", "done"),
    ]
    assert "SIGKILL" in received[first][-1]["message"]


@pytest.mark.sample(False)
def test_error_of_a_worker_is_in_the_table(data, tmp_path):
    """The loss does not fit the model: the table has the message of the worker."""
    race = train.race(model(), data, backends=["torch"], folder=tmp_path, loss="mean_squared_error")
    with pytest.raises(TrainingError, match="all runs failed; torch: ") as caught:
        race.wait(WAIT)
    (row,) = race.table()
    assert row["error"] in str(caught.value)
    assert row["status"] == "failed"
    assert row["error"]
    assert "Traceback" not in row["error"]


def test_untraceable_model_raises(data, tmp_path):
    class DataDependent(nn.Module):
        def __init__(self):
            self.head = nn.Linear(3)

        def forward(self, x):
            return self.head(x) if float(labdl.to_numpy(ops.sum(x))) > 0 else self.head(-x)

    with pytest.raises(ModelError, match="the model cannot be sent to worker processes, because it cannot be traced"):
        train.race(DataDependent(), data, backends=["torch"], folder=tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"backends": ["torch", "jax"]}, "backends wants some of mindspore, paddle, tensorflow, torch, received 'jax'"),
        ({"backends": []}, "different backends, at least one"),
        ({"backends": ["torch", "torch"]}, "different backends, at least one"),
        ({"at_once": 0}, "at_once wants an integer at least 1"),
        ({"loss": lambda output, target: output}, "cannot be sent: give a name"),
        ({"metrics": [abs]}, "cannot be sent: give a name"),
        ({"output_dir": "x"}, "output_dir is not a setting of the trainers in a race"),
        ({"speed": 3}, "race has the keywords .*received 'speed'"),
        ({"schedule": train.schedules.Lambda(lambda step: 1.0)}, "cannot be sent"),
    ],
)
def test_invalid_settings_raise(settings, message, data, tmp_path):
    with pytest.raises(ConfigError, match=message):
        train.race(model(), data, folder=tmp_path, **{"backends": ["torch"], **settings})


def test_data_other_than_arrays_raise(tmp_path):
    with pytest.raises(ConfigError, match="wants data as arrays"):
        train.race(model(), range(7), backends=["torch"], folder=tmp_path)


def test_settings_are_serialized_as_plain_data(data, tmp_path):
    settings = {
        "optimizer": train.AdamW(0.01, groups=[("*/bias:0", {"weight_decay": 0.0})]),
        "loss": nn.CrossEntropyLoss(label_smoothing=0.1),
        "metrics": ["accuracy", train.metrics.TopKAccuracy(k=2)],
        "stopping": train.EarlyStopping(patience=3),
        "average": 0.9,
        "schedule": "cosine",
    }
    pack(tmp_path, model(), data, data, settings, {"epochs": 2}, 5)
    job = json.loads((tmp_path / "job.json").read_text())
    trainer = train.Trainer.from_config(labdl.load_structure(tmp_path / "model.labdl"), job["settings"])
    assert (
        trainer.optimizer == settings["optimizer"] or trainer.optimizer.settings() == settings["optimizer"].settings()
    )
    assert [list(group) for group in trainer.optimizer.groups] == [["*/bias:0", {"weight_decay": 0.0}]]
    assert trainer.loss_function.label_smoothing == 0.1
    assert trainer.metrics["top_k_accuracy"].k == 2
    assert trainer.settings.stopping == settings["stopping"]
    assert np.array_equal(np.load(tmp_path / job["data"]["files"][0]), data.arrays[0])


@pytest.mark.parametrize("weights", [np.array([1.0, 2.0]), [1.0, 2.0]])
def test_one_class_weight_for_each_class_is_serialized(data, weights, tmp_path):
    pack(tmp_path, model(), data, None, {}, {"class_weight": weights}, 0)
    assert json.loads((tmp_path / "job.json").read_text())["options"]["class_weight"] == [1.0, 2.0]


def test_what_is_frozen_stays_frozen_in_the_workers(data, tmp_path):
    frozen = nn.Sequential(nn.Linear(3), nn.BatchNorm(affine=False), nn.Linear(2))
    frozen[0].trainable = frozen[1].trainable = False
    pack(tmp_path, frozen, data, None, {"freeze": "2/bias:0"}, {}, 0)
    assert json.loads((tmp_path / "job.json").read_text())["settings"]["freeze"] == [
        "2/bias:0",
        "0/kernel:0",
        "0/bias:0",
        "1/*",
    ]


def test_leaderboard_without_errors_has_no_error_column():
    rows = Leaderboard([{"backend": "torch", "loss": 0.5, "error": None}])
    assert str(rows) == "backend  loss\ntorch    0.5"


@pytest.mark.sample(False)
def test_packing_imports_no_framework():
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
