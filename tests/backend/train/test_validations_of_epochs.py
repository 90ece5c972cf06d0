"""Which epochs are validated, with which batches; the trainer's own validation and prediction; time limits."""

import datetime

import numpy as np
import pytest
from interrupted import own_seeds

import labdl
from labdl import data, nn, ops
from labdl.errors import ConfigError
from labdl.train import EMA, SGD, Checkpoint, EarlyStopping, Epoch, ReduceOnPlateau, Trainer

pytestmark = pytest.mark.sample(backends=1)

DRAWS = np.random.default_rng(0)
X, Y = DRAWS.normal(size=(40, 6)).astype("float32"), np.arange(40) % 4
HELD_OUT = X[:20], Y[:20]
OPTIONS = {"batch_size": 16, "progress": False, "validation": HELD_OUT}


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def linear(backend, cls=Trainer, **settings):
    model = nn.Sequential(nn.Linear(4)).build((None, 6), backend=backend.name, seed=0)
    return cls(model, **{"optimizer": SGD(0.1), "seed": 1, **settings})


@pytest.mark.parametrize(
    ("settings", "options", "epochs"),
    [
        ({}, {"validation_freq": 2}, [2, 4]),
        ({}, {"validation_freq": [1, 5]}, [1, 5]),
        ({}, {"validation_freq": (3,)}, [3]),
        ({"check_val_every_n_epoch": 3}, {}, [3]),
        ({"check_val_every_n_epoch": 3}, {"validation_freq": 1}, [1, 2, 3, 4, 5]),
        ({"check_val_every_n_epoch": 9}, {}, []),
    ],
)
def test_validated_epochs(backend, settings, options, epochs):
    """As `validation_freq` of Keras and `check_val_every_n_epoch` of Lightning: values without an effect on the training."""
    expected = linear(backend).fit(X, Y, **OPTIONS, epochs=5)
    subject, events = linear(backend, **settings), []
    history = subject.fit(X, Y, **OPTIONS, epochs=5, callbacks=[events.append], **options)
    assert history["loss"] == expected["loss"]
    assert history.get("val_loss", []) == [expected["val_loss"][epoch - 1] for epoch in epochs]
    assert [event.epoch for event in events if isinstance(event, Epoch) and "val_loss" in event.values] == epochs
    (table,) = [rows for title, rows in subject.report().tables() if title.startswith("Epochs")]
    if epochs:
        column = table[0].index("val_loss")
        assert [at for at, row in enumerate(table) if at and row[column]] == epochs


def test_what_monitors_a_validation_waits_for_one(backend, tmp_path):
    """Early stopping, plateaus and the best checkpoint go by the epochs that are validated, not by the training loss."""
    stopping = EarlyStopping(patience=2, min_delta=9.0)
    subject = linear(backend, stopping=stopping, schedule=ReduceOnPlateau(factor=0.5, patience=0, threshold=0.9))
    rates = []
    subject.fit(
        X,
        Y,
        **OPTIONS,
        epochs=9,
        validation_freq=2,
        checkpoint=Checkpoint(tmp_path, monitor="val_loss", keep=None),
        callbacks=[lambda event: rates.append(subject.learning_rate) if isinstance(event, Epoch) else None],
    )
    assert (subject.current_epoch, subject.global_step, stopping.best_epoch) == (6, 18, 2)
    np.testing.assert_allclose(rates, [0.1] * 4 + [0.05] * 2)
    best = Checkpoint(tmp_path, monitor="val_loss").best
    assert best is not None
    assert int(best.name.removeprefix("step-")[:8]) % 6 == 0


def test_resume_with_epochs_that_are_not_validated(backend, tmp_path):
    whole = linear(backend)
    expected = whole.fit(X, Y, **OPTIONS, epochs=6, validation_freq=2)
    linear(backend).fit(X, Y, **OPTIONS, epochs=3, validation_freq=2, checkpoint=tmp_path)
    subject = linear(backend)
    assert subject.fit(X, Y, **OPTIONS, epochs=6, validation_freq=2, checkpoint=tmp_path, resume=True) == expected
    assert subject.progress.validated_epochs == whole.progress.validated_epochs == [2, 4, 6]


class Watched(nn.Module):
    """Four logits; the sizes of batches are recorded where Python runs."""

    def __init__(self):
        self.head, self.sizes = nn.Linear(4), []

    def forward(self, x):
        if isinstance(x.shape[0], int):  # else the model is traced
            self.sizes.append(x.shape[0])
        return self.head(x)


def test_batches_of_a_validation(backend):
    model = Watched().build((None, 6), backend=backend.name, seed=0)
    subject = Trainer(model, optimizer=SGD(0.1), compiled=False, seed=1)
    model.sizes.clear()
    subject.fit(X, Y, **OPTIONS, validation_batch_size=8)
    model.sizes.clear()
    subject.fit(X, Y, **OPTIONS, validation_batch_size=8)
    assert model.sizes == [16, 16, 8, 8, 8, 4]
    model.sizes.clear()
    subject.fit(X, Y, **OPTIONS, validation_batch_size=8, validation_steps=1)
    assert model.sizes == [16, 16, 8, 8]
    subject.fit(data.ArrayDataset(X, Y), **OPTIONS, validation_batch_size=np.int64(5))


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("validation_freq", (0, -1, 1.5, True, "2", [], [0], [1.5], "ab", b"ab", {1: 2})),
        ("validation_steps", (0, 0.5, True, "2")),
        ("validation_batch_size", (0, 0.5, True, "2")),
    ],
)
def test_bad_numbers(backend, option, values):
    for value in values:
        with pytest.raises(ConfigError, match=f"{option} wants a"):
            linear(backend).fit(X, Y, **OPTIONS, **{option: value})


def test_validate(backend):
    subject = linear(backend, metrics=["accuracy"], average=EMA(0.5))
    history = subject.fit(X, Y, **OPTIONS)
    values = subject.validate()
    assert values == {name: history[name][-1] for name in ("val_loss", "val_accuracy")}
    assert subject.validate(X, Y) == {
        f"val_{name}": value for name, value in subject.evaluate(X, Y, averaged=True).items()
    }
    assert linear(backend, val_dataset=HELD_OUT).validate() == linear(backend).validate(data.ArrayDataset(*HELD_OUT))
    with pytest.raises(ConfigError, match="there are no validation data: write validate"):
        linear(backend).validate()
    with pytest.raises(ConfigError, match="'verbose'"):
        subject.validate(X, Y, verbose=0)


class Doubled(Trainer):
    """A trainer whose model is used otherwise, with probabilities as the result."""

    def forward(self, x):
        return ops.softmax(2 * super().forward(x))

    def postprocess(self, output):
        return None if self.model.training else output.round(3)


def test_predict(backend):
    subject = linear(backend)
    expected = labdl.predict(subject.model, X)
    for inputs in (X, (X, Y), data.ArrayDataset(X, Y), X.tolist()):
        np.testing.assert_allclose(subject.predict(inputs, batch_size=7), expected, rtol=1e-5, atol=1e-6)
    assert (subject.predict(X, labels=True) == expected.argmax(-1)).all()
    own = linear(backend, Doubled).predict(X)
    exponentials = np.exp(2 * expected)
    np.testing.assert_allclose(own, (exponentials / exponentials.sum(-1, keepdims=True)).round(3), atol=1.1e-3)
    subject.fit(X, Y, **OPTIONS)
    np.testing.assert_allclose(subject.predict(X), labdl.predict(subject.model, X), rtol=1e-5, atol=1e-6)
    with pytest.raises(ConfigError, match="'verbose'"):
        subject.predict(X, verbose=0)


def test_predict_of_a_model_that_is_not_built(backend):
    model = nn.Sequential(nn.Linear(4))
    assert Trainer(model, backend=backend.name).predict(X).shape == (40, 4)
    assert model.backend == backend.name


def test_log_dict(backend):
    subject = linear(backend)

    def log(event):
        if not isinstance(event, Epoch) and hasattr(event, "values"):
            subject.log_dict({"one": 1.0, "two": np.float32(2)})

    history = subject.fit(X, Y, **OPTIONS, callbacks=[log])
    assert (history["one"], history["two"]) == ([1.0], [2.0])


def test_time_limit(backend, tmp_path):
    """It ends after a step, validates and saves, and the next call goes on."""
    subject = linear(backend, max_time=1e-9)
    history = subject.fit(X, Y, **OPTIONS, epochs=2, checkpoint=tmp_path)
    assert subject.global_step == 1
    assert len(history["val_loss"]) == 1
    subject = linear(backend)
    subject.fit(X, Y, **OPTIONS, epochs=2, checkpoint=tmp_path, resume=True)
    whole = linear(backend)
    whole.fit(X, Y, **OPTIONS, epochs=2)
    for name, value in whole.model.state_dict().items():
        np.testing.assert_array_equal(subject.model.state_dict()[name], value)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("00:12:00:00", 43_200.0),
        ("01:00:00:01", 86_401.0),
        (datetime.timedelta(minutes=2), 120.0),
        ({"hours": 1, "minutes": 30}, 5400.0),
        (90, 90.0),
    ],
)
def test_forms_of_a_time_limit(backend, value, seconds):
    assert linear(backend, max_time=value).settings.max_time == seconds


@pytest.mark.parametrize("value", ["12:00", "00:00:00:00", 0, -1, True, float("nan"), float("inf"), {"years": 1}, [1]])
def test_bad_time_limits(backend, value):
    with pytest.raises(ConfigError, match='max_time wants "DD:HH:MM:SS"'):
        linear(backend, max_time=value)
