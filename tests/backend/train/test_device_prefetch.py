"""Batches that are copied to the device ahead: used by the steps, in their order, with the same results."""

import functools
import itertools

import numpy as np
import pytest

from labdl import data, nn
from labdl.errors import DataError
from labdl.train import SGD, Trainer
from labdl.train.device_prefetch import DevicePrefetch, prefetch_for

pytestmark = pytest.mark.sample(backends=2)

X = np.random.default_rng(0).normal(size=(40, 5)).astype("float32")
Y = np.random.default_rng(1).integers(0, 3, 40)
SETTINGS = {"loss": "cross_entropy", "optimizer": SGD(0.1), "seed": 1}


class Copies:
    """Counts the copies that begin ahead, and the tensors that steps take from them or copy themselves."""

    def __init__(self, backend):
        self.backend, self.began, self.used, self.made = backend, 0, 0, 0

    def ahead(self, array):
        self.began += 1
        if hasattr(self.backend, "copy_ahead"):
            wait = self.backend.copy_ahead(array)
        else:
            wait = functools.partial(lambda tensor: tensor, self.backend.tensor(array))

        def take():
            self.used += 1
            return wait()

        return take

    def tensor(self, array):
        self.made += 1
        return self.backend.tensor(array)


@pytest.fixture
def copies(backend, monkeypatch):
    copies = Copies(backend)
    monkeypatch.setattr("labdl.train.binding.prefetch_for", lambda backend: DevicePrefetch(copies.ahead, copies.tensor))
    return copies


def model(backend):
    return nn.Sequential(nn.Linear(3)).build((None, 5), backend=backend.name, seed=0)


def test_none_on_the_cpu(backend):
    assert backend.current_device() == "cpu"
    assert prefetch_for(backend) is None


@pytest.mark.parametrize("settings", [{}, {"accumulate": 2}, {"clip_norm": 1.0, "metrics": ["accuracy"]}], ids=str)
def test_same_values_as_without(backend, copies, monkeypatch, settings):
    fit = {"epochs": 2, "batch_size": 16, "progress": False}
    ahead = Trainer(model(backend), backend=backend.name, **SETTINGS, **settings).fit((X, Y), **fit)
    arrays = 2 * 3 * 2  # those of three batches in two epochs; the parts of a batch are copied one by one
    assert (copies.began, copies.used, copies.made) == ((0, 0, 12) if "accumulate" in settings else (arrays, arrays, 0))
    monkeypatch.undo()
    assert Trainer(model(backend), backend=backend.name, **SETTINGS, **settings).fit((X, Y), **fit) == ahead


def test_the_next_batch_is_copied_before_the_step(backend, copies):
    seen = []
    subject = Trainer(model(backend), backend=backend.name, **SETTINGS)
    for event in subject.events((X, Y), epochs=1, batch_size=10):
        if type(event).__name__ == "Step":
            seen.append((copies.began, copies.used))
    assert seen == [(4, 2), (6, 4), (8, 6), (8, 8)]


def test_arrays_of_a_preprocessing_are_copied_by_the_step(backend, copies):
    class Scaled(Trainer):
        def preprocess(self, batch):
            return 2 * batch[0], batch[1]

    Scaled(model(backend), backend=backend.name, **SETTINGS).fit((X, Y), epochs=1, batch_size=20, progress=False)
    assert (copies.began, copies.used, copies.made) == (4, 2, 2)


def test_an_unreadable_batch_fails_after_the_steps_before_it(backend, copies):
    class Broken(data.Dataset):
        def __len__(self):
            return 40

        def __getitem__(self, index):
            if index >= 20:
                raise OSError("the disk is gone")
            return X[index], Y[index]

    subject = Trainer(model(backend), backend=backend.name, **SETTINGS)
    events = subject.events(Broken(), epochs=1, batch_size=10, shuffle=False)
    assert [type(event).__name__ for event in itertools.islice(events, 3)] == ["Start", "Step", "Step"]
    with pytest.raises(DataError, match=r"sample 20 .*the disk is gone"):
        next(events)
