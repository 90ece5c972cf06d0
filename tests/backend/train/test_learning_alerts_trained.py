"""Alerts for trainings that do not learn, and none for those that do, on a backend."""

import math

import numpy as np
import pytest
from interrupted import own_seeds
from test_trainer_phases import GAN, GANTrainer

import labdl
from labdl import nn
from labdl.train import SGD, Adam, Alert, Trainer
from labdl.train.monitor.chance import ClassCounter

pytestmark = pytest.mark.sample(backends=["torch"])


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


TRAIN, _ = labdl.data.digits()
X, Y = TRAIN.arrays
DRAW = np.random.default_rng(0)


def classifier():
    return nn.Sequential(nn.Flatten(), nn.Linear(32), nn.ReLU(), nn.Linear(10))


def alerts(trainer, data, **options):
    return [event for event in trainer.events(data, health=0, **options) if isinstance(event, Alert)]


def test_huge_learning_rate_raises_divergence_within_two_steps(backend):
    trainer = Trainer(classifier(), optimizer=SGD(1e12), backend=backend.name, seed=0)
    (found,) = alerts(trainer, (X[:64], Y[:64]), epochs=1, batch_size=32)
    assert (found.alert, found.level, found.step) == ("divergence", "error", 2)
    assert "smaller learning rate" in found.message


def test_run_with_a_huge_learning_rate_records_its_alert(backend, tmp_path):
    trainer = Trainer(classifier(), optimizer=SGD(1e12), backend=backend.name, seed=0)
    run = trainer.start((X[:64], Y[:64]), epochs=1, batch_size=32, folder=tmp_path / "run")
    run.wait()
    (found,) = labdl.runs.open(tmp_path / "run").alerts
    assert found["alert"] == "divergence"
    assert found["template"].startswith("The training loss grew from %1 to %2")
    assert found["values"][2] == "2"


def test_validation_after_one_huge_update_raises_divergence(backend):
    model = nn.Sequential(nn.Flatten(), nn.Linear(1))
    trainer = Trainer(model, "mean_squared_error", SGD(1e12), backend=backend.name, seed=0)
    data = X[:256], Y[:256, None].astype("float32")
    (found,) = alerts(trainer, data, epochs=1, batch_size=256, validation=data)
    assert (found.alert, found.level, found.step) == ("divergence", "error", 1)
    assert found.message.startswith("The validation loss is ")


@pytest.mark.parametrize("rate", [0.0, 1e-12])
def test_learning_rate_without_effect_raises_no_progress_after_three_epochs(backend, rate):
    trainer = Trainer(classifier(), optimizer=SGD(rate), metrics=["accuracy"], backend=backend.name, seed=0)
    (found,) = alerts(trainer, (X[:256], Y[:256]), epochs=12, batch_size=32)
    assert (found.alert, found.step) == ("no_progress", 24)


@pytest.mark.parametrize("rate", [1e-5, 1e-4])
def test_slow_descent_raises_no_alert(backend, rate):
    trainer = Trainer(classifier(), optimizer=SGD(rate), backend=backend.name, seed=0)
    assert alerts(trainer, (X[:256], Y[:256]), epochs=3, batch_size=32) == []


def test_random_labels_raise_chance_level(backend):
    """The loss is still coming down to the level of chance when the training ends."""
    draw = np.random.default_rng(0)
    data = draw.normal(size=(256, 4)).astype("float32"), draw.permutation(256) % 2
    model = nn.Sequential(nn.Linear(2))
    trainer = Trainer(model, optimizer=Adam(3e-3), metrics=["accuracy"], backend=backend.name, seed=0)
    (found,) = alerts(trainer, data, epochs=20, batch_size=32)
    assert found.alert == "chance_level"


def test_learning_rate_near_zero_raises_no_progress(backend):
    target = 30 + DRAW.normal(size=(256, 1)).astype("float32")
    model = nn.Sequential(nn.Flatten(), nn.Linear(1))
    trainer = Trainer(model, "mean_squared_error", SGD(1e-12), backend=backend.name, seed=0)
    (found,) = alerts(trainer, (X[:256], target), epochs=5, batch_size=8)
    assert (found.alert, found.level) == ("no_progress", "warning")


def test_inputs_without_information_raise_chance_level(backend):
    trainer = Trainer(classifier(), optimizer=Adam(1e-3), metrics=["accuracy"], backend=backend.name, seed=0)
    (found,) = alerts(trainer, (X[:320] * 0, Y[:320]), epochs=5, batch_size=32)
    assert (found.alert, found.level) == ("chance_level", "warning")
    assert "10 classes" in found.message


@pytest.mark.parametrize("rate", [0.03, 0.3])
def test_classifier_that_learns_raises_no_alert(backend, rate):
    trainer = Trainer(classifier(), optimizer=SGD(rate), metrics=["accuracy"], backend=backend.name, seed=0)
    assert alerts(trainer, TRAIN, epochs=3, batch_size=16) == []


@pytest.mark.sample(False)
def test_adversarial_training_raises_no_alert(backend):
    model = GAN().build((None, 16), backend=backend.name, seed=0)
    trainer = GANTrainer(model, optimizer=Adam(2e-3, beta_1=0.5), seed=0)
    assert alerts(trainer, (X[:512].reshape(-1, 64), Y[:512]), epochs=15, batch_size=64) == []


# -- the level of chance


def counted(loss, target, outputs=3):
    trainer = Trainer(nn.Sequential(nn.Linear(outputs)).build((None, 2)), loss)
    counter = ClassCounter(trainer.context)
    for part in np.array_split(target, 3):
        counter.add(part)
    return counter.chance()


def entropy(*share):
    return -sum(p * math.log(p) for p in share)


def test_level_of_chance_follows_the_classes_and_the_loss():
    target = np.array([0, 0, 0, 0, 1, 1, 1, 2] * 6)
    level = counted("cross_entropy", target)
    assert (level.classes, level.uniform, level.accuracy) == (3, math.log(3), 0.5)
    assert level.loss == pytest.approx(entropy(4 / 8, 3 / 8, 1 / 8))
    assert counted("cross_entropy", np.eye(3, dtype="float32")[target]).loss == pytest.approx(level.loss)
    assert counted(nn.CrossEntropyLoss(ignore_index=2), target).loss == pytest.approx(entropy(4 / 7, 3 / 7))
    weighted = counted(nn.CrossEntropyLoss(class_weights=(3.0, 4.0, 12.0)), target)
    assert weighted.loss == pytest.approx(math.log(3))
    smooth = counted(nn.CrossEntropyLoss(label_smoothing=0.3), target)
    assert smooth.loss == pytest.approx(entropy(*(0.7 * share + 0.1 for share in (4 / 8, 3 / 8, 1 / 8))))


def test_level_of_chance_of_labels_is_their_mean():
    target = np.array([[1, 0], [0, 0], [0, 0], [0, 1]] * 3, "float32")
    level = counted("binary_cross_entropy", target, 2)
    assert level.loss == pytest.approx(entropy(1 / 4, 3 / 4))
    assert (level.classes, level.accuracy) == (2, 0.75)


def test_no_level_of_chance_for_other_losses_and_for_one_class():
    assert counted("mean_squared_error", np.ones((12, 3), "float32")) is None
    assert counted(nn.CrossEntropyLoss(reduction="sum"), np.array([0, 1, 2])) is None
    assert counted("cross_entropy", np.zeros(12, int)) is None
    assert ClassCounter(Trainer(nn.Sequential(nn.Linear(3)), lambda output, y: output.mean()).context).chance() is None
