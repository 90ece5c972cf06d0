"""Callbacks as objects: their order, their states in checkpoints, and values that they and the trainer's methods log."""

import logging

import numpy as np
import pytest
from interrupted import BATCH, DATA, own_seeds

import labdl
from labdl import nn
from labdl.errors import ConfigError
from labdl.train import SGD, Callback, Checkpoint, Step, Trainer

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


X, Y = DATA[0][:, 0, 0], DATA[1]  # 70 samples: 5 batches of 16
OPTIONS = {"batch_size": BATCH, "progress": False}


def linear(backend, kind=Trainer, **settings):
    model = nn.Sequential(nn.Linear(4)).build((None, 6), backend=backend.name, seed=0)
    return kind(model, optimizer=SGD(0.1), seed=1, **settings)


class Diary(Callback):
    def __init__(self):
        self.lines = []

    def on_fit_start(self, trainer):
        assert isinstance(trainer, Trainer)
        self.lines.append("fit")

    def on_fit_end(self, trainer):
        self.lines.append("end of fit")

    def on_train_epoch_start(self, trainer):
        self.lines.append(f"epoch {trainer.progress.epoch}")

    def on_train_epoch_end(self, trainer, values):
        self.lines.append(f"end of epoch: {' '.join(values)}")

    def on_train_batch_start(self, trainer, batch, batch_index):
        self.lines.append(f"batch {batch_index} of {len(batch[0])}")

    def on_train_batch_end(self, trainer, values, batch, batch_index):
        self.lines.append(f"end of batch {batch_index}: {' '.join(values)}")

    def on_validation_start(self, trainer):
        self.lines.append("validation")

    def on_validation_end(self, trainer, values):
        self.lines.append(f"end of validation: {' '.join(values)}")

    def on_exception(self, trainer, exception):
        self.lines.append(f"exception {type(exception).__name__}")


def test_order_of_the_methods(backend):
    diary = Diary()
    subject = linear(backend, val_check_interval=1)
    subject.fit(X[:20], Y[:20], validation=(X, Y), callbacks=[diary], **OPTIONS)
    assert diary.lines == [
        "fit",
        "epoch 0",
        "batch 0 of 16",
        "end of batch 0: loss",
        "validation",
        "end of validation: val_loss",
        "batch 1 of 4",
        "end of batch 1: loss",
        "validation",
        "end of validation: val_loss",
        "end of epoch: loss val_loss",
        "end of fit",
    ]


def test_exceptions_and_ends(backend):
    diary = Diary()
    broken = X.copy()
    broken[40] = np.nan
    with pytest.raises(labdl.errors.ModelError):
        linear(backend).fit(broken, Y, callbacks=[diary], **OPTIONS)
    assert diary.lines[-1] == "exception ModelError"
    diary = Diary()
    for event in linear(backend).events((X, Y), batch_size=BATCH, callbacks=[diary]):
        if isinstance(event, Step):
            break
    assert diary.lines[-1] == "end of fit"

    class Enough(Callback):
        def on_train_batch_end(self, trainer, values, batch, batch_index):
            return batch_index == 2

    subject = linear(backend)
    subject.fit(X, Y, callbacks=[Enough()], **OPTIONS)
    assert subject.progress.step == 3


def test_wrong_and_failing_callbacks(backend, caplog):
    class Failing(Callback):
        calls = 0

        def on_train_batch_start(self, trainer, batch, batch_index):
            self.calls += 1
            raise RuntimeError("no screen")

    failing = Failing()
    with caplog.at_level(logging.ERROR):
        linear(backend).fit(X, Y, callbacks=[failing], **OPTIONS)
    assert failing.calls == 1
    assert "Failing failed at on_train_batch_start and is disabled" in caplog.text
    with pytest.raises(ConfigError, match=r"callbacks wants an object, received the class Diary: write it with \(\)"):
        linear(backend).fit(X, Y, callbacks=[Diary])
    with pytest.raises(ConfigError, match=r"callbacks=\[Diary\]"):
        linear(backend).fit(X, Y, callbacks=Diary())


class Counter(Callback):
    """Has a state, and keeps an array in checkpoints."""

    def __init__(self):
        self.steps, self.kept, self.loaded = 0, np.zeros(2), None

    def on_train_batch_end(self, trainer, values, batch, batch_index):
        self.steps += 1
        trainer.log("steps", self.steps)

    def on_save_checkpoint(self, trainer, saved):
        saved["kept"] = self.kept + self.steps

    def on_load_checkpoint(self, trainer, saved):
        self.loaded = saved["kept"]

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, values):
        self.steps = values["steps"]


@pytest.mark.parametrize("at", [3, 5, 7])
def test_states_and_logged_values_resume(backend, tmp_path, at, caplog):
    whole = [Counter(), Counter()]
    history = linear(backend).fit(X, Y, epochs=3, callbacks=whole, **OPTIONS)
    assert whole[0].steps == 15
    stop = lambda event: isinstance(event, Step) and event.step == at  # noqa: E731
    options = {"epochs": 3, **OPTIONS}
    linear(backend).fit(
        X, Y, callbacks=[Counter(), Counter(), stop], checkpoint=Checkpoint(tmp_path, every=at), **options
    )
    again = [Counter(), Counter()]
    assert linear(backend).fit(X, Y, callbacks=again, resume=tmp_path, **options) == history
    assert [c.steps for c in again] == [15, 15]
    np.testing.assert_array_equal(again[1].loaded, [at, at])
    linear(backend).fit(X, Y, resume=tmp_path, **options)
    assert "the checkpoint has states of callbacks that the training lacks: Counter, Counter_2" in caplog.text


def test_logged_values_are_means_by_samples(backend, tmp_path):
    """Of batches with 16 and 4 samples; in steps, epochs, validations, files, and from functions."""

    class Logs(Trainer):
        def postprocess(self, output):
            self.log("largest", output.max())
            return output

    def listen(event):
        if isinstance(event, Step):
            subject.log("of_function", labdl.tensor(np.float32(event.step), backend=backend.name))

    class AtEnd(Callback):
        def on_train_epoch_end(self, trainer, values):
            trainer.log("total", values["loss"] + values["val_loss"])

        def on_train_batch_end(self, trainer, values, batch, batch_index):
            trainer.log("twice", 1.0)
            trainer.log("twice", 4.0)
            trainer.log("weighted", batch_index, batch_size=batch_index + 1)

    subject = linear(backend, Logs, metrics=["accuracy"])
    data, validation = (X[:20], Y[:20]), (X[20:40], Y[20:40])
    run = subject.start(
        data, validation=validation, batch_size=16, callbacks=[listen, AtEnd()], folder=tmp_path / "run"
    ).wait(60)
    record = labdl.runs.open(run.folder)
    steps = record.steps
    epoch = record.epochs[0]
    assert list(steps["of_function"]) == [1, 2]
    assert list(steps["twice"]) == [2.5, 2.5]
    assert epoch["of_function"] == pytest.approx((1 * 16 + 2 * 4) / 20)
    assert epoch["weighted"] == pytest.approx(2 / 3)
    assert epoch["twice"] == 2.5
    assert epoch["largest"] == pytest.approx(float(steps["largest"] @ [16, 4]) / 20)
    assert epoch["total"] == pytest.approx(epoch["loss"] + epoch["val_loss"])
    assert epoch["val_largest"] == pytest.approx(float(labdl.predict(subject.model, validation[0]).max()), rel=1e-6)
    assert subject.progress.history.keys() == run.history.keys() >= {"total", "of_function", "val_largest"}
    assert subject.progress.history["total"] == run.history["total"]
    assert subject.evaluate(*validation)["largest"] == pytest.approx(epoch["val_largest"])


def test_wrong_values_to_log(backend):
    subject = linear(backend, metrics=["accuracy"])
    for name, value, message in [
        ("", 1.0, "log wants a name that is not empty"),
        (3, 1.0, "log wants a name that is not empty, received 3"),
        ("loss", 1.0, "log wants a name of its own, 'loss' is that of a value of the training"),
        ("accuracy", 1.0, "'accuracy' is that of a value"),
        ("x", np.zeros(2), "log wants one number for 'x'"),
        ("x", "1", "log wants one number for 'x', received '1'"),
    ]:
        with pytest.raises(ConfigError, match=message):
            subject.log(name, value)
    with pytest.raises(ConfigError, match="log wants a batch_size above 0, received 0"):
        subject.log("x", 1.0, batch_size=0)


def test_a_refused_value_leaves_the_training_alone(backend):
    """The callback is disabled, and the name has no values."""

    class Wrong(Callback):
        def on_train_batch_end(self, trainer, values, batch, batch_index):
            trainer.log("words", "many")

    trainer = Trainer(nn.Sequential(nn.Linear(3)), backend=backend.name, seed=1)
    history = trainer.fit(np.ones((4, 2), "float32"), np.arange(4) % 3, callbacks=[Wrong()], progress=False)
    assert list(history) == ["loss"]


def test_no_callbacks_are_none(backend):
    assert len(linear(backend).fit(X, Y, callbacks=None, **OPTIONS)["loss"]) == 1
