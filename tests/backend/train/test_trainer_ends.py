"""Early stopping, callbacks, changes during a training (learning rate, epochs, checkpoints), and the report."""

import logging
import math

import numpy as np
import pytest
import sklearn.metrics as sk

import labdl
from labdl import nn
from labdl.errors import ConfigError
from labdl.train import EMA, SGD, Adam, Checkpoint, EarlyStopping, Epoch, Start, Step, Trainer
from labdl.train.checkpoint import checkpoints

pytestmark = pytest.mark.sample(backends=1)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3)).astype("float32")
Y = RNG.normal(size=(24, 2)).astype("float32")


def trainer(backend, **options):
    model = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    return Trainer(model, "mean_squared_error", **{"optimizer": SGD(0.05), "seed": 0, **options})


class ScriptedTrainer(Trainer):
    """A trainer with given validation losses."""

    losses = ()

    def evaluate(self, dataset, batch_size=256, averaged=False):
        self.states = [*getattr(self, "states", []), self.model.state_dict()]
        return {"loss": self.losses[len(self.states) - 1]}


def scripted(backend, losses, **options):
    cls = type("Scripted", (ScriptedTrainer,), {"losses": losses})
    model = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    return cls(model, "mean_squared_error", SGD(0.05), seed=0, **options)


@pytest.mark.parametrize(
    ("losses", "options", "epochs", "best"),
    [
        ([3, 2, 1, 1, 1, 0], {"patience": 2}, 5, 3),
        ([3, 2, 2.95, math.nan, 5, 0], {"patience": 3}, 5, 2),
        ([1, 2, 3, 3, 2, 9], {"patience": 2, "mode": "max"}, 5, 3),
        ([3.0, 2.95, 2.9, 2.0, 1.9, 1.85], {"patience": 2, "min_delta": 0.5}, 3, 1),
        ([1, 2], {"patience": 0}, 2, 1),
        ([5, 4, 3, 2, 1, 0], {"patience": 1}, 6, 6),
    ],
)
@pytest.mark.parametrize("way", ["setting", "callback", "by hand"])
def test_early_stopping_ends_the_training(backend, losses, options, epochs, best, way):
    rule = EarlyStopping(**options)
    t = scripted(backend, losses, stopping=rule if way == "setting" else None)
    given = {"validation": (X, Y), "epochs": 6, "batch_size": 24, "callbacks": [rule] if way == "callback" else ()}
    ended = 0
    for event in t.events((X, Y), **given):
        if isinstance(event, Epoch):
            ended = event.epoch
        if way == "by hand" and rule(event):
            break
    assert (ended, rule.best_epoch) == (epochs, best)


def test_best_epoch_is_restored(backend):
    t = scripted(backend, [3, 1, 2, 2.5, 9], stopping={"patience": 2, "restore_best": True})
    t.fit(X, Y, validation=(X, Y), epochs=5, batch_size=8, progress=False)
    assert len(t.states) == 4
    for name, value in t.model.state_dict().items():
        np.testing.assert_array_equal(value, t.states[1][name])
        assert not np.array_equal(value, t.states[3][name])


def test_early_stopping_resumes(backend, tmp_path):
    losses = [3, 1, 2, 2.5, 9]
    broken = scripted(backend, losses, stopping={"patience": 3, "restore_best": True})
    for event in broken.events((X, Y), validation=(X, Y), epochs=5, batch_size=8, checkpoint=Checkpoint(tmp_path)):
        if isinstance(event, Epoch) and event.epoch == 3:
            break
    t = scripted(backend, losses[3:], stopping={"patience": 3, "restore_best": True})
    history = t.fit(X, Y, validation=(X, Y), epochs=5, batch_size=8, resume=tmp_path, progress=False)
    assert len(history["loss"]) == 5
    assert (t.settings.stopping.best, t.settings.stopping.best_epoch, t.settings.stopping.wait_count) == (1, 2, 3)
    for name, value in t.model.state_dict().items():
        np.testing.assert_array_equal(value, broken.states[1][name])


def test_early_stopping_without_validation_and_with_invalid_settings(backend):
    t = trainer(backend, optimizer=SGD(0.0), stopping=EarlyStopping(patience=2))
    assert len(t.fit(X, Y, epochs=9, batch_size=24, progress=False)["loss"]) == 3
    with pytest.raises(ConfigError, match="EarlyStopping monitors 'val_f1', the epoch has loss"):
        trainer(backend, stopping="val_f1").fit(X, Y, progress=False)
    with pytest.raises(ConfigError, match="give one EarlyStopping"):
        trainer(backend, stopping=EarlyStopping()).fit(X, Y, callbacks=[EarlyStopping()], progress=False)


# -- callbacks


def test_callbacks_receive_each_event_and_may_end_the_training(backend):
    received = []

    def collect(event):
        received.append(event)

    def enough(event):
        return isinstance(event, Step) and event.step == 4

    events = list(trainer(backend).events((X, Y), epochs=5, batch_size=8, callbacks=[collect, enough]))
    assert received == events
    assert [type(e) for e in events] == [Start, Step, Step, Step, Epoch, Step]
    with pytest.raises(ConfigError, match=r"callbacks wants a list of functions of an event: callbacks=\[.*enough\]"):
        trainer(backend).fit(X, Y, callbacks=enough)
    with pytest.raises(ConfigError, match="callbacks wants functions of an event, received 3"):
        trainer(backend).fit(X, Y, callbacks=[3])


def test_failing_callback_is_logged_and_disabled(backend, caplog):
    calls = []

    def plotting(event):
        calls.append(event)
        raise RuntimeError("no screen")

    with caplog.at_level(logging.ERROR):
        history = trainer(backend).fit(X, Y, epochs=2, progress=False, callbacks=[plotting])
    assert len(history["loss"]) == 2
    assert len(calls) == 1
    assert "plotting failed at Start" in caplog.text
    assert "no screen" in caplog.text


# -- during the training


@pytest.mark.parametrize("schedule", [None, "cosine_decay"])
def test_learning_rate_changed_during_training(backend, schedule, tmp_path):
    plain, rates = [], []
    for event in trainer(backend, schedule=schedule).events((X, Y), epochs=2, batch_size=8):
        plain.append(event)
    t = trainer(backend, schedule=schedule)
    expected = [0.05] * 6 if schedule is None else [labdl.train.CosineDecay(steps=6)(n, 0.05) for n in range(6)]
    for event in t.events((X, Y), epochs=2, batch_size=8, checkpoint=Checkpoint(tmp_path, every=1)):
        if isinstance(event, Step):
            rates.append(t.learning_rate)
            if event.step == 3:
                t.learning_rate = expected[3] / 2
    np.testing.assert_allclose(rates, [*expected[:3], *(r / 2 for r in expected[3:])], rtol=1e-5)
    again = trainer(backend, schedule=schedule)
    more = []
    for event in again.events((X, Y), epochs=2, batch_size=8, resume=tmp_path / "step-00000004"):
        if isinstance(event, Step):
            more.append(again.learning_rate)
    np.testing.assert_allclose(more, rates[4:], rtol=1e-5)


BASE = 0.05
WARM = labdl.train.LinearWarmup(steps=4)
PAUSED = labdl.train.Lambda(lambda step: 0.0 if 2 <= step < 4 else 1 - step / 10)


@pytest.mark.parametrize(
    ("schedule", "at", "rates"),
    [
        # at the first step of a warm-up: the warm-up ends at the new rate
        (WARM, 0, [0.01, *(0.01 * n / 4 for n in (1, 2, 3)), 0.01, 0.01]),
        # within a warm-up: the whole schedule is scaled, as with torch's LinearLR
        (WARM, 2, [0, BASE / 4, 0.01, 0.01 * 3 / 2, 0.02, 0.02]),
        # after the end of a schedule: constant
        (
            labdl.train.CosineDecay(steps=3),
            4,
            [*(labdl.train.CosineDecay(steps=3)(n, BASE) for n in range(4)), 0.01, 0.01],
        ),
        # at the end of a schedule: constant
        (
            labdl.train.CosineDecay(steps=4),
            4,
            [*(labdl.train.CosineDecay(steps=4)(n, BASE) for n in range(4)), 0.01, 0.01],
        ),
        # while the schedule is 0: constant, then the new base rate
        (PAUSED, 2, [BASE, BASE * 0.9, 0.01, 0.01, 0.01 * 0.6, 0.01 * 0.5]),
        # before the schedule is 0: it stays 0
        (PAUSED, 1, [BASE, 0.01, 0, 0, 0.01 / 0.9 * 0.6, 0.01 / 0.9 * 0.5]),
    ],
)
def test_learning_rate_set_while_the_schedule_is_zero(backend, schedule, at, rates, tmp_path):
    """Also after resuming from any later checkpoint."""
    t, seen = trainer(backend, schedule=schedule), []
    for event in t.events((X, Y), epochs=2, batch_size=8):
        if isinstance(event, Epoch):
            continue
        if isinstance(event, Step):
            seen.append(t.learning_rate)
        if event.step == at:
            t.learning_rate = 0.01
            assert t.learning_rate == pytest.approx(0.01)
        if event.step >= at and (
            event.step % 3 or not event.step
        ):  # at the end of an epoch its values are not complete yet
            t.loop.save(tmp_path)
    np.testing.assert_allclose(seen, rates, rtol=1e-5)
    for path in checkpoints(tmp_path):
        again, more = trainer(backend, schedule=schedule), []
        for event in again.events((X, Y), epochs=2, batch_size=8, resume=path):
            if isinstance(event, Step):
                more.append(again.learning_rate)
        np.testing.assert_array_equal(more, seen[len(seen) - len(more) :], err_msg=path.name)
        ours, theirs = again.model.state_dict(), t.model.state_dict()
        assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_learning_rate_of_zero_until_another_is_set(backend):
    t, seen = trainer(backend, schedule=PAUSED), []
    for event in t.events((X, Y), epochs=2, batch_size=8):
        if isinstance(event, Step):
            seen.append(t.learning_rate)
            if event.step in (1, 4):
                t.learning_rate = 0.0 if event.step == 1 else 0.02
    np.testing.assert_allclose(seen, [BASE, 0, 0, 0, 0.02, 0.02 / 0.6 * 0.5], rtol=1e-5)


def test_adding_epochs_saving_and_stopping_during_training(backend, tmp_path):
    t = trainer(backend)
    seen = []
    for event in t.events((X, Y), epochs=1, batch_size=8):
        seen.append(event)
        if isinstance(event, Step) and event.step == 2:
            t.loop.epochs += 2
            path = t.loop.save(tmp_path / "now")
        if isinstance(event, Step) and event.step == 8:
            t.loop.request_stop()
    assert [e.step for e in seen if isinstance(e, Step)] == list(range(1, 9))
    assert path.name == "step-00000002"
    with pytest.raises(ConfigError, match="the training has no checkpoint"):
        t.loop.save()


# -- the report


def test_report(backend):
    train, held = labdl.data.digits()
    data, test = labdl.data.ArrayDataset(*train[np.arange(200)]), labdl.data.ArrayDataset(*held[np.arange(60)])
    model = nn.Sequential(nn.Flatten(), nn.Linear(10))
    t = Trainer(
        model, optimizer=Adam(0.01), metrics=["accuracy"], backend=backend.name, seed=0, average=EMA(0.5), clip_norm=5.0
    )
    assert "adam" in str(t.report())
    history = t.fit(data, validation=test, epochs=4, progress=False)
    results = t.test(test)
    report, text = t.report(), str(t.report())
    assert report.best_epoch == int(np.argmin(history["val_loss"])) + 1
    with t.average_parameters():
        chosen = labdl.predict(model, test.arrays[0]).argmax(-1)
    expected = sk.classification_report(test.arrays[1], chosen, output_dict=True, zero_division=0)
    rows = {row[0]: row[1:] for row in report.classes[1][1:]}
    for name, row in rows.items():
        assert [float(v) for v in row[:3]] == pytest.approx(
            [expected[name][k] for k in ("precision", "recall", "f1-score")], abs=1e-4
        )
        assert int(row[3]) == expected[name]["support"]
    for word in (
        "parameters",
        "650",
        backend.name,
        "clip_norm",
        "decay",
        f"{history['val_loss'][2]:.4f}",
        "samples/s",
        f"{results['accuracy']:.4f}",
        "precision",
    ):
        assert word in text, word
    page = report._repr_html_()
    assert page.count("<table>") == page.count("</table>") == len(report.tables()) == 5
    regression = trainer(backend)
    regression.test((X, Y))
    assert regression.report().classes is None
