"""Losses and metrics of several outputs, with weights: values and gradients against sums of single losses."""

import numpy as np
import pytest

from labdl import nn, ops
from labdl.errors import ConfigError
from labdl.train import SGD, Trainer

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 4)).astype("float32")
LABEL, SIZE = RNG.integers(0, 3, 24), RNG.normal(size=(24, 2)).astype("float32")
RATE = 0.1


class Named(nn.Module):
    def __init__(self):
        self.label, self.size = nn.Linear(3, use_bias=False), nn.Linear(2, use_bias=False)

    def forward(self, x):
        return {"label": self.label(x), "size": self.size(x)}


class Placed(Named):
    def forward(self, x):
        return self.label(x), self.size(x)


def trainer(backend, cls=Named, **settings):
    model = cls().build((None, 4), backend=backend.name, seed=0)
    return Trainer(model, optimizer=SGD(RATE), backend=backend.name, seed=1, **settings)


def step_by_hand(weights, label_weight, size_weight):
    """The losses of a batch and the kernels after a step, in NumPy."""
    label, size = (weights[name].astype("float64") for name in ("label/kernel:0", "size/kernel:0"))
    z = X @ label
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    error = X @ size - SIZE
    losses = -np.log(p[np.arange(24), LABEL]).mean(), np.mean(error**2)
    label = label - RATE * label_weight * X.T @ (p - np.eye(3)[LABEL]) / 24
    return losses, label, size - RATE * size_weight * 2 * X.T @ error / error.size


@pytest.mark.parametrize("compiled", [False, None])
@pytest.mark.parametrize("weights", [None, {"size": 0.25}, {"label": 2, "size": 0.0}], ids=str)
def test_losses_by_name(backend, weights, compiled):
    subject = trainer(
        backend,
        loss={"label": "cross_entropy", "size": nn.MeanSquaredErrorLoss()},
        loss_weights=weights,
        compiled=compiled,
    )
    by_name = {"label": 1.0, "size": 1.0, **(weights or {})}
    (label, size), *kernels = step_by_hand(subject.model.state_dict(), by_name["label"], by_name["size"])
    targets = {"label": LABEL, "size": SIZE}
    history = subject.fit(X, targets, batch_size=24, validation=(X, targets), progress=False)
    total = by_name["label"] * label + by_name["size"] * size
    for name, value in (("loss", total), ("loss_label", label), ("loss_size", size)):
        np.testing.assert_allclose(history[name], [value], rtol=1e-5)
    for value, expected in zip(subject.model.state_dict().values(), kernels, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
    after, *_ = step_by_hand(subject.model.state_dict(), 1, 1)
    np.testing.assert_allclose([history["val_loss_label"][0], history["val_loss_size"][0]], after, rtol=1e-5)
    np.testing.assert_allclose(
        history["val_loss"], [by_name["label"] * after[0] + by_name["size"] * after[1]], rtol=1e-5
    )


def test_losses_by_place(backend):
    subject = trainer(backend, Placed, loss=["cross_entropy", {"name": "mean_squared_error"}], loss_weights=[1, 0.5])
    (label, size), *kernels = step_by_hand(subject.model.state_dict(), 1, 0.5)
    history = subject.fit(X, (LABEL, SIZE), batch_size=24, progress=False)
    np.testing.assert_allclose(
        [history["loss"][0], history["loss_0"][0], history["loss_1"][0]], [label + 0.5 * size, label, size], rtol=1e-5
    )
    for value, expected in zip(subject.model.state_dict().values(), kernels, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_metrics_by_output(backend, tmp_path):
    subject = trainer(
        backend,
        loss={"label": "cross_entropy", "size": "mse"},
        metrics={"label": ["accuracy", {"name": "top_k_accuracy", "k": 2}], "size": "mae"},
    )
    before, targets = subject.model.state_dict(), {"label": LABEL, "size": SIZE}
    history = subject.fit(X, targets, batch_size=7, shuffle=False, validation=(X, targets), progress=False, epochs=2)
    assert {"label_accuracy", "label_top_k_accuracy", "size_mean_absolute_error"} < history.keys()
    values = subject.evaluate(X, targets)
    after = subject.model.state_dict()
    assert values["label_accuracy"] == np.mean((X @ after["label/kernel:0"]).argmax(1) == LABEL)
    np.testing.assert_allclose(
        values["size_mean_absolute_error"], np.abs(X @ after["size/kernel:0"] - SIZE).mean(), rtol=1e-5
    )
    assert history["val_label_accuracy"][-1] == values["label_accuracy"]
    again = trainer(
        backend,
        loss={"label": "cross_entropy", "size": "mse"},
        metrics={"label": ["accuracy", {"name": "top_k_accuracy", "k": 2}], "size": "mae"},
    )
    again.model.load_state_dict(before)
    run = again.start(
        X, targets, batch_size=7, shuffle=False, validation=(X, targets), epochs=2, health=0.5, folder=tmp_path / "run"
    )
    run.wait()
    assert run.status == "finished"
    np.testing.assert_array_equal(again.model.state_dict()["size/kernel:0"], after["size/kernel:0"])


def test_weights_of_losses_of_a_method(backend):
    class Own(Trainer):
        def loss(self, output, target):
            return {"fit": ops.mean(ops.square(output["size"] - target["size"])), "decay": ops.mean(output["label"])}

    def fitted(**settings):
        model = Named().build((None, 4), backend=backend.name, seed=0)
        own = Own(model, optimizer=SGD(RATE), backend=backend.name, **settings)
        return own.fit(X, {"size": SIZE}, batch_size=24, progress=False)

    plain, weighted = fitted(), fitted(loss_weights={"decay": 3})
    assert weighted["loss_decay"] == plain["loss_decay"]
    np.testing.assert_allclose(weighted["loss"][0], plain["loss_fit"][0] + 3 * plain["loss_decay"][0], rtol=1e-5)


def mean_label(output, target):
    return ops.mean(output["label"])


@pytest.mark.parametrize(
    ("settings", "y", "sentence"),
    [
        (
            {"loss": {"label": "cross_entropy", "size": "mse"}},
            LABEL,
            "losses are of the outputs label, size, the target",
        ),
        (
            {"loss": {"label": "cross_entropy", "area": "mse"}},
            {"label": LABEL, "area": SIZE},
            "the output of the model has the parts label, size",
        ),
        ({"loss": ["cross_entropy", "mse"]}, (LABEL, SIZE), "losses of 2 outputs, the output"),
        ({"loss": {"label": "cross_entropie"}}, LABEL, "loss of the output label: loss wants"),
        ({"loss": {}}, LABEL, "a loss for each output"),
        ({"loss": mean_label, "loss_weights": {"a": 1}}, LABEL, "the losses are one without a name"),
        (
            {"loss": {"label": "cross_entropy", "size": "mse"}, "loss_weights": {"a": 1}},
            {"label": LABEL, "size": SIZE},
            "loss_weights has a, the losses are label, size",
        ),
        ({"loss_weights": {"a": -1}}, LABEL, "at least 0, received -1"),
        ({"loss_weights": 3}, LABEL, "a dictionary or a list"),
        (
            {"loss": {"label": "cross_entropy", "size": "mse"}, "metrics": {"area": "mae"}},
            {"label": LABEL, "size": SIZE},
            "the metric area_mean_absolute_error",
        ),
    ],
)
def test_what_does_not_fit(backend, settings, y, sentence):
    with pytest.raises(ConfigError, match=sentence):
        trainer(backend, **settings).fit(X, y, progress=False)
