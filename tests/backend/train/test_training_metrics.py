"""Metrics in training: values of batches at each step, values of all samples at the end of an epoch."""

import numpy as np
import pytest
import sklearn.metrics as sk

import labdl
from labdl import nn
from labdl.train import SGD, Epoch, Metric, Start, Step, Trainer
from labdl.train.metrics import F1, ROCAUC, TopKAccuracy

pytestmark = pytest.mark.sample(backends=1)

X = np.random.default_rng(0).normal(size=(50, 3)).astype("float32")
Y = (X @ np.random.default_rng(1).normal(size=(3, 4))).argmax(-1)


def trainer(backend, metrics, **options):
    model = nn.Sequential(nn.Linear(4)).build((None, 3), backend=backend.name, seed=0)
    return Trainer(model, optimizer=SGD(0.0), metrics=metrics, seed=0, **options)  # the weights do not change


def test_value_of_an_epoch_is_that_of_all_samples(backend):
    """F1 is not a mean over batches; with constant weights each epoch has the value of one large batch."""
    t = trainer(backend, ["f1", TopKAccuracy(k=2), "roc_auc", "accuracy"])
    events = list(t.events((X, Y), validation=(X[:20], Y[:20]), epochs=2, batch_size=16))
    output = labdl.predict(t.model, X)
    soft = np.exp(output) / np.exp(output).sum(-1, keepdims=True)
    expected = {
        "f1": sk.f1_score(Y, output.argmax(-1), average="macro"),
        "top_k_accuracy": sk.top_k_accuracy_score(Y, output, k=2),
        "roc_auc": sk.roc_auc_score(Y, soft, multi_class="ovr"),
        "accuracy": np.mean(output.argmax(-1) == Y),
    }
    epochs = [e.values for e in events if isinstance(e, Epoch)]
    assert len(epochs) == 2
    for values in epochs:
        assert {k: values[k] for k in expected} == pytest.approx(expected, abs=1e-5)
        assert values["val_f1"] == pytest.approx(sk.f1_score(Y[:20], output[:20].argmax(-1), average="macro"), abs=1e-5)
    assert t.evaluate((X, Y), batch_size=7)["f1"] == pytest.approx(expected["f1"], abs=1e-5)
    assert list(events[0].settings["metrics"]) == list(expected)
    assert isinstance(events[0], Start)


def test_value_of_a_step_is_that_of_its_batch_except_costly_metrics(backend):
    t = trainer(backend, ["f1", "roc_auc"])
    steps = [e.values for e in t.events((X, Y), batch_size=16, shuffle=False) if isinstance(e, Step)]
    output = labdl.predict(t.model, X)
    assert [set(s) for s in steps] == [{"loss", "f1"}] * 4
    starts = range(0, 50, 16)
    assert [s["f1"] for s in steps] == pytest.approx(
        [F1()(output[i : i + 16], Y[i : i + 16]) for i in starts], abs=1e-5
    )


def test_evaluation_within_an_epoch_has_no_side_effect(backend):
    plain, disturbed = (trainer(backend, ["f1", "accuracy"]) for _ in range(2))
    expected = [e.values for e in plain.events((X, Y), batch_size=16) if isinstance(e, Epoch)]
    actual = []
    for event in disturbed.events((X, Y), batch_size=16):
        disturbed.evaluate((X[:5], Y[:5]))
        actual += [event.values] if isinstance(event, Epoch) else []
    assert actual == [pytest.approx(values) for values in expected]


def test_metrics_by_name_object_class_and_function(backend):
    class Count(Metric):
        name = "samples"

        def statistics(self, output, target):
            return (len(target),)

        def value(self, n):
            return float(n)

    def batch_size(output, target):
        return float(len(output))

    mine = ROCAUC(average="weighted")
    history = trainer(backend, [Count(), batch_size, mine, "log_loss"]).fit(
        X, Y, epochs=2, batch_size=20, progress=False
    )
    assert history["samples"] == [50.0, 50.0]
    assert history["batch_size"] == [(20 * 20 * 2 + 10 * 10) / 50] * 2
    assert history["loss"] == pytest.approx(history["log_loss"], rel=1e-4)
    assert not mine.has_data, "the trainer has its own copy"


def test_overridden_train_one_batch_returns_its_values(backend):
    class Own(Trainer):
        def train_one_batch(self, x, y):
            return {"loss": 1.0, "size": float(len(x)), "accuracy": 0.25}

    model = nn.Sequential(nn.Linear(4)).build((None, 3), backend=backend.name)
    history = Own(model, metrics=["accuracy"]).fit(X, Y, batch_size=30, progress=False)
    assert history == {"loss": [1.0], "size": [(30 * 30 + 20 * 20) / 50], "accuracy": [0.25]}


@pytest.mark.parametrize("name", ["accuracy", "precision", "cohen_kappa", "roc_auc", "log_loss", "perplexity"])
def test_classification_metrics_in_training(name, backend):
    history = trainer(backend, [name]).fit(X, Y, validation=(X, Y), progress=False)
    assert set(history) == {"loss", name, "val_loss", f"val_{name}"}
    assert np.isfinite([v[0] for v in history.values()]).all()
    assert history[name] == pytest.approx(history[f"val_{name}"], abs=1e-5)
