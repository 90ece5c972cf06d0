"""Values that a training monitors: their direction comes from the metric, and a misspelt one raises before the first step."""

import numpy as np
import pytest

from labdl import nn, train
from labdl.errors import ConfigError
from labdl.train import Checkpoint, EarlyStopping, ReduceOnPlateau, Trainer
from labdl.train.directions import Monitor, find_direction
from labdl.train.metrics import METRICS, Metric

X = np.ones((4, 2), "float32")
CURVE = [0.70, 0.72, 0.83, 0.92]
DIRECTED = sorted(name for name, cls in METRICS.items() if cls.higher_is_better is not None)


def scripted(**options):
    """A trainer whose metric follows a curve, one value each epoch."""
    curve = list(options.pop("curve", CURVE))

    class Score(Metric):
        name = "score"
        higher_is_better = options.pop("higher", True)

        def statistics(self, output, target):
            return (0,)

        def value(self, *statistics):
            return curve[0]

    class Curve(train.Callback):
        def on_train_epoch_end(self, trainer, values):
            curve.pop(0)

    model = nn.Sequential(nn.Linear(1)).build((None, 2), backend="torch", seed=0)
    return Trainer(model, "mean_squared_error", train.SGD(0.0), metrics=[Score()], **options), [Curve()]


@pytest.mark.parametrize("name", DIRECTED)
@pytest.mark.parametrize("prefix", ["", "val_"])
def test_direction_of_each_metric(name, prefix):
    better = "max" if METRICS[name].higher_is_better else "min"
    values = (2.0, 1.0) if better == "max" else (1.0, 2.0)
    assert find_direction(Monitor("Checkpoint", prefix + name, "auto")) == better
    stopping = EarlyStopping(prefix + name)
    for epoch, value in enumerate(values, 1):
        stopping(train.Epoch(epoch, epoch, {prefix + name: value}, 1.0))
    assert (stopping.best, stopping.wait_count) == (values[0], 1)
    plateau = ReduceOnPlateau(prefix + name, patience=0, factor=0.5)
    for value in values:
        plateau.observe(value)
    assert plateau.state_dict() == {"best": values[0], "bad": 0, "resting": 0, "reductions": 1}


def test_losses_are_to_be_small_and_a_mode_is_obeyed():
    for name in ("loss", "val_loss", "loss_mask", "val_loss_mask"):
        assert find_direction(Monitor("EarlyStopping", name, "auto")) == "min"
        assert find_direction(Monitor("EarlyStopping", name, "max")) == "max"
    assert find_direction(Monitor("EarlyStopping", "anything", "min")) == "min"


@pytest.mark.parametrize("higher", [True, False])
def test_training_follows_the_direction_of_its_own_metric(tmp_path, higher):
    curve = CURVE if higher else CURVE[::-1]
    stopping = EarlyStopping("val_score", patience=1, restore_best=True)
    kept = Checkpoint(tmp_path, keep=1, monitor="val_score")
    plateau = ReduceOnPlateau("val_score", patience=0)
    subject, callbacks = scripted(curve=curve, higher=higher, stopping=stopping, schedule=plateau)
    history = subject.fit(X, X[:, :1], validation=(X, X[:, :1]), epochs=4, checkpoint=kept, callbacks=callbacks)
    assert history["val_score"] == curve, "the training was stopped while it improved"
    assert (stopping.best, stopping.best_epoch) == (curve[-1], 4)
    assert kept.best is not None
    assert kept.best.name == "step-00000004"
    assert subject.loop.learning_rate.plan.schedule.state_dict()["reductions"] == 0


MISSPELT = r"monitors 'val_acuracy', .*: did you mean '(val_)?accuracy'\?"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"stopping": EarlyStopping("val_acuracy")}, f"EarlyStopping {MISSPELT}"),
        ({"stopping": EarlyStopping("val_acuracy", mode="max")}, f"EarlyStopping {MISSPELT}"),
        ({"checkpoint": {"folder": "x", "monitor": "val_acuracy"}}, f"Checkpoint {MISSPELT}"),
        ({"schedule": ReduceOnPlateau("val_acuracy")}, f"ReduceOnPlateau {MISSPELT}"),
        ({"schedule": ReduceOnPlateau("val_acuracy", mode="min")}, f"ReduceOnPlateau {MISSPELT}"),
        ({"stopping": EarlyStopping("f1")}, "EarlyStopping monitors 'f1', the epoch has loss, accuracy, val_loss"),
        ({"stopping": EarlyStopping("val_size")}, 'write mode="min" or mode="max" for a value of your own'),
    ],
)
def test_misspelt_value_raises_before_the_first_step(part, message, monkeypatch):
    monkeypatch.setattr(Trainer, "train_one_batch", lambda *_: pytest.fail("a step was trained"))
    model = nn.Sequential(nn.Linear(2)).build((None, 2), backend="torch", seed=0)
    subject = Trainer(model, metrics=["accuracy"], **part)
    with pytest.raises(ConfigError, match=message):
        subject.fit(X, [0, 1, 1, 0], validation=(X, [0, 1, 1, 0]), progress=False)


def test_metric_without_a_direction_asks_for_one(tmp_path):
    subject, callbacks = scripted(higher=None, stopping=EarlyStopping("val_score"))
    with pytest.raises(ConfigError, match=r"which does not say whether higher is better; write mode=\"min\" or"):
        subject.fit(X, X[:, :1], callbacks=callbacks, progress=False)


def test_logged_values_are_monitored_with_a_mode():
    class Logs(train.Callback):
        def on_train_epoch_end(self, trainer, values):
            trainer.log("margin", 1.0)

    model = nn.Sequential(nn.Linear(1)).build((None, 2), backend="torch", seed=0)
    stopping = EarlyStopping("margin", mode="max", patience=1)
    subject = Trainer(model, "mean_squared_error", stopping=stopping)
    history = subject.fit(X, X[:, :1], epochs=5, callbacks=[Logs()], progress=False)
    assert history["margin"] == [1.0, 1.0]
