"""Two values of an argument of a race, a sweep, a profile or a logged value give different results, or it has its reason."""

import inspect
import json
import threading
from pathlib import Path

import numpy as np
import pytest
from interrupted import own_seeds
from test_training_arguments_matter import CALLS, TRAINER, TRAINING, Case, Counted, X, Y
from test_training_arguments_matter import REASONS as OF_A_TRAINER
from variations import is_equal

import labdl
from labdl.data import ArrayDataset
from labdl.train import SGD, Trainer, Uniform, race, sweep
from labdl.train.race import worker
from labdl.train.race.client import RaceRun
from labdl.train.tuning.sweep import Sweep

pytestmark = pytest.mark.sample(every=20, backends=1)

WAIT = 120


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def keywords(function):
    return {name for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY}


def results_of(run):
    """Epochs, parameters and recorded alerts of a run."""
    lines = [json.loads(line) for line in (run.folder / "events.jsonl").read_text().splitlines()]
    return [
        *(np.array([name, *values]) for name, values in sorted(run.history.items())),
        *(np.asarray(labdl.to_numpy(p.value)) for p in run.trainer.model.parameters()),
        np.array([sum(line["kind"] == kind for line in lines) for kind in ("health", "validation")]),
    ]


def case_of(name):
    case = TRAINER.get(name) or TRAINING[name]
    return case, {**case.settings, **case.options}


def pair_of(name, case):
    return ({name: case.without} if case.without is not None else {}), {name: case.value}


# -- a race, of which the worker runs in this process


RACE = {
    "validation": Case((X[:9], Y[:9])),
    "epochs": Case(2),
    "batch_size": Case(5),
    "shuffle": Case(False),
    "seed": Case(2, without=1),
    "loss_weights": Case([1.0, 3.0], {"loss": ["cross_entropy"] * 2}, data=(ArrayDataset(X, Y, Y[::-1].copy()),)),
}
OF_A_RACE = {
    "backends": "which runs there are; test_race has it",
    "folder": "where the runs are; test_race has it",
    "at_once": "how many runs there are at a time; test_a_race_waits has it",
    **{name: OF_A_TRAINER[name] for name in ("compiled", "gradient_checkpointing")},
}


def observe_race(backend, folder, monkeypatch, data, settings):
    runs, start = [], Trainer.start
    CALLS.clear()
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "start", lambda *args, **options: runs.append(start(*args, **options)) or runs[-1])
        work = lambda run, exchange, share: worker._race(Path(exchange), run.backend, run.folder, threading.Event())  # noqa: E731
        patch.setattr(RaceRun, "_start", work)
        model = Counted(heads=2 if isinstance(settings.get("loss"), list) else 1)
        if "seed" not in settings:
            model.build((None, 4), backend=backend.name, seed=0)
        race(model, *data, backends=[backend.name], folder=folder, **settings).wait(WAIT)
    return results_of(runs[0])


@pytest.mark.parametrize("name", sorted(keywords(race) - OF_A_RACE.keys()))
def test_every_argument_of_a_race(name, backend, tmp_path, monkeypatch):
    case, beside = (RACE[name], RACE[name].settings) if name in RACE else case_of(name)
    results = [
        observe_race(backend, tmp_path / str(at), monkeypatch, case.data, {"batch_size": 9, **beside, **own})
        for at, own in enumerate(pair_of(name, case))
    ]
    assert not is_equal(*results), f"race: {name} changes nothing"


# -- a sweep


SPACE = {"learning_rate": [0.001, 0.01, 0.1]}
SWEEP = {
    "validation": Case((X[:9], Y[:9])),
    "epochs": Case(2),
    "trials": Case(1),
    "method": Case("grid", {"seed": 3}, {"trials": 3}),
    "metric": Case("val_accuracy", {"metrics": ("accuracy",), "validation": (X[:9], Y[:9])}),
    "mode": Case("max"),
    "seed": Case(2, without=1),
    "at_once": Case(2),
    "callbacks": Case([lambda event: type(event).__name__ == "Epoch"], {"epochs": 3}),
}
OF_A_SWEEP = {
    "folder": "where the runs are; test_trials_are_recorded_as_runs_of_the_group has it",
    "pruner": "of Optuna; test_pruning has it",
    "keep_gradients": "of the trainer of a trial; test_every_setting_of_a_trainer has it",
    **{name: OF_A_TRAINER[name] for name in ("backend", "compiled", "gradient_checkpointing")},
}


def observe_sweep(backend, folder, data, settings, monkeypatch):
    CALLS.clear()
    active, most = [], []
    started, ended = Sweep._start_next, Sweep._end_trial

    def start(search):
        trial = started(search)
        active.append(trial)
        most.append(len(active))
        return trial

    def end(search, trial):
        active.remove(trial)
        ended(search, trial)

    with monkeypatch.context() as patch:
        patch.setattr(Sweep, "_start_next", start)
        patch.setattr(Sweep, "_end_trial", end)
        heads = 2 if isinstance(settings.get("loss"), list) else 1
        options = {"trials": 2, "batch_size": 9, "health": 0.0, "backend": backend.name, **settings}
        space = {"accumulate": [1, 3]} if {"learning_rate", "lr", "schedule"} & settings.keys() else SPACE
        search = sweep(lambda: Counted(heads), space, *data, folder=folder, **options).wait(WAIT)
    results = [array for trial in search.trials for array in results_of(trial.run)]
    choices = [np.array([str(trial.params), str(trial.value)]) for trial in search.trials]
    return [*results, *choices, np.array([search.best.number, max(most)])]


@pytest.mark.parametrize("name", sorted(keywords(sweep) - OF_A_SWEEP.keys()))
def test_every_argument_of_a_sweep(name, backend, tmp_path, monkeypatch):
    case, beside = (SWEEP[name], {**SWEEP[name].settings, **SWEEP[name].options}) if name in SWEEP else case_of(name)
    results = [
        observe_sweep(backend, tmp_path / str(at), case.data, {**beside, **own}, monkeypatch)
        for at, own in enumerate(pair_of(name, case))
    ]
    assert not is_equal(*results), f"sweep: {name} changes nothing"


def test_the_space_and_the_builder_of_a_sweep(backend, tmp_path):
    def search(name, build, space, **options):
        found = sweep(build, space, X, Y, trials=2, folder=tmp_path / name, **options).wait(WAIT)
        return [array for trial in found.trials for array in results_of(trial.run)]

    own = {"backend": backend.name}
    expected = search("first", Counted, {"learning_rate": [0.1, 0.2]}, **own)
    assert not is_equal(search("space", Counted, {"learning_rate": Uniform(0.3, 0.4)}, **own), expected)
    build = lambda: Trainer(Counted(), optimizer="sgd", **own)  # noqa: E731
    assert not is_equal(search("build", build, {"epochs": [1, 2]}), expected)


# -- a profile and logged values


def test_every_argument_of_a_profile(backend, tmp_path):
    def profile(x=X, y=Y, **options):
        trainer = Trainer(Counted(), optimizer=SGD(0.1), backend=backend.name, seed=1)
        CALLS.clear()
        found = trainer.profile(x, y, **{"steps": 2, **options})
        return found.steps, found.batch_size, [*CALLS]

    expected = profile()
    assert profile(X[:3], Y[:3]) != expected
    assert profile(steps=3)[0] == 3 != expected[0]
    assert profile(batch_size=5)[1] == 5 != expected[1]
    if backend.name != "mindspore":
        profile(trace=tmp_path / "trace")
        assert [*(tmp_path / "trace").iterdir()]
    assert inspect.signature(Trainer.profile).parameters.keys() == {
        "self",
        "train",
        "y",
        "steps",
        "batch_size",
        "trace",
    }


def test_every_argument_of_a_logged_value(backend):
    def history(name="margin", values=(1.0, 2.0, 4.0), **options):
        trainer = Trainer(Counted(), optimizer=SGD(0.1), backend=backend.name, seed=1, batch_size=9)

        def log(event):
            if type(event).__name__ == "Step":
                sizes = {key: sizes[event.step % 3] for key, sizes in options.items()}
                trainer.log(name, values[event.step % 3], **sizes)

        return trainer.fit(X, Y, callbacks=[log], progress=False)

    mean = history()["margin"]
    assert mean == pytest.approx([7 / 3])
    assert history("other")["other"] == mean
    assert history(values=(1.0, 2.0, 5.0))["margin"] != mean
    assert history(batch_size=(2, 1, 1))["margin"] == pytest.approx([2.0])
    assert inspect.signature(Trainer.log).parameters.keys() == {"self", "name", "value", "batch_size"}


def test_every_argument_has_its_case():
    assert keywords(race) >= OF_A_RACE.keys() | RACE.keys()
    assert keywords(sweep) >= OF_A_SWEEP.keys() | SWEEP.keys()
