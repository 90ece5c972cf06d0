"""Classifiers that end in a sigmoid or a softmax: metrics, labels and inference take their outputs as probabilities."""

import warnings

import numpy as np
import pytest
import sklearn.metrics as sk

import labdl
from labdl import nn, ops
from labdl.infer import Evaluator, Inference
from labdl.nn.output_kind import last_operator
from labdl.train import Adam, Trainer
from labdl.train.metrics import Accuracy

pytestmark = pytest.mark.sample(backends=1)

X = np.random.default_rng(0).random((60, 4)).astype("float32")
LABELS = np.where(X[:, 0] > 0.5, "yes", "no")
TRUE = (LABELS == "yes").astype(int)
PROBABILITIES = {"from_logits": False}


class Squeezed(nn.Module):
    """A classifier (N,) that applies the sigmoid in its forward."""

    def __init__(self):
        self.head = nn.Linear(1)

    def forward(self, x):
        return ops.squeeze(ops.sigmoid(self.head(x)), axis=-1)


MODELS = {
    "layer": lambda: nn.Sequential(nn.Linear(8), nn.ReLU(), nn.Linear(1), nn.Sigmoid()),
    "flattened": lambda: nn.Sequential(nn.Linear(1), nn.Sigmoid(), nn.Flatten(), nn.Identity()),
    "forward": Squeezed,
}


def trained(backend, model, loss, labels=LABELS, **options):
    t = Trainer(model, loss, Adam(0.05), backend=backend.name, seed=0, **options)
    history = t.fit(X, labels, validation=(X, labels), epochs=4, progress=False)
    return t, {name: values[-1] for name, values in history.items()}


@pytest.mark.parametrize("kind", MODELS)
def test_binary_classifier_that_ends_in_a_sigmoid(backend, kind, tmp_path):
    metrics = ["accuracy", "f1", "log_loss"]
    t, values = trained(backend, MODELS[kind](), nn.BinaryCrossEntropyLoss(**PROBABILITIES), metrics=metrics)
    outputs = labdl.predict(t.model, X).reshape(-1)
    right = np.where(outputs > 0.5, "yes", "no")
    assert 0 < (right == "yes").sum() < len(right)
    expected = {
        "accuracy": np.mean(right == LABELS),
        "f1": sk.f1_score(LABELS, right, pos_label="yes"),
        "log_loss": sk.log_loss(TRUE, outputs),
    }
    assert {name: values[f"val_{name}"] for name in metrics} == pytest.approx(expected, abs=1e-5)
    labdl.save(t.model, tmp_path / "net")
    for model in (t.model, labdl.load(tmp_path / "net", backend=backend.name)):
        np.testing.assert_array_equal(labdl.predict(model, X, labels=True), right)
        found = Inference(model, postprocess="classification").infer(X)
        assert [c.label for c in found] == right.tolist()
        likely = [c.probabilities[c.names.index("yes")] for c in found]
        np.testing.assert_allclose(likely, outputs, atol=1e-6)
        evaluator = Evaluator(model, (X, LABELS), metrics)
        assert evaluator.evaluate() == pytest.approx(expected, abs=1e-5)
        assert evaluator.confusion.tolist() == sk.confusion_matrix(LABELS, right).tolist()


def test_logits_keep_their_threshold(backend):
    t, values = trained(backend, nn.Sequential(nn.Linear(1)), "bce", metrics=["accuracy", Accuracy(threshold=0.5)])
    outputs = labdl.predict(t.model, X)[:, 0]
    assert values["val_accuracy"] == pytest.approx(np.mean((outputs > 0) == TRUE))
    assert values["val_accuracy_2"] == pytest.approx(np.mean((outputs > 0.5) == TRUE))
    np.testing.assert_array_equal(labdl.predict(t.model, X, labels=True) == "yes", outputs > 0)


def test_softmax_at_the_end_gives_probabilities(backend):
    model = nn.Sequential(nn.Linear(2), nn.Softmax()).build((None, 4), backend=backend.name, seed=0)
    found = Inference(model, postprocess="classification").infer_one(X[0])
    np.testing.assert_allclose(np.sort(found.probabilities), np.sort(labdl.predict(model, X[:1])[0]), atol=1e-6)
    asked = Inference(model, postprocess={"name": "classification", "from_logits": True}).infer_one(X[0])
    assert asked.probabilities[0] < found.probabilities[0]


MISMATCHES = {
    "bce": (lambda: nn.Sequential(nn.Linear(1), nn.Sigmoid()), r"ends in sigmoid.*loss=nn.BinaryCrossEntropyLoss\("),
    "cross_entropy": (lambda: nn.Sequential(nn.Linear(2), nn.Softmax()), "ends in softmax.*leave the last activation"),
    "nll": (lambda: nn.Sequential(nn.Linear(2), nn.Softmax()), "takes them as logarithms.*LogSoftmax"),
}


@pytest.mark.parametrize("loss", MISMATCHES)
def test_activation_before_a_loss_of_logits_is_reported(backend, loss):
    make, message = MISMATCHES[loss]
    with pytest.warns(UserWarning, match=message):
        trained(backend, make(), loss)


def test_fitting_activations_are_not_reported(backend):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for last, loss in [(nn.LogSoftmax(), "nll"), (nn.Identity(), "cross_entropy"), (nn.Softmax(), "mse")]:
            labels = LABELS if loss != "mse" else np.eye(2)[TRUE]
            trained(backend, nn.Sequential(nn.Linear(2), last), loss, labels)


def test_last_operator_of_a_model(backend):
    class Pair(nn.Module):
        def forward(self, x):
            return ops.sigmoid(x), x

    assert last_operator(nn.Sequential(nn.Linear(2), nn.Tanh())) is None  # not built
    for model, expected in [(nn.Sequential(nn.Linear(2), nn.Tanh()), "tanh"), (Pair(), None), (nn.Identity(), None)]:
        assert last_operator(model.build((None, 4), backend=backend.name)) == expected
