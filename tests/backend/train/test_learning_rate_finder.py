"""`Trainer.find_learning_rate`: the loss over a growing rate, a suggestion, and everything else as it was."""

import random
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from interrupted import DATA, Net, equal, own_seeds

import labdl
from labdl import data, nn, train
from labdl.errors import ConfigError
from labdl.train import SGD, Adam, Trainer
from labdl.train.learning_rate_finder import LearningRateCurve

pytestmark = pytest.mark.sample(backends=1)

X = np.random.default_rng(0).normal(size=(64, 5)).astype("float32")
W = np.random.default_rng(1).normal(size=(5, 1)).astype("float32")


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def linear(backend, **settings):
    model = nn.Sequential(nn.Linear(1, use_bias=False)).build((None, 5), backend=backend.name, seed=0)
    return Trainer(model, loss="mse", backend=backend.name, seed=1, **{"optimizer": SGD(0.1), **settings})


def test_losses_are_those_of_gradient_descent(backend):
    """Written out in NumPy: the rate before step t is 1e-4 times 10^(4 t / 19), the average has the weight 0.98."""
    subject = linear(backend)
    weight = next(iter(subject.model.state_dict().values())).astype("float64")
    curve = subject.find_learning_rate(
        (X, X @ W), min_lr=1e-4, max_lr=1.0, num_training=20, early_stop_threshold=None, batch_size=64
    )
    rates, losses, average = 1e-4 * 10 ** (4 * np.arange(20) / 19), [], 0.0
    for step, rate in enumerate(rates, 1):
        error = X.astype("float64") @ weight - X @ W
        average = 0.98 * average + 0.02 * np.mean(error**2)
        losses.append(average / (1 - 0.98**step))
        weight = weight - rate * 2 * X.T @ error / len(X)
    np.testing.assert_allclose(curve.learning_rates, rates, rtol=1e-9)
    np.testing.assert_allclose(curve.losses, losses, rtol=2e-4)


def test_everything_else_is_as_it_was(backend):
    """Parameters, statistics, slots, progress and random numbers, in the middle of a training."""
    labdl.seed(3)
    subject = Trainer(Net(), backend=backend.name, seed=1, optimizer=Adam(0.01), metrics=["accuracy"])
    subject.fit(DATA, epochs=1, batch_size=16, progress=False)
    before, loop = subject.state_dict(), subject.loop
    states = random.getstate(), np.random.get_state()[1].copy()
    curve = subject.find_learning_rate(DATA, num_training=12, min_lr=1e-5)
    assert len(curve.losses) == 12
    assert equal(subject.state_dict(), before)
    assert subject.loop is loop
    assert random.getstate() == states[0]
    np.testing.assert_array_equal(np.random.get_state()[1], states[1])
    batch = tuple(part[:16] for part in DATA)
    values, state = subject.train_one_batch(*batch), subject.state_dict()
    subject.load_state_dict(before)
    assert subject.train_one_batch(*batch) == values  # with the random numbers of dropout
    assert equal(subject.model.state_dict(), state["parameters"])


def test_a_model_that_is_not_built_trains_as_without_it(backend):
    labdl.seed(3)
    plain = Trainer(Net(), backend=backend.name, seed=1, optimizer=Adam(0.01))
    expected = plain.fit(DATA, epochs=1, batch_size=16, progress=False)
    labdl.seed(3)
    subject = Trainer(Net(), backend=backend.name, seed=1, optimizer=Adam(0.01))
    subject.find_learning_rate(DATA, num_training=5)
    assert subject.progress is None
    labdl.seed(3)
    np.testing.assert_allclose(
        subject.fit(DATA, epochs=1, batch_size=16, progress=False)["loss"], expected["loss"], rtol=1e-6
    )


@pytest.mark.filterwarnings("ignore:overflow")
def test_it_ends_where_the_loss_explodes(backend):
    subject = linear(backend)
    before = subject.model.state_dict()
    # no weights fit these targets to the bit: a gradient of exactly 0 would withstand any rate
    train = X, X @ W + np.random.default_rng(2).normal(size=(64, 1)).astype("float32")
    curve = subject.find_learning_rate(train, min_lr=1e-3, max_lr=1e6, num_training=300, batch_size=64)
    assert 10 < len(curve.losses) < 200
    assert np.isfinite(curve.losses).all()
    assert curve.losses[-1] > 4 * curve.losses.min()
    assert equal(subject.model.state_dict(), before)
    endless = subject.find_learning_rate(
        train, min_lr=1e-3, max_lr=1e12, num_training=300, early_stop_threshold=None, batch_size=64
    )
    assert len(endless.losses) < 300  # a loss that is not finite ends it
    assert equal(subject.model.state_dict(), before)


def test_rates_of_groups_grow_in_proportion(backend):
    model = nn.Sequential(nn.Linear(2), nn.Linear(1)).build((None, 5), backend=backend.name, seed=0)
    frozen = {"0/*": {"learning_rate": 0.0}}
    subject = Trainer(model, loss="mse", backend=backend.name, optimizer=SGD(0.1, groups=frozen), seed=1)
    subject.find_learning_rate((X, X @ W), num_training=5)
    assert subject.learning_rate == 0.1


def test_streams_and_loaders(backend):
    loader = data.Loader(data.ArrayDataset(X, X @ W), 16, shuffle=True)
    assert len(linear(backend).find_learning_rate(loader, num_training=9).losses) == 9


def test_settings_of_the_training_are_left_out(backend, tmp_path):
    settings = {
        "average": train.EMA(0.9),
        "stopping": train.EarlyStopping("loss", patience=1),
        "checkpoint": train.Checkpoint(tmp_path / "kept", every=1),
        "max_steps": 2,
        "epochs": 1,
        "output_dir": tmp_path / "run",
    }
    assert len(linear(backend, **settings).find_learning_rate((X, X @ W), num_training=11).losses) == 11
    assert not list(tmp_path.iterdir())


def test_the_suggestion_is_the_steepest_descent():
    rates = np.logspace(-6, 0, 61)
    losses = 1 - 0.8 / (1 + np.exp(-4 * (np.log10(rates) + 3)))  # steepest at 1e-3
    curve = LearningRateCurve(rates, losses)
    np.testing.assert_allclose(curve.suggestion(), 1e-3, rtol=1e-9)
    assert repr(curve) == "LearningRateCurve(61 steps from 1e-06 to 1, suggestion 0.001)"
    assert LearningRateCurve(rates, np.arange(61.0)).suggestion() is None
    assert LearningRateCurve(rates[:5], losses[:5]).suggestion() is None


@pytest.mark.parametrize("count", [1, 2, 61])
def test_the_plot_is_a_picture_with_a_description(count):
    rates = np.logspace(-6, 0, 61)[:count]
    losses = np.linspace(3, 1, 61)[:count] ** 2
    picture = ET.fromstring(LearningRateCurve(rates, losses)._repr_html_())
    assert picture.tag.endswith("svg")
    title = picture[0].text
    assert title.startswith("Loss over the learning rate")
    assert ("falls fastest at" in title) == (count == 61)
    numbers = "".join(part.get("d", "") for part in picture)
    assert "nan" not in numbers
    assert "inf" not in numbers


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_lr": 0}, "min_lr wants a number above 0, received 0"),
        ({"max_lr": float("nan")}, "max_lr wants a number above 0, received nan"),
        ({"min_lr": 1.0, "max_lr": 0.1}, "min_lr wants a number below max_lr, received 1.0 and 0.1"),
        ({"num_training": 1}, "num_training wants a number of steps from 2 to 1,000,000, received 1"),
        ({"early_stop_threshold": 1}, "early_stop_threshold wants a factor above 1 or None, received 1"),
    ],
)
def test_wrong_settings(settings, message, backend):
    with pytest.raises(ConfigError, match=message):
        linear(backend).find_learning_rate((X, X @ W), **settings)


def test_a_trainer_of_several_phases_is_refused(backend):
    class Two(Trainer):
        def phases(self):
            return [train.Phase("a", self.loss_and_output), train.Phase("b", self.loss_and_output)]

    subject = Two(nn.Sequential(nn.Linear(1)), loss="mse", backend=backend.name)
    with pytest.raises(ConfigError, match="find_learning_rate wants one phase"):
        subject.find_learning_rate((X, X @ W))
