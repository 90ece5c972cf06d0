"""Control flow where LabDL runs a model or a loss on shapes: no place waits for a value that a shape does not have."""

import warnings

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ModelError
from labdl.graph.analysis.cost import costs
from labdl.infer import Evaluator, Inference
from labdl.nn.output_kind import last_operator
from labdl.saving.onnx import export_onnx
from labdl.saving.source_export import export_source
from labdl.spec import Spec
from labdl.train import Trainer
from labdl.train.broadcasting import aligned_ranks

pytestmark = pytest.mark.sample(backends=1)

X = np.random.default_rng(0).uniform(0.2, 0.9, (6, 4)).astype("float32")
Y = np.arange(6) % 4


def branch(x):
    return ops.cond(ops.sum(x) > 0, lambda: 2 * x, lambda: -x)


def loop(x):
    calls = []

    def double(x):
        calls.append(x)
        assert len(calls) < 100, "the loop reads a condition that has no value"
        return 2 * x

    return ops.while_loop(lambda x: ops.sum(ops.abs(x)) < 100, double, x)


def running_sum(x):
    return ops.scan(lambda total, row: (total + row, total), ops.zeros_like(x[0]), x)[1]


def rows(x):
    return ops.vmap(lambda row: row * 2)(x)


FORMS = {f.__name__: f for f in (branch, loop, running_sum, rows)}


@nn.layer
class ControlFlow(nn.Module):
    """A layer with one form of control flow."""

    form: str = "branch"

    def forward(self, x):
        return FORMS[self.form](x)


def build(form, backend):
    return nn.Sequential(nn.Linear(4), ControlFlow(form), nn.Linear(4)).build((None, 4), backend=backend.name, seed=0)


def train(model, backend, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a step that runs eagerly
        assert np.isfinite(Trainer(model, "cross_entropy", backend=backend.name).train_one_batch(X, Y)["loss"])


def find_output_kind(model, backend, tmp_path):
    assert last_operator(model) == "linear"


def predict_labels(model, backend, tmp_path):
    assert labdl.predict(model, X, labels=True).shape == (6,)


def evaluate(model, backend, tmp_path):
    assert Evaluator(model, (X, Y), metrics=["accuracy"]).evaluate()["accuracy"] >= 0


def infer(model, backend, tmp_path):
    assert len(Inference(model).infer(list(X))) == 6


def count_costs(model, backend, tmp_path):
    graph = labdl.trace(model)
    assert sum(cost.operations for cost in costs(graph).values()) > 2 * 2 * 4 * 4


def export(model, backend, tmp_path):
    try:
        export_source(model, tmp_path / "net")
    except ModelError as error:
        # Paddle and MindSpore record the calls of a scan only where its length is known
        assert backend.name in ("paddle", "mindspore") and "give it fixed sizes at build" in str(error)  # noqa: PT017, PT018
        fixed = nn.Sequential(nn.Linear(4), ControlFlow(model[1].form), nn.Linear(4))
        export_source(fixed.build((6, 4), backend=backend.name, seed=0), tmp_path / "net")


def refuse_onnx(model, backend, tmp_path):
    with pytest.raises(ModelError):  # the operators of a graph cannot depend on values
        export_onnx(model, tmp_path / "net.onnx")


PLACES = (train, find_output_kind, predict_labels, evaluate, infer, count_costs, export, refuse_onnx)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_model_with_control_flow_passes_every_place_that_runs_it_on_shapes(place, form, backend, tmp_path):
    place(build(form, backend), backend, tmp_path)


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("form", FORMS)
def test_a_loss_with_control_flow_is_examined_on_shapes(form):
    def loss(output, target):
        return ops.mean(ops.abs(FORMS[form](output) - target))

    assert aligned_ranks(loss, Spec((None, 1))) == {1, 3}


@pytest.mark.parametrize("form", [branch, loop, rows], ids=lambda form: form.__name__)
def test_the_output_kind_is_that_of_both_ways(form, backend):
    class Probable(nn.Module):
        def __init__(self, last):
            self.head, self.last = nn.Linear(3), last

        def forward(self, x):
            h = self.head(x)
            if form is branch:
                return ops.cond(ops.sum(h) > 0, lambda: ops.softmax(h), lambda: self.last(2 * h))
            if form is loop:
                return ops.while_loop(lambda h: ops.sum(h) > 100, self.last, ops.softmax(h))
            return ops.vmap(self.last)(h)

    assert last_operator(Probable(ops.softmax).build((None, 4), backend=backend.name)) == (
        "take" if form is rows else "softmax"
    )
    assert last_operator(Probable(ops.tanh).build((None, 4), backend=backend.name)) != "softmax"
