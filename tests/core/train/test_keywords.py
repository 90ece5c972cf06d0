"""Keywords that completion shows, and short names of losses, metrics and settings."""

import dataclasses
import inspect
import types

import numpy as np
import pytest

from labdl import nn, train
from labdl.errors import ConfigError
from labdl.infer import Evaluator, Inference
from labdl.train import METRICS, Trainer, aliases, losses, options
from labdl.train.config import TrainerSettings
from labdl.train.optimizers import OPTIMIZERS
from labdl.train.starting import start_loop

MODEL = nn.Sequential(nn.Linear(2))


def keywords(function):
    return {name for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize(
    "function",
    [Trainer, Trainer.from_config, Trainer.fit, Trainer.start, Trainer.events, train.sweep, train.race, Evaluator],
)
def test_signatures_show_every_keyword(function):
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_types_name_the_keywords_of_the_signatures():
    training = keywords(start_loop)
    assert set(options.TrainingOptions.__annotations__) - set(aliases.TRAINING) == training
    for function in (Trainer.events, Trainer.fit, Trainer.start):
        assert training <= keywords(function)
    fields = {f.name for f in dataclasses.fields(TrainerSettings)}
    assert set(options.TrainerOptions.__annotations__) - set(aliases.TRAINER) == fields <= keywords(Trainer)
    for function, kind in ((train.race, options.RaceOptions), (train.sweep, options.SweepOptions)):
        own = set(inspect.getfullargspec(_bare(function)).kwonlyargs)
        assert keywords(function) - own == set(kind.__annotations__) - set(aliases.TRAINER) - own
    assert keywords(Inference) <= keywords(Evaluator)


def _bare(function):
    """The function with the signature that its source has."""
    return types.FunctionType(function.__code__, function.__globals__)


def test_types_are_those_of_the_signature():
    for name, hint in options.TrainingOptions.__annotations__.items():
        assert hint.__forward_arg__ == start_loop.__annotations__[aliases.TRAINING.get(name, name)]


X, Y = np.zeros((6, 2), "float32"), np.zeros(6, int)
WRONG = {
    "epoch": ": did you mean 'epochs'",
    "steps": ": write steps_per_epoch=",
    "lr": r", a setting of Trainer: write Trainer\(model, lr=…\)",
    "loss": r", a setting of Trainer",
    "x": r": give the data by place, \w+\(x, y\)",
    "validation_splt": ": did you mean 'validation_split'",
    "use_multiprocessing": r": give a labdl\.data\.Loader",
    "no_such_name": "$",
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("method", ["fit", "start", "events"])
def test_unknown_keywords_are_named(method, name):
    with pytest.raises(
        ConfigError, match=rf"^Trainer\.{method} has the keywords .*epochs.*received '{name}'{WRONG[name]}"
    ):
        getattr(Trainer(MODEL), method)((X, Y), **{name: 1})


def test_unknown_keywords_of_races_and_sweeps(tmp_path):
    with pytest.raises(ConfigError, match=r"race has the keywords .*received 'epoch': did you mean 'epochs'"):
        train.race(MODEL, X, Y, epoch=1, folder=tmp_path / "race")
    with pytest.raises(ConfigError, match=r"sweep: 'epoch' is neither .*: did you mean 'epochs'"):
        train.sweep(lambda width: MODEL, {"width": [1]}, X, Y, epoch=1, folder=tmp_path / "sweep")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("short", "name"), aliases.LOSSES.items())
def test_short_names_of_losses(short, name):
    assert type(losses.loss(short)) is type(losses.loss(name))
    assert Trainer(MODEL, short).loss_name == name
    assert Trainer(MODEL, {"name": short}).loss_name == name


@pytest.mark.parametrize("name", aliases.LOSS_HINTS)
def test_losses_that_are_not_equal_to_one_here(name):
    with pytest.raises(
        ConfigError, match=f"received '{name}': (that of (Keras|PyTorch) takes (probabilities|rates)|write )"
    ):
        Trainer(MODEL, name)


@pytest.mark.parametrize(("short", "name"), aliases.METRICS.items())
def test_short_names_of_metrics(short, name):
    assert list(losses.metrics([short])) == list(losses.metrics([{"name": short}])) == [name]
    assert name in METRICS


def test_short_names_are_no_full_names():
    assert not set(aliases.LOSSES) & set(losses.losses())
    assert not set(aliases.METRICS) & set(METRICS)


def test_learning_rate_under_both_names():
    for trainer in (
        Trainer(MODEL, lr=0.5),
        Trainer(MODEL, learning_rate=0.5),
        Trainer(MODEL, optimizer=train.Adam(lr=0.5)),
        Trainer(MODEL, optimizer={"name": "adam", "lr": 0.5}),
        Trainer(MODEL, optimizer=train.Adam(0.1), lr=0.5),
        Trainer.from_config(MODEL, {"lr": 0.5}),
        Trainer.from_config(MODEL, {"lr": 0.1}, learning_rate=0.5),
    ):
        assert trainer.learning_rate == 0.5
    for cls in {entry.cls for entry in OPTIMIZERS.values()}:
        assert cls(lr=0.25) == cls(learning_rate=0.25)
        assert "learning_rate" in inspect.signature(cls).parameters
    with pytest.raises(ConfigError, match="lr is another name of learning_rate: give one of them"):
        Trainer(MODEL, lr=0.5, learning_rate=0.5)
    with pytest.raises(ConfigError, match=r"Trainer has the settings .*, received 'epoch': did you mean 'epochs'"):
        Trainer(MODEL, epoch=1)
