"""Names that people give to metrics and logged values, beside those of the format of events."""

import csv
import json
import math

import numpy as np
import pytest

from labdl import nn, train
from labdl.errors import ConfigError
from labdl.runs.reading.record import open_run
from labdl.runs.schema import RESERVED, metric_key, metric_name, parse
from labdl.train import Trainer

NAMES = [
    *RESERVED,
    "@step",
    "@",
    "self",
    "version",
    "message",
    "base",
    "columns",
    "class",
    "准确率",
    "é",
    "a b",
    "a/b",
    "a.b",
    'it\'s "so"',
    "<b>x</b>",
    "n" * 200,
]
X = np.ones((4, 2), "float32")


def metric(name, value):
    def function(output, target):
        return value

    function.__name__ = name
    return function


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    class Logs(train.Callback):
        def on_train_batch_end(self, trainer, values, batch, batch_index):
            trainer.log("logged", 7)

        def on_train_epoch_end(self, trainer, values):
            for name in ("pid", "kind@"):
                trainer.log(name, 8)

    model = nn.Sequential(nn.Linear(1)).build((None, 2), backend="torch", seed=0)
    metrics = [metric(name, 100 + i) for i, name in enumerate(NAMES)]
    subject = Trainer(model, "mean_squared_error", train.SGD(0.0), metrics=metrics, seed=0)
    folder = tmp_path_factory.mktemp("runs") / "one"
    given = {"validation": (X, X[:, :1]), "epochs": 2, "batch_size": 2, "callbacks": [Logs()]}
    subject.start(X, X[:, :1], folder=folder, params=dict.fromkeys(NAMES, 1), **given).wait(60)
    return folder


def test_fields_of_the_format_are_kept(run):
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert [s for e in events if e["kind"] == "steps" for s in e["step"]] == [1, 2, 3, 4]
    assert [(e["epoch"], e["step"]) for e in events if e["kind"] == "epoch"] == [(1, 2), (2, 4)]
    assert all(math.isfinite(e["time"]) and e["time"] > 1e9 for e in events)
    assert all(e["samples_per_second"] != 104 for e in events if e["kind"] == "epoch")


def test_each_metric_is_read_under_its_name(run):
    record = open_run(run)
    for i, name in enumerate(NAMES):
        assert record.history[name] == record.history[f"val_{name}"] == [100 + i] * 2, name
        assert record.step_metrics[name].tolist() == [100 + i] * 4, name
        assert record.summary()["figures"][name] == 100 + i
    assert record.history["logged"] == [7, 7]
    assert record.history["pid"] == record.history["kind@"] == [8, 8]
    assert record.steps["step"].tolist() == [1, 2, 3, 4]
    assert record.steps["@step"].tolist() == [102] * 4
    assert record.epochs[0]["step"] == 2
    assert record.start["params"] == dict.fromkeys(NAMES, 1)
    assert record.metrics == NAMES


def test_exports_keep_each_metric(run, tmp_path):
    record = open_run(run)
    with open(record.to_csv(tmp_path / "one.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows] == ["1", "2", "3", "4"]
    for i, name in enumerate(NAMES):
        column = "kind" if name == "kind" else metric_key(name)  # the table has no column of that name
        assert {float(row[column]) for row in rows} == {100 + i}, name
    assert "<b>x</b>" not in record.to_svg(limit=100_000)


def test_keys_and_names_are_one_to_one():
    names = [*NAMES, "@@step", "@kind", "val_step", "steps"]
    assert [metric_name(metric_key(name)) for name in names] == names
    assert not {metric_key(name) for name in names} & {*RESERVED}
    old = {"kind": "epoch", "time": 1.0, "epoch": 1, "step": 2, "@x": 1, "accuracy": 0.5}
    assert parse(old).metrics == {"@x": 1, "accuracy": 0.5}


@pytest.mark.parametrize("name", ["loss", "gradient_norm", "loss_a", "val_x", "", "  ", "n" * 201])
def test_names_of_other_values_are_refused_where_they_are_given(name):
    with pytest.raises(ConfigError, match="metric"):
        Trainer(nn.Sequential(nn.Linear(1)), metrics=[metric(name, 1)])
