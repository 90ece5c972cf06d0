"""Alerts of trainings on a backend."""

import time

import numpy as np
import pytest
from interrupted import own_seeds

from labdl import nn
from labdl.data import ArrayDataset
from labdl.errors import LabDLError
from labdl.train import SGD, Adam, Alert, Step, Throughput, Trainer

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


_draw = np.random.default_rng(0)
X = _draw.normal(size=(64, 8)).astype("float32")


def alerts(subject, *data, **options):
    found = []
    try:
        for event in subject.events(data, health=0, **options):
            found.append(event)
    except LabDLError:
        found.append(None)
    return [e.alert for e in of(found, Alert)], found


def test_memorizing_random_labels_is_overfitting(backend):
    noise = _draw.integers(0, 2, 64)
    model = nn.Sequential(nn.Linear(64), nn.ReLU(), nn.Linear(2))
    subject = Trainer(model, optimizer=Adam(0.01), backend=backend.name, seed=0)
    names, found = alerts(subject, X[:32], noise[:32], validation=(X[32:], noise[32:]), epochs=40, batch_size=16)
    assert names == ["overfitting"]
    assert "Early stopping" in of(found, Alert)[0].message


def test_good_training_raises_no_alert(backend):
    target = (X @ _draw.normal(size=(8, 1))).astype("float32")
    model = nn.Sequential(nn.Linear(1))
    subject = Trainer(model, "mean_squared_error", SGD(0.05), backend=backend.name, seed=0)
    assert alerts(subject, X[:48], target[:48], validation=(X[48:], target[48:]), epochs=40, batch_size=8)[0] == []


def test_high_learning_rate_raises_divergence_before_nan(backend):
    target = (X @ _draw.normal(size=(8, 1))).astype("float32")
    subject = Trainer(nn.Sequential(nn.Linear(1)), "mean_squared_error", SGD(0.6), backend=backend.name, seed=0)
    found = []
    with pytest.raises(LabDLError):  # noqa: PT012 - the events before the error are tested
        for event in subject.events((X, target), epochs=200, batch_size=64, health=0):
            found.append(event)
    assert [e.alert for e in of(found, Alert)] == ["divergence", "not_finite"]
    assert "smaller learning rate" in of(found, Alert)[-1].message
    assert isinstance(found[-1], Alert), "the alert comes before the error"


def test_high_learning_rate_set_by_hand_raises_divergence(backend, monkeypatch):
    monkeypatch.setattr("labdl.train.monitor.profiler.MIN_INTERVAL", 0.0)
    monkeypatch.setattr("labdl.train.monitor.profiler.GROWTH", 1e9)
    target = (X @ _draw.normal(size=(8, 1))).astype("float32")
    subject, found = (
        Trainer(nn.Sequential(nn.Linear(1)), "mean_squared_error", SGD(0.05), backend=backend.name, seed=0),
        [],
    )
    for event in subject.events((X, target), epochs=60, batch_size=16, health=0):
        found.append(event)
        if isinstance(event, Step) and event.step == 120:
            subject.learning_rate = 0.8
        if isinstance(event, Alert):
            break
    assert found[-1].alert == "divergence"
    assert 120 < found[-1].step < 220


class Slow(ArrayDataset):
    def __getitem__(self, index):
        time.sleep(0.05)
        return super().__getitem__(index)


def test_slow_data_set_raises_starvation(backend):
    subject = Trainer(nn.Sequential(nn.Linear(2)), backend=backend.name, seed=0)
    found = []
    for event in subject.events(Slow(X, np.arange(64) % 2), epochs=100, batch_size=8, health=0):
        found.append(event)
        if isinstance(event, Alert):
            break
    assert found[-1].alert == "starvation"
    assert found[-1].step < 200
    assert sum(e.data for e in of(found, Throughput)) > 1.5
