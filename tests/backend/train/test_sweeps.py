"""Sweeps: trials with different hyperparameters, each of which is a run."""

import json
import math
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from runs import DATA, WAIT, lines_of, of_kind

import labdl
from labdl import nn, train
from labdl.errors import ConfigError
from labdl.runs import control
from labdl.runs.metadata import group
from labdl.train import Integers, LogUniform, Trainer, Uniform, sweep
from labdl.train.tuning import samplers

pytestmark = pytest.mark.sample(backends=["torch"])

SPACE = {"features": [4, 8], "learning_rate": LogUniform(1e-3, 1e-1)}


def net(features):
    return nn.Sequential(nn.Linear(features), nn.Tanh(), nn.Dropout(0.3), nn.Linear(1))


@pytest.fixture
def options(backend):
    return {"loss": "mean_squared_error", "optimizer": "sgd", "backend": backend.name, "batch_size": 8}


def results(found):
    return [(trial.params, trial.run.history) for trial in found.trials]


def test_same_seed_gives_the_same_trials_and_results(options, tmp_path):
    """Also with concurrent trials and another run, although dropout uses one generator."""
    first = sweep(net, SPACE, DATA, validation=DATA, epochs=2, trials=4, folder=tmp_path / "one", **options).wait(WAIT)
    aside = Trainer(net(3), **{k: v for k, v in options.items() if k != "batch_size"}, seed=9)
    run = aside.start(DATA, epochs=6, batch_size=8, folder=tmp_path / "aside")
    second = sweep(net, SPACE, DATA, validation=DATA, epochs=2, trials=4, folder=tmp_path / "two", at_once=3, **options)
    assert results(first) == results(second.wait(WAIT))
    run.wait(WAIT)
    other = sweep(net, SPACE, DATA, validation=DATA, epochs=2, trials=4, seed=1, folder=tmp_path / "three", **options)
    assert [t.params for t in other.wait(WAIT).trials] != [t.params for t in first.trials]
    assert first.best.value == min(v for t in first.trials for v in t.run.history["val_loss"])
    assert first.best.run.trainer.optimizer.learning_rate == first.best.params["learning_rate"]


def test_trials_are_recorded_as_runs_of_the_group(options, tmp_path):
    found = sweep(
        net,
        {"features": [4, 8], "clip_norm": [0.5]},
        DATA,
        epochs=2,
        method="grid",
        metric="loss",
        folder=tmp_path / "sweep",
        **options,
    ).wait(WAIT)
    info = group(tmp_path / "sweep")
    assert (info["kind"], info["method"], info["metric"], info["mode"], info["trials"]) == (
        "sweep",
        "grid",
        "loss",
        "min",
        2,
    )
    assert info["space"] == {"features": [4, 8], "clip_norm": [0.5]}
    assert [run.folder.name for run in found.runs] == ["trial-0001", "trial-0002"]
    for run, params in zip(
        found.runs, ({"features": 4, "clip_norm": 0.5}, {"features": 8, "clip_norm": 0.5}), strict=True
    ):
        start = of_kind(run, "start")[0]
        assert (start["group"], start["params"]) == ("sweep", params)
        assert start["settings"]["clip_norm"] == 0.5
        assert lines_of(run)[-1]["status"] == "finished"
    rows = found.table()
    assert [row["features"] for row in rows] == [4, 8]
    assert "trial" in str(rows)
    assert "<table>" in found._repr_html_()
    with pytest.raises(ConfigError, match="already has a sweep"):
        sweep(net, {"features": [4]}, DATA, folder=tmp_path / "sweep", **options)


def test_failed_trial_does_not_end_the_others(options, tmp_path, caplog):
    def build(width):
        if width == 2:
            raise ValueError("two is too few")
        return net(width)

    x = DATA[0].copy()
    found = sweep(
        build,
        {"width": [2, 4], "learning_rate": [1e38, 0.01]},
        (x, DATA[1]),
        epochs=2,
        method="grid",
        folder=tmp_path / "sweep",
        **options,
    ).wait(WAIT)
    assert [t.status for t in found.trials] == ["failed", "failed", "failed", "finished"]
    assert "two is too few" in found.trials[0].error
    assert re.search("finite|infinite", found.trials[2].error)
    assert found.best is found.trials[3]
    assert [row["error"] is None for row in found.table()] == [False, False, False, True]
    (warning,) = [record.message for record in caplog.records if "trials failed" in record.message]
    assert (
        "3 of 4 trials failed; the first, trial 1 (width=2, learning_rate=1e+38): ValueError: two is too few" in warning
    )
    assert "3 failed" in repr(found)


def test_sweep_whose_trials_all_fail_raises_the_cause(options, tmp_path):
    def build(learning_rate):
        raise RuntimeError("no such thing")

    trials = sweep(build, {"learning_rate": [0.1, 0.2]}, DATA, folder=tmp_path / "one", **options)
    with pytest.raises(RuntimeError, match="no such thing") as caught:
        trials.wait(WAIT)
    assert "all 2 trials failed, this is the error of trial 1 (learning_rate=" in caught.value.__notes__[0]
    assert group(tmp_path / "one")["status"] == "failed"
    with pytest.raises(RuntimeError, match="no such thing") as again:
        trials.wait(WAIT)
    assert len(again.value.__notes__) == 1


def test_unknown_metric_raises_with_the_known_ones(options, tmp_path):
    space = {"features": [4, 8]}
    with pytest.raises(ConfigError, match=r"sweep monitors 'val_los', .*: did you mean 'loss'"):
        sweep(net, space, DATA, metric="val_los", method="grid", folder=tmp_path / "one", **options)
    trials = sweep(net, space, DATA, metric="val_los", mode="min", method="grid", folder=tmp_path / "one", **options)
    with pytest.raises(ConfigError, match="no metric 'val_los', but loss"):
        trials.wait(WAIT)


def test_sweep_that_was_stopped_has_not_failed(options, tmp_path):
    trials = sweep(net, {"features": [4, 8]}, DATA, epochs=10**6, folder=tmp_path / "one", **options)
    while not trials.runs:
        time.sleep(0.01)
    trials.stop()
    assert not trials.wait(WAIT).failed_trials


def test_builder_may_return_a_trainer_or_be_a_graph(backend, tmp_path):
    def build(rate, **others):
        model = nn.Sequential(nn.Linear(others["features"]), nn.Linear(1))
        return Trainer(model, loss="mean_squared_error", optimizer=train.SGD(rate), backend=backend.name, seed=1)

    found = sweep(
        build,
        {"rate": Uniform(0.001, 0.1), "features": Integers(2, 4)},
        DATA,
        trials=3,
        metric="loss",
        folder=tmp_path / "sweep",
    ).wait(WAIT)
    assert [t.run.trainer.optimizer.learning_rate for t in found.trials] == [t.params["rate"] for t in found.trials]
    graph = labdl.trace(net(4), (None, 4))
    graphs = sweep(
        graph,
        {"learning_rate": [0.1, 0.01], "epochs": [1, 2]},
        DATA,
        method="grid",
        loss="mean_squared_error",
        backend=backend.name,
        folder=tmp_path / "graphs",
    ).wait(WAIT)
    assert [len(t.run.history["loss"]) for t in graphs.trials] == [1, 2, 1, 2]


def test_stopped_sweep_starts_no_more_trials(options, tmp_path):
    started = threading.Event()
    found = sweep(
        net,
        SPACE,
        DATA,
        epochs=100_000,
        trials=5,
        folder=tmp_path / "sweep",
        callbacks=[lambda event: started.set() if isinstance(event, train.Step) else None],
        **options,
    )
    assert started.wait(WAIT)
    with pytest.raises(TimeoutError, match="still active after"):
        found.wait(0.01)
    found.stop()
    assert [t.status for t in found.wait(WAIT).trials] == ["stopped"]
    assert not found.alive
    assert "Sweep(sweep: 1 of 5 trials" in repr(found)


def test_stop_command_in_the_folder(options, tmp_path, caplog):
    started = threading.Event()
    found = sweep(
        net,
        SPACE,
        DATA,
        epochs=100_000,
        trials=5,
        folder=tmp_path / "sweep",
        callbacks=[lambda event: started.set() if isinstance(event, train.Step) else None],
        **options,
    )
    assert started.wait(WAIT)
    control.append(found.folder, "pause")
    control.append(found.folder, "stop")
    assert [t.status for t in found.wait(WAIT).trials] == ["stopped"]
    assert "takes the command 'stop' only, received 'pause'" in caplog.text
    assert group(found.folder)["status"] == "stopped"
    over = sweep(net, SPACE, DATA, epochs=1, trials=1, folder=tmp_path / "other", **options).wait(WAIT)
    assert group(over.folder)["status"] == "finished"


@pytest.mark.sample(False)
def test_end_of_the_program_stops_the_sweep(backend, tmp_path):
    program = (
        "import numpy as np, sys, time; from labdl import nn, train\n"
        "x = np.zeros((8, 2), 'float32')\n"
        "s = train.sweep(lambda a: nn.Linear(1), {'a': [1, 2]}, (x, x[:, :1]), epochs=10**9, method='grid', folder=sys.argv[1],"
        " loss='mean_squared_error', backend=sys.argv[2])\n"
        "while not s.runs or not s.runs[0].step: time.sleep(0.01)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "sweep", backend.name],
        timeout=WAIT * 2,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "the program ends: run " in done.stderr
    assert [p.name for p in (tmp_path / "sweep").glob("trial-*")] == ["trial-0001"]
    last = (tmp_path / "sweep" / "trial-0001" / "events.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["status"] == "stopped"


def test_optuna_receives_results_and_prunes(options, tmp_path):
    optuna = pytest.importorskip("optuna")

    class SecondTrialPruner(optuna.pruners.BasePruner):
        def prune(self, study, trial):
            return trial.number == 1 and trial.last_step >= 1

    found = sweep(
        net,
        {**SPACE, "batch_size": Integers(4, 8, log=True)},
        DATA,
        validation=DATA,
        epochs=3,
        trials=4,
        method="optuna",
        pruner=SecondTrialPruner(),
        folder=tmp_path / "sweep",
        **{k: v for k, v in options.items() if k != "batch_size"},
    ).wait(WAIT)
    assert [t.status for t in found.trials] == ["finished", "pruned", "finished", "finished"]
    assert len(found.trials[1].run.history["loss"]) == 1
    assert [str(t.state).partition(".")[2] for t in found._sampler.study.trials] == [
        "COMPLETE",
        "PRUNED",
        *["COMPLETE"] * 2,
    ]
    assert found._sampler.study.trials[0].value == found.trials[0].value
    again = sweep(
        net,
        {**SPACE, "batch_size": Integers(4, 8, log=True)},
        DATA,
        validation=DATA,
        epochs=3,
        trials=4,
        method="optuna",
        pruner=SecondTrialPruner(),
        folder=tmp_path / "again",
        **{k: v for k, v in options.items() if k != "batch_size"},
    ).wait(WAIT)
    assert results(again) == results(found)


def test_missing_optuna_raises_with_instructions(options, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r'pip install "labdl\[sweep\]"'):
        sweep(net, SPACE, DATA, method="optuna", **options)
    assert samplers.METHODS == ("random", "grid", "optuna")


def test_mode_defaults_to_that_of_the_metric(backend, tmp_path):
    y = (DATA[1][:, 0] > 0).astype("int64")
    found = sweep(
        lambda units: nn.Sequential(nn.Linear(units), nn.Linear(2)),
        {"units": [2, 4]},
        (DATA[0], y),
        method="grid",
        validation=(DATA[0], y),
        metrics=["accuracy"],
        metric="val_accuracy",
        backend=backend.name,
        folder=tmp_path / "sweep",
    ).wait(WAIT)
    assert found.mode == "max"
    assert found.best.value == max(t.value for t in found.trials)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"space": {}}, "space wants choices or ranges by name"),
        ({"space": {"features": 4}}, "space: features wants a list of choices"),
        ({"space": {"features": []}}, "space: features wants a list of choices"),
        ({"space": {"features": [4], "momentun": [1]}}, "'momentun' is neither a parameter of build"),
        ({"space": {"clip_norm": [4]}}, "build wants features, which are not in the space"),
        ({"method": "grid"}, "a grid wants choices: give learning_rate as a list"),
        ({"method": "bayes"}, "method wants one of random, grid, optuna"),
        ({"trials": 0}, "trials wants an integer at least 1"),
        ({"mode": "best"}, "mode wants 'min' or 'max'"),
        ({"seed": -1}, "seed wants an integer at least 0"),
        ({"pruner": object()}, "pruner requires method='optuna'"),
        ({"checkpoint": "kept"}, "each trial has its own checkpoint"),
        ({"build": 3}, "build wants a function"),
        ({"build": nn.Linear(1)}, "received a model: write lambda"),
    ],
)
def test_invalid_arguments_raise_before_anything_is_written(changes, message, options, tmp_path):
    given = {"build": net, "space": SPACE, **options, **changes}
    with pytest.raises(ConfigError, match=message):
        sweep(given.pop("build"), given.pop("space"), DATA, folder=tmp_path / "sweep", **given)
    assert not (tmp_path / "sweep").exists()


@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        (Uniform, (1, 1)),
        (Uniform, (math.nan, 1)),
        (LogUniform, (0, 1)),
        (LogUniform, (2, 1)),
        (Integers, (0.5, 2)),
        (Uniform, (True, 2)),
        (Uniform, ("a", 2)),
    ],
)
def test_invalid_ranges_raise(kind, ends):
    with pytest.raises(ConfigError, match=f"{kind.__name__} wants"):
        kind(*ends)


def test_samples_have_the_distribution_of_their_range():
    random = np.random.default_rng(0)
    rates = [LogUniform(1e-4, 1e-1).sample(random) for _ in range(3000)]
    assert min(rates) >= 1e-4
    assert max(rates) <= 1e-1
    for low in (1e-4, 1e-3, 1e-2):  # a third in each order of magnitude
        assert abs(np.mean([low <= rate < 10 * low for rate in rates]) - 1 / 3) < 0.05
    counts = np.bincount([Integers(1, 4).sample(random) for _ in range(4000)])[1:]
    assert counts.min() > 850
    logarithmic = [Integers(1, 64, log=True).sample(random) for _ in range(3000)]
    assert set(range(1, 8)) < set(logarithmic) <= set(range(1, 65))
    assert abs(np.mean([value <= 8 for value in logarithmic]) - math.log(8.5 / 0.5) / math.log(64.5 / 0.5)) < 0.05
