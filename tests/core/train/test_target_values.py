"""Targets that a loss does not take are refused before the first step, with what to write."""

import numpy as np
import pytest

from labdl import data, nn
from labdl.errors import ConfigError
from labdl.nn.loss.target_values import CLASSES, COUNTS, PROBABILITIES, SIGNS
from labdl.train import Trainer
from labdl.train.losses import losses

X = np.ones((6, 4), "float32")
BAD = {  # codes of two classes that people write, and the advice
    PROBABILITIES: {
        (0, 255): "write y / 255",
        (1, 2): "write y - 1",
        (-1, 1): r"write \(y \+ 1\) / 2",
        (3, 7): r"\(y == 7\)",
    },
    SIGNS: {(0, 1): r"write 2 \* y - 1", (1, 2): r"write 2 \* y - 3", (0, 255): "write y / 127.5 - 1"},
    COUNTS: {(-1, 1): "choose a loss of numbers"},
    CLASSES: {(0, 3): "have classes from 0 to 3, the model's output has room for 3", (-1, 1): "from -1 to 1"},
}
DECLARED = {name: cls for name, cls in losses().items() if getattr(cls, "target_values", None) in BAD}
CASES = [(name, codes) for name, cls in DECLARED.items() for codes in BAD[cls.target_values]]


def trainer_and_targets(name, codes, dtype="int64"):
    is_class = DECLARED[name].target_values is CLASSES
    y = np.array([codes[0], codes[1]] * 3, dtype)
    model = nn.Sequential(nn.Linear(3 if is_class else 1), *([] if is_class else [nn.Sigmoid()]))
    return Trainer(model.build((None, 4), backend="torch", seed=0), name), y if is_class else y[:, None]


def refuse_steps(monkeypatch):
    monkeypatch.setattr("labdl.train.trainer.train_step", lambda *_: pytest.fail("a step was trained"))


@pytest.mark.parametrize(("name", "codes"), CASES)
@pytest.mark.filterwarnings("ignore:.*sigmoid")
def test_wrong_codes_are_refused_before_the_first_step(name, codes, monkeypatch):
    subject, y = trainer_and_targets(name, codes)
    advice = BAD[DECLARED[name].target_values][codes]
    refuse_steps(monkeypatch)
    for train in ((X, y), data.Loader(data.ArrayDataset(X, y), 2), data.IterableDataset(list(zip(X, y, strict=True)))):
        with pytest.raises(ConfigError, match=advice if isinstance(train, tuple) else None):
            subject.fit(train, progress=False)
    with pytest.raises(ConfigError, match=advice):
        subject.train_one_batch(X, y)
    with pytest.raises(ConfigError, match=advice):
        subject.evaluate(X, y)


@pytest.mark.parametrize("name", DECLARED)
@pytest.mark.filterwarnings("ignore:.*sigmoid")
def test_right_codes_are_taken(name):
    codes = {PROBABILITIES: (0, 1), SIGNS: (-1, 1), COUNTS: (0, 9), CLASSES: (0, 2)}[DECLARED[name].target_values]
    for dtype in ("int64", "float32", "float64"):
        subject, y = trainer_and_targets(name, codes, dtype)
        subject.fit(X, y, batch_size=6, progress=False)


def test_later_batch_of_a_stream_and_validation_data_are_checked():
    good, bad = np.array([[0.0], [1.0]] * 3, "float32"), np.array([[0.0], [1.0], [1], [1], [2.0], [0]], "float32")
    model = nn.Sequential(nn.Linear(1)).build((None, 4), backend="torch", seed=0)
    subject = Trainer(model, "binary_cross_entropy")
    for values in (bad, good):
        stream = data.IterableDataset(list(zip(X, values, strict=True)))
        if values is bad:
            with pytest.raises(
                ConfigError, match="values from 0 to 2, the loss binary_cross_entropy takes values from 0 to 1"
            ):
                subject.fit(stream, batch_size=2, progress=False)
    for validation in ((X, bad), data.IterableDataset(list(zip(X, bad, strict=True)))):
        with pytest.raises(ConfigError, match="values from 0 to 2"):
            subject.fit(X, good, validation=validation, progress=False)


def test_losses_of_outputs_are_checked():
    class Two(nn.Module):
        def setup(self, x):
            self.layer = nn.Linear(1)

        def forward(self, x):
            return {"a": self.layer(x), "b": self.layer(x)}

    subject = Trainer(Two().build((None, 4), backend="torch", seed=0), {"a": "mse", "b": "binary_cross_entropy"})
    y = np.array([[0.0], [255.0]] * 3, "float32")
    with pytest.raises(
        ConfigError, match="the loss binary_cross_entropy of the output b takes values from 0 to 1: write y / 255"
    ):
        subject.fit(X, {"a": y, "b": y}, progress=False)
    subject.fit(X, {"a": y, "b": y / 255}, progress=False)


def test_ignored_class_and_weights_of_samples():
    model = nn.Sequential(nn.Linear(3)).build((None, 4), backend="torch", seed=0)
    subject = Trainer(model, nn.CrossEntropyLoss(ignore_index=-1))
    subject.fit(X, np.array([0, 1, 2, -1, 0, 1]), progress=False)
    with pytest.raises(ConfigError, match="classes from 0 to 3"):
        subject.fit(X, np.array([0, 1, 3, -1, 0, 1]), sample_weight=np.ones(6), progress=False)
