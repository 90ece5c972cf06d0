"""`fit(sample_weight=)`: one step against gradients written out in NumPy, with all that a training combines it with."""

import numpy as np
import pytest

from labdl import data, nn, ops
from labdl.errors import ConfigError
from labdl.train import SGD, Trainer

pytestmark = pytest.mark.sample(backends=1)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = np.array([0] * 12 + [1] * 5 + [2] * 3)
W = RNG.uniform(0.1, 3, 20)
RATE = 0.1


def classifier(backend, **settings):
    model = nn.Sequential(nn.Linear(3, use_bias=False)).build((None, 4), backend=backend.name, seed=0)
    settings = {"loss": "cross_entropy", **settings}
    return Trainer(model, optimizer=SGD(RATE), backend=backend.name, seed=1, **settings)


def kernel(subject):
    return next(iter(subject.model.state_dict().values())).astype("float64")


def gradient_step(weight, x, y, each, count):
    """A step of gradient descent on the weighted sum of cross-entropies, divided by a count."""
    z = x.astype("float64") @ weight
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -(each * np.log(p[np.arange(len(y)), y])).sum() / count
    return weight - RATE * x.T @ (each[:, None] * (p - np.eye(3)[y])) / count, loss


def fit(subject, x=X, y=Y, **options):
    return subject.fit(x, y, batch_size=20, epochs=1, shuffle=False, progress=False, **options)


@pytest.mark.parametrize("accumulate", [1, 4])
def test_a_step(backend, accumulate):
    subject = classifier(backend, accumulate=accumulate)
    expected, loss = gradient_step(kernel(subject), X, Y, W, 20)
    history = subject.fit(X, Y, batch_size=20 // accumulate, shuffle=False, sample_weight=W, progress=False)
    np.testing.assert_allclose(history["loss"], [loss], rtol=1e-5)
    np.testing.assert_allclose(kernel(subject), expected, rtol=1e-5, atol=1e-6)


def test_beside_class_weights(backend):
    subject = classifier(backend)
    classes = np.array([0.5, 1.0, 4.0])
    expected, _ = gradient_step(kernel(subject), X, Y, W * classes[Y], 20)
    fit(subject, sample_weight=W.tolist(), class_weight={0: 0.5, 2: 4.0})
    np.testing.assert_allclose(kernel(subject), expected, rtol=1e-5, atol=1e-6)


def test_ignored_targets_do_not_count(backend):
    subject = classifier(backend)
    y = np.where(np.arange(20) % 3 == 0, -100, Y)
    counted = y >= 0
    expected, loss = gradient_step(kernel(subject), X[counted], y[counted], W[counted], counted.sum())
    history = fit(subject, y=y, sample_weight=W)
    np.testing.assert_allclose(history["loss"], [loss], rtol=1e-5)
    np.testing.assert_allclose(kernel(subject), expected, rtol=1e-5, atol=1e-6)


def test_values_of_several_columns(backend):
    subject, y = classifier(backend, loss="mse"), RNG.normal(size=(20, 3)).astype("float32")
    weight = kernel(subject)
    error = X @ weight - y
    history = fit(subject, y=y, sample_weight=W[:, None])
    np.testing.assert_allclose(history["loss"], [np.mean(W[:, None] * error**2)], rtol=1e-5)
    expected = weight - RATE * 2 * X.T @ (W[:, None] * error) / error.size
    np.testing.assert_allclose(kernel(subject), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:validation_split leaves no sample:UserWarning")
def test_metrics_and_validation_are_not_weighted(backend):
    subject = classifier(backend, metrics=["accuracy"])
    last = {"validation_split": 0.25, "validation_from": "last"}
    history = fit(subject, sample_weight=np.where(np.arange(20) < 1, 1.0, 0.0), **last)
    model = kernel(classifier(backend))
    np.testing.assert_allclose(history["accuracy"], [np.mean((X[:15] @ model).argmax(1) == Y[:15])], atol=1e-6)
    _, loss = gradient_step(kernel(subject), X[15:], Y[15:], np.ones(5), 5)
    np.testing.assert_allclose(history["val_loss"], [loss], rtol=1e-5)
    fit(subject)  # and the next training is not weighted
    assert isinstance(subject.loss_function, nn.CrossEntropyLoss)


def test_weights_follow_their_samples(backend):
    """Shuffled, from a loader, a dictionary of inputs, and for text labels."""
    names = np.array(["ant", "bee", "cat"])[Y]
    runs = []
    for train in ((X, Y), data.Loader(data.ArrayDataset(X, Y), 5, shuffle=True, seed=1), (X, names)):
        subject = classifier(backend)
        options = {} if isinstance(train, data.Loader) else {"batch_size": 5}
        subject.fit(train, epochs=2, sample_weight=W, progress=False, **options)
        runs.append(kernel(subject))
    for other in runs[1:]:
        np.testing.assert_allclose(other, runs[0], rtol=1e-6)


def test_runs_with_health(backend, tmp_path):
    subject = classifier(backend, metrics=["accuracy"])
    run = subject.start(
        X, Y, sample_weight=W, epochs=3, batch_size=5, folder=tmp_path / "run", health=0.5, validation=(X, Y)
    )
    run.wait()
    assert run.status == "finished"
    plain = classifier(backend, metrics=["accuracy"])
    plain.fit(X, Y, sample_weight=W, epochs=3, batch_size=5, progress=False)
    np.testing.assert_array_equal(kernel(subject), kernel(plain))


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(19), "there are 20 samples, received the shape"),
        (np.ones((20, 2)), "there are 20 samples, received the shape"),
        (np.r_[np.ones(19), -1], "at least 0, received -1.0 for sample 19"),
        (np.r_[np.nan, np.ones(19)], "received nan for sample 0"),
        (np.zeros(20), "nothing to learn"),
        (["a"] * 20, "an array of weights"),
        (3.0, "an array of weights|received the shape"),
    ],
)
def test_wrong_weights(backend, weights, sentence):
    with pytest.raises(ConfigError, match=sentence):
        fit(classifier(backend), sample_weight=weights)


def test_data_and_losses_without_weights(backend):
    class Own(Trainer):
        def loss(self, output, target):
            return ops.mean(output)

    class Samples:
        def __len__(self):
            return 20

        def __getitem__(self, i):
            return X[i], Y[i]

    with pytest.raises(ConfigError, match="wants arrays x and y"):
        classifier(backend).fit(Samples(), sample_weight=W, progress=False)
    own = Own(classifier(backend).model, backend=backend.name)
    with pytest.raises(ConfigError, match="weight the samples in that loss"):
        fit(own, sample_weight=W)
    with pytest.raises(ConfigError, match="weight the samples in that loss"):
        fit(classifier(backend, loss=lambda output, target: ops.mean(output)), sample_weight=W)
