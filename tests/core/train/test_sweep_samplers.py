"""Samplers of sweeps: in a finite space no combination twice, whatever the method; the same seed gives the same trials."""

import itertools

import numpy as np
import pytest

from labdl import nn
from labdl.errors import ConfigError
from labdl.runs.metadata import about
from labdl.train import Integers, Trainer, Uniform, sweep
from labdl.train.tuning import search_space
from labdl.train.tuning.samplers import METHODS, make_sampler

FINITE = {"features": [4, 8, 8], "depth": Integers(1, 3), "bias": [True, 1]}


def ask_all(method, space, most=50):
    sampler = make_sampler(method, search_space.validate(space), 0, "min", None)
    asked = []
    for number in range(1, most + 1):
        params = sampler.ask(number)
        if params is None:
            break
        asked.append(params)
        sampler.tell(number, 1.0, pruned=False)
    return asked


@pytest.mark.parametrize("method", METHODS)
def test_each_combination_once(method):
    if method == "optuna":
        pytest.importorskip("optuna")
    asked = ask_all(method, FINITE)
    wanted = [dict(zip(FINITE, row, strict=True)) for row in itertools.product([4, 8], [1, 2, 3], [True, 1])]
    assert sorted(map(repr, asked)) == sorted(map(repr, wanted))
    assert ask_all(method, FINITE) == asked


def test_infinite_space_has_no_end():
    assert len(ask_all("random", {"features": [4, 8], "rate": Uniform(0, 1)}, 30)) == 30
    assert search_space.size(search_space.validate({"rate": Uniform(0, 1)})) is None


def test_sweep_says_that_there_are_fewer_trials(tmp_path, caplog):
    x = np.ones((4, 2), "float32")
    found = sweep(
        lambda features: nn.Sequential(nn.Linear(features), nn.Linear(1)),
        {"features": [4, 8]},
        x,
        x[:, :1],
        loss="mean_squared_error",
        trials=6,
        backend="torch",
        folder=tmp_path / "sweep",
    ).wait(60)
    assert sorted(trial.params["features"] for trial in found.trials) == [4, 8]
    assert "the space has 2 combinations, so there are 2 trials instead of 6" in caplog.text


def test_run_has_the_name_that_start_gives(tmp_path):
    x = np.ones((4, 2), "float32")
    subject = Trainer(nn.Sequential(nn.Linear(1)), "mean_squared_error", backend="torch")
    subject.start(x, x[:, :1], folder=tmp_path / "one", name="mein\nLauf 1").wait(60)
    assert about(tmp_path / "one").name == "mein Lauf 1"
    for name, message in ((3, "name wants a text"), ("n" * 201, "at most 200 characters")):
        with pytest.raises(ConfigError, match=message):
            subject.start(x, x[:, :1], folder=tmp_path / "two", name=name)
    assert not (tmp_path / "two").exists()
