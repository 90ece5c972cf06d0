"""A training resumed from a checkpoint has the results of an uninterrupted one."""

import json
import shutil
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from interrupted import (
    BATCH,
    DATA,
    EPOCHS,
    RECIPES,
    comparable,
    equal,
    fit,
    own_seeds,
    stopped_after,
    trainer,
    uninterrupted,
)

import labdl
from labdl import nn, train
from labdl.errors import ConfigError, StateDictError
from labdl.train import Checkpoint, Epoch, Start, Step
from labdl.train.checkpoint import best, checkpoints, latest

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


@pytest.fixture(scope="module")
def whole(backend):
    return uninterrupted(backend)


@pytest.fixture(scope="module")
def kept(backend, whole, tmp_path_factory):
    """The folder of the same training with a checkpoint after each step."""
    folder = tmp_path_factory.mktemp("kept")
    labdl.seed(3)
    subject = trainer(backend)
    fit(subject, checkpoint=Checkpoint(folder, every=1, keep=None, monitor="val_loss"))
    assert equal(comparable(subject), comparable(whole)), "checkpoints have no side effect"
    return folder


@pytest.mark.parametrize("kind", [str, Path])
def test_checkpoint_may_be_a_folder(backend, tmp_path, kind):
    fit(trainer(backend), checkpoint=kind(tmp_path / "kept"))
    assert latest(tmp_path / "kept") is not None
    with pytest.raises(ConfigError, match=r"checkpoint wants labdl.train.Checkpoint\(folder=...\)"):
        fit(trainer(backend), checkpoint=3)


@pytest.mark.parametrize("recipe", RECIPES)
def test_training_resumes_within_an_epoch(recipe, backend, tmp_path):
    """Bitwise on every framework: parameters, slots, history and random state."""
    labdl.seed(3)
    whole = trainer(backend, recipe)
    history = fit(whole)
    expected = comparable(whole)
    labdl.seed(3)
    stopped_after(8, trainer(backend, recipe), checkpoint=Checkpoint(tmp_path, every=7))
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000007"]
    labdl.seed(77)
    again = trainer(backend, recipe, seed=50)  # different weights, data order and random numbers
    assert fit(again, resume=tmp_path) == history
    assert equal(comparable(again), expected)
    assert again.learning_rate == whole.learning_rate


def test_comparison_depends_on_the_random_state(backend, whole):
    labdl.seed(77)
    other = trainer(backend)
    fit(other)
    assert not equal(other.model.state_dict(), whole["parameters"])


@pytest.mark.parametrize("at", [1, 4, 5, 6, 10, 15])
@pytest.mark.filterwarnings("ignore:nothing is left to train:UserWarning")
def test_training_resumes_at_any_step(at, backend, whole, kept):
    """Including the first step, the last of an epoch, and the last of all."""
    labdl.seed(77)
    again = trainer(backend, seed=50)
    assert fit(again, resume=kept / f"step-{at:08d}") == whole["training"]["progress"]["history"]
    assert equal(comparable(again), comparable(whole))


def test_resume_true_starts_or_resumes(backend, whole, tmp_path):
    """With resume=True the first call starts, later calls resume, and a call after the end does nothing."""

    def same(epochs):
        labdl.seed(3)
        subject = trainer(backend)
        plan = train.CosineDecay(steps=15)  # the length of the whole training
        subject.schedule = plan
        return subject, fit(subject, epochs, checkpoint=Checkpoint(tmp_path, keep=2), resume=True)

    same(1)
    same(2)
    for done in False, True:
        with pytest.warns(UserWarning, match="nothing is left to train") if done else nullcontext():
            subject, values = same(3)
        assert values == whole["training"]["progress"]["history"]
        assert equal(subject.model.state_dict(), whole["parameters"])
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000010", "step-00000015"]


def test_learning_rate_set_by_hand_is_restored(backend, tmp_path):
    """Including the ratio of a group."""

    def halved(subject, **options):
        for event in subject.events(DATA, epochs=2, batch_size=BATCH, **options):
            if isinstance(event, Step) and event.step == 3:
                subject.learning_rate = 0.005

    options = {
        "optimizer": train.SGD(0.02, momentum=0.9, groups=[("head/*", {"learning_rate": 0.04})]),
        "schedule": None,
    }
    labdl.seed(3)
    whole = trainer(backend, **options)
    halved(whole)
    labdl.seed(3)
    halved(trainer(backend, **options), checkpoint=Checkpoint(tmp_path, every=4, keep=None))
    again = trainer(backend, **options)
    assert again.learning_rate == 0.02
    list(again.events(DATA, epochs=2, batch_size=BATCH, resume=tmp_path / "step-00000004"))
    assert again.learning_rate == 0.005
    assert equal(again.model.state_dict(), whole.model.state_dict())


def test_state_of_reduce_on_plateau_is_restored(backend):
    schedule = train.ReduceOnPlateau(patience=0, threshold=0.9, factor=0.5)  # no epoch improves on the first
    first = trainer(backend, optimizer=train.SGD(0.08), schedule=schedule)
    fit(first, 2)
    again = trainer(backend, optimizer=train.SGD(0.08), schedule=schedule)
    again.model.build((None, 1, 6, 6), backend=backend.name)
    again.load_state_dict(first.state_dict())
    assert equal(
        again.state_dict()["training"]["memory"],
        {"best": first.progress.history["val_loss"][0], "bad": 0, "resting": 0, "reductions": 1},
    )
    fit(again, 4)
    assert again.learning_rate == pytest.approx(0.08 * 0.5**2)
    other = trainer(backend, optimizer=train.SGD(0.08), schedule="cosine", model=again.model)
    other.load_state_dict(first.state_dict())
    with pytest.raises(StateDictError, match="has the state of the schedule reduce_on_plateau"):
        fit(other, 4)


def test_background_run_resumes(backend, whole, tmp_path):
    labdl.seed(3)
    options = {
        "validation": DATA,
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "checkpoint": Checkpoint(tmp_path / "kept", every=2),
    }
    run = trainer(backend).start(DATA, folder=tmp_path / "first", **options)
    for _ in range(6000):
        if latest(tmp_path / "kept") is not None:
            break
        time.sleep(0.01)
    run.stop()
    run.wait(60)
    labdl.seed(77)
    again = trainer(backend, seed=50).start(DATA, folder=tmp_path / "second", resume=True, **options)
    assert again.wait(60).history == whole["training"]["progress"]["history"]
    with pytest.raises(ConfigError, match="already has checkpoints up to step-00000015"):
        trainer(backend).start(DATA, folder=tmp_path / "third", **options)


def linear(backend, **settings):
    return train.Trainer(nn.Linear(4), backend=backend.name, seed=1, **settings)


VECTORS = DATA[0][:, 0, 0], DATA[1]


@pytest.fixture(scope="module")
def lost(backend, tmp_path_factory):
    """A checkpoint of a training of four epochs that was lost in its third one."""
    folder = tmp_path_factory.mktemp("lost")
    stop = [lambda event: isinstance(event, Step) and event.step == 11]
    options = {"epochs": 4, "batch_size": BATCH, "shuffle": False, "callbacks": stop}
    list(linear(backend).events(VECTORS, checkpoint=Checkpoint(folder, every=11), **options))
    return latest(folder)


@pytest.mark.parametrize(
    ("settings", "options", "epochs"),
    [
        ({}, {}, 4),
        ({}, {"epochs": 3}, 3),
        ({}, {"epochs": 5}, 5),
        ({"epochs": 3}, {}, 3),
        ({"epochs": 3}, {"epochs": 6}, 6),
    ],
)
def test_resumed_training_continues_to_the_planned_epochs(backend, lost, settings, options, epochs):
    events = list(linear(backend, **settings).events(VECTORS, resume=lost, **options))
    assert events[0].epochs == epochs
    assert [event.epoch for event in events if isinstance(event, Epoch)] == list(range(3, epochs + 1))


def test_line_that_is_offered_for_a_lost_run_resumes_it(backend, lost, tmp_path):
    run = linear(backend).start(VECTORS, resume=str(lost), folder=tmp_path / "run").wait(60)
    assert len(run.history["loss"]) == 4
    assert labdl.runs.open(tmp_path / "run").start["epochs"] == 4


def test_epochs_added_to_a_run_are_planned(backend, tmp_path):
    trainer = linear(backend)
    events = trainer.events(VECTORS, epochs=1, batch_size=BATCH, checkpoint=Checkpoint(tmp_path, every=2, keep=None))
    next(events)
    trainer.loop.epochs += 2
    list(events)
    assert len(linear(backend).fit(VECTORS, resume=tmp_path / "step-00000002", progress=False)["loss"]) == 3


def test_resuming_a_complete_training_warns(backend, tmp_path):
    linear(backend).fit(VECTORS, epochs=2, checkpoint=tmp_path, progress=False)
    for options in {}, {"epochs": 1}:
        with pytest.warns(
            UserWarning, match=r"^nothing is left to train, because epochs=. .* and 2 are complete: give"
        ) as found:
            linear(backend).fit(VECTORS, resume=tmp_path, progress=False, **options)
        assert found[0].filename == __file__


def test_checkpoint_without_planned_epochs_resumes(backend, lost, tmp_path):
    """Of the first files of this version."""
    old = tmp_path / lost.name
    shutil.copytree(lost, old)
    state = json.loads((old / "state.json").read_text())
    del state["progress"]["epochs"]
    (old / "state.json").write_text(json.dumps(state))
    assert len(linear(backend).fit(VECTORS, resume=old, epochs=3, progress=False)["loss"]) == 3
    with pytest.warns(UserWarning, match="nothing is left to train, because epochs=1"):
        linear(backend).fit(VECTORS, resume=old, progress=False)


def test_start_event_of_a_resumed_training(backend, kept):
    resume = kept / "step-00000007"
    events = list(trainer(backend).events(DATA, validation=DATA, epochs=EPOCHS, batch_size=BATCH, resume=resume))
    assert isinstance(events[0], Start)
    assert events[0].step == 7
    assert [len(v) for v in events[0].history.values()] == [1] * 6
    assert [e.step for e in events if isinstance(e, Step)] == list(range(8, 16))
    assert [(e.epoch, e.step) for e in events if isinstance(e, Epoch)] == [(2, 10), (3, 15)]


def test_checkpoint_loads_as_a_model(backend, kept):
    subject, x = trainer(backend), DATA[0][:5]
    subject.model.build((None, 1, 6, 6), backend=backend.name)
    for path in (best(kept), latest(kept)):
        model = labdl.load(path / "model", backend=backend.name)
        labdl.swap_parameters(subject.model, path / "model.npz")
        np.testing.assert_allclose(labdl.predict(model, x), labdl.predict(subject.model, x), rtol=1e-5, atol=1e-6)
