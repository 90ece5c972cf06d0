"""A training resumed from a checkpoint has the results of an uninterrupted one."""

import time
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
from labdl import train
from labdl.errors import ConfigError, StateDictError
from labdl.train import Checkpoint, Epoch, Start, Step
from labdl.train.checkpoint import best, checkpoints, latest


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
    for _ in range(2):
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
