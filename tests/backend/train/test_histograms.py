"""Histograms of the weights, gradients and outputs of layers in a training."""

import numpy as np
import pytest

from labdl import nn
from labdl.train import SGD, Histograms, Trainer
from labdl.train.monitor import budget


def test_histograms_count_all_values_of_a_layer(backend, monkeypatch):
    monkeypatch.setattr(budget.Budget, "allows", lambda self: self.share > 0 and self.steps >= 1)
    model = nn.Sequential(nn.Linear(5), nn.ReLU(), nn.Linear(2)).build((None, 4), backend=backend.name, seed=0)
    x = np.random.default_rng(0).normal(size=(48, 4)).astype("float32")
    subject = Trainer(model, "mean_squared_error", SGD(0.1), backend=backend.name, seed=0)
    for event in subject.events((x, x[:, :2]), batch_size=48, shuffle=False, epochs=3, health=1.0):
        if isinstance(event, Histograms):
            break
    assert event.layers == ("0", "1", "2")
    assert event.weights["of"] == event.gradients["of"] == [0, 2]
    assert event.outputs["of"] == [0, 1, 2]
    assert [sum(c) for c in event.weights["counts"]] == [25, 12] == [sum(c) for c in event.gradients["counts"]]
    assert [sum(c) for c in event.outputs["counts"]] == [160, 160, 64]
    kernel = model.state_dict()["0/kernel:0"]
    assert event.weights["high"][0] == pytest.approx(max(kernel.max(), 0.0), rel=1e-3, abs=0.1)
    gradients = subject.gradients(x[:32], x[:32, :2])
    whole = np.concatenate([gradients[n].ravel() for n in ("2/kernel:0", "2/bias:0")])
    assert (event.gradients["low"][1], event.gradients["high"][1]) == (
        pytest.approx(whole.min(), rel=2e-3),
        pytest.approx(whole.max(), rel=2e-3),
    )
    assert event.outputs["low"][1] == 0
