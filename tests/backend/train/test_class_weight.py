"""Class weights and a validation split, against the frameworks' own losses, Keras' rule and scikit-learn's weights."""

import importlib

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.class_weight import compute_class_weight

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError
from labdl.train import SGD, Trainer

pytestmark = pytest.mark.sample(backends=1)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = np.array([0] * 12 + [1] * 5 + [2] * 3)
WEIGHTS = {0: 0.5, 2: 4.0}
EACH = np.array([0.5, 1.0, 4.0], "float32")[Y]
RATE = 0.1


def torch(z, y, w):
    import torch as t

    z = t.tensor(z, requires_grad=True)
    loss = (t.nn.functional.cross_entropy(z, t.tensor(y), reduction="none") * t.tensor(w)).mean()
    loss.backward()
    return loss.detach().numpy(), z.grad.numpy()


def tensorflow(z, y, w):
    import tensorflow as tf

    z = tf.Variable(z)
    with tf.GradientTape() as tape:
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, z, sample_weight=w)
    return loss.numpy(), tf.convert_to_tensor(tape.gradient(loss, z)).numpy()


def paddle(z, y, w):
    import paddle as p

    z = p.to_tensor(z, stop_gradient=False)
    each = p.nn.functional.cross_entropy(z, p.to_tensor(y), reduction="none").reshape([-1])
    loss = (each * p.to_tensor(w)).mean()
    loss.backward()
    return loss.numpy(), z.grad.numpy()


def mindspore(z, y, w):
    ms = importlib.import_module("mindspore")
    labels, weights = ms.Tensor(y.astype("int32")), ms.Tensor(w)

    def weighted(scores):
        return (ms.ops.cross_entropy(scores, labels, reduction="none") * weights).mean()

    loss, gradient = ms.value_and_grad(weighted)(ms.Tensor(z))
    return loss.asnumpy(), gradient.asnumpy()


NATIVE = {"torch": torch, "tensorflow": tensorflow, "paddle": paddle, "mindspore": mindspore}


def trainer(backend, outputs=3, loss="cross_entropy", **options):
    model = nn.Sequential(nn.Linear(outputs)).build((None, 4), backend=backend.name, seed=0)
    return Trainer(model, loss, SGD(RATE), seed=0, **options)


@pytest.mark.parametrize("options", [{}, {"compiled": False}, {"accumulate": 2, "batch_size": 10}], ids=str)
def test_a_step_is_that_of_the_framework(backend, options):
    t = trainer(backend, **options)
    before = t.model.state_dict()
    loss, gradient = NATIVE[backend.name](X @ before["0/kernel:0"] + before["0/bias:0"], Y, EACH)
    history = t.fit(X, Y, class_weight=WEIGHTS, shuffle=False, progress=False)
    np.testing.assert_allclose(history["loss"], [loss], rtol=1e-5)
    np.testing.assert_allclose(
        t.model.state_dict()["0/kernel:0"], before["0/kernel:0"] - RATE * X.T @ gradient, rtol=1e-4, atol=1e-6
    )


def test_weights_are_for_the_training_alone(backend):
    t = trainer(backend)
    plain = trainer(backend).evaluate((X, Y))
    history = t.fit(X, Y, validation=(X, Y), class_weight=WEIGHTS, progress=False)
    assert history["val_loss"] == [t.evaluate((X, Y))["loss"]]
    assert history["loss"] != pytest.approx([plain["loss"]])
    again = trainer(backend)
    again.model.load_state_dict(t.model.state_dict())
    assert t.fit(X, Y, progress=False) == again.fit(X, Y, progress=False)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_one_weight_for_each_class(backend, kind):
    wanted = trainer(backend).fit(X, Y, class_weight=WEIGHTS, progress=False)
    assert trainer(backend).fit(X, Y, class_weight=kind([0.5, 1.0, 4.0]), progress=False) == wanted


def test_balanced_weights(backend):
    classes = np.unique(Y)
    weights = dict(zip(classes.tolist(), compute_class_weight("balanced", classes=classes, y=Y), strict=True))
    wanted = trainer(backend).fit(X, Y, class_weight=weights, progress=False)
    assert trainer(backend).fit(X, Y, class_weight="balanced", progress=False) == wanted
    names = np.array(["a", "b", "c"])
    by_name = {str(names[c]): w for c, w in weights.items()}
    assert trainer(backend).fit(X, names[Y], class_weight=by_name, progress=False) == wanted
    one_hot = trainer(backend).fit(X, np.eye(3)[Y], class_weight="balanced", progress=False)
    assert one_hot["loss"] == pytest.approx(wanted["loss"], rel=1e-6)


def test_two_classes_with_one_output(backend):
    t, y = trainer(backend, 1, "bce"), Y > 0
    z = labdl.predict(t.model, X)[:, 0].astype("float64")
    each = np.where(y, 3.0 * np.logaddexp(0, -z), np.logaddexp(0, z))
    history = t.fit(X, y, class_weight={1: 3.0}, progress=False)
    np.testing.assert_allclose(history["loss"], [each.mean()], rtol=1e-5)


def test_ignored_positions_have_no_weight(backend):
    y = np.where(np.arange(20) % 4 == 0, -100, Y)
    kept = y != -100
    t = trainer(backend)
    z = labdl.predict(t.model, X)
    loss = NATIVE[backend.name](z[kept], y[kept], EACH[kept])[0]
    np.testing.assert_allclose(t.fit(X, y, class_weight=WEIGHTS, progress=False)["loss"], [loss], rtol=1e-5)


@pytest.mark.parametrize(
    ("loss", "weights", "message"),
    [
        ("mse", WEIGHTS, "class_weight wants a loss of classes .* the training has mean_squared_error"),
        (lambda o, t: ops.mean(o), WEIGHTS, "class_weight wants a loss of classes"),
        ("ce", {3: 1.0}, "the classes are 0 to 2, received 3"),
        ("ce", {"a": 1.0}, "the classes are 0 to 2, received 'a'"),
        ("ce", {0: -1.0}, "a weight is a number at least 0, received -1.0 for 0"),
        (
            "ce",
            "equal",
            "such as {0: 1.0, 1: 5.0}, one for each class, or 'balanced'; there are 3 classes, received 'equal'",
        ),
        ("ce", [1.0, 2.0], r"there are 3 classes, received \[1.0, 2.0\]"),
        ("ce", np.eye(3), "there are 3 classes, received array"),
        ("ce", [0, 0, 0], "with all of them 0 there is nothing to learn"),
    ],
)
def test_invalid_weights_are_refused(backend, loss, weights, message):
    y = X[:, :3] if loss == "mse" else Y
    with pytest.raises(ConfigError, match=message):
        trainer(backend, loss=loss).fit(X, y, class_weight=weights, progress=False)


# -- validation split


@pytest.mark.filterwarnings("ignore:validation_split leaves no sample:UserWarning")
def test_the_last_samples_are_held_back(backend):
    wanted = trainer(backend).fit(X[:14], Y[:14], validation=(X[14:], Y[14:]), epochs=2, batch_size=4, progress=False)
    for share in (0.3, np.float64(0.3), np.float32(0.3) - np.float32(1e-6)):
        split = {"validation_split": share, "validation_from": "last"}
        assert trainer(backend).fit(X, Y, **split, epochs=2, batch_size=4, progress=False) == wanted
    assert "val_loss" not in trainer(backend).fit(X, Y, validation_split=0.0, progress=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validation_split": 1.0}, "a share of the samples of at least 0 and below 1, received 1.0"),
        ({"validation_split": 0.999}, "of 20 samples leaves 0 for training and 20 for validation"),
        ({"validation_split": 0.5, "validation": (X, Y)}, "exclude each other"),
    ],
)
def test_invalid_splits_are_refused(backend, options, message):
    with pytest.raises(ConfigError, match=message):
        trainer(backend).fit(X, Y, progress=False, **options)


def test_a_stream_has_no_last_samples(backend):
    with pytest.raises(ConfigError, match="received generator: collect its samples first"):
        trainer(backend).fit((row for row in X), validation_split=0.5, progress=False)
