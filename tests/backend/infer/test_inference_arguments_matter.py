"""Two values of an argument of an inference or evaluation give other results or calls, or it has its reason."""

import inspect

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.infer import Evaluator, Inference
from labdl.models.text.gpt import GPT
from labdl.spec import Spec

pytestmark = pytest.mark.sample(every=4, backends=1)

X, Y = np.random.default_rng(0).normal(size=(10, 4)).astype("float32"), np.arange(10) % 3
REASONS = {
    "backend": "where the model is computed; test_the_backend_of_an_inference has it",
    "compiled": "the same values, sooner; test_compiled_later has it",
    "progress": "what a download prints; test_pretrained_from_hub has it",
}
CALLS: list = []


class Counted(nn.Module):
    """Three logits; the sizes of its batches are counted."""

    def __init__(self):
        self.last = nn.Linear(3)

    def forward(self, x):
        CALLS.append(x.shape[0])
        return self.last(x)


def classifier(backend, seed=0):
    return Counted().build((None, 4), backend=backend.name, seed=seed)


def writer(backend):
    small = GPT(30, features=8, layers=1, heads=2, positions=40, rate=0.0)
    return small.build(Spec((None, None), "int64"), backend=backend.name, seed=0)


def negated(x):
    return -x


def summed(rows):
    return (np.stack([row[0] for row in rows]) + 1,)


ARGUMENTS = {
    "preprocess": negated,
    "postprocess": "classification",
    "batch_size": 3,
    "collate": summed,
    "generate": {"max_new_tokens": 2},
}


def same(first, second):
    return repr(first) == repr(second)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_argument_of_an_inference(name, backend):
    def infer(**options):
        CALLS.clear()
        if name == "generate":
            return Inference(writer(backend), **options).infer([[1, 2, 3]])
        inference = Inference(classifier(backend), **options, **({"preprocess": abs} if name == "collate" else {}))
        return inference.infer([*X]), [*CALLS]

    assert not same(infer(**{name: ARGUMENTS[name]}), infer(**({"generate": {}} if name == "generate" else {})))


def test_the_model_of_an_inference(backend, tmp_path):
    results = [Inference(classifier(backend, seed)).infer([*X]) for seed in (0, 1)]
    assert not same(*results)
    labdl.save(classifier(backend), tmp_path / "net")
    assert same(Inference(tmp_path / "net", backend=backend.name).infer([*X]), results[0])


def test_the_backend_of_an_inference(backend):
    assert Inference(classifier(backend), backend="numpy").model.backend == "numpy"
    assert Inference(classifier(backend)).model.backend == backend.name


EVALUATIONS = {
    "dataset": (X[:5], Y[:5]),
    "metrics": ("top_k_accuracy",),
    "loss": "cross_entropy",
    "batch_size": 3,
    "preprocess": negated,
    "collate": summed,
}
OF_TEXTS = {
    "postprocess": "a processor without metrics of its own leaves the outputs; test_detectors_end_to_end has one",
    "generate": "texts; test_pretrained_inference has it",
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_every_argument_of_an_evaluator(name, backend):
    def evaluate(**options):
        CALLS.clear()
        options = {"dataset": (X, Y), "metrics": ("accuracy",), **options}
        options |= {"preprocess": abs} if name == "collate" else {}
        return Evaluator(classifier(backend), **options).evaluate(), [*CALLS]

    assert not same(evaluate(**{name: EVALUATIONS[name]}), evaluate())


def test_every_argument_of_an_evaluation(backend):
    evaluator = Evaluator(classifier(backend), metrics=("accuracy",))
    assert not same(evaluator.evaluate((X, Y)), evaluator.evaluate((X[:5], Y[:5])))
    assert not same(evaluator.evaluate((X, Y)), evaluator.evaluate((X, Y), metrics=("top_k_accuracy",)))


@pytest.mark.sample(False)
def test_every_argument_of_an_inference_by_name(backend):
    """A small model of pictures, for classes, of a zoo and with weights of its own."""
    picture = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)

    def infer(seed=0, count=2, **options):
        options = {"weights": values(seed), "preprocess": "torchvision/IMAGENET1K_V1", **options}
        found = Inference.of("resnet18", backend=backend.name, classes=4, progress=False, **options)
        return found.infer([picture] * count), found

    def values(seed):
        model = labdl.models.create("resnet18", classes=4).build(backend="numpy", seed=seed)
        return labdl.models.public_state_dict(model)

    expected, _ = infer()
    assert not same(infer(seed=1)[0], expected)
    other = labdl.models.weights.PicturePreprocessing(224, 224)
    assert not same(infer(preprocess=other)[0], expected)
    assert not same(infer(postprocess={"name": "classification", "top_k": 1})[0], expected)
    assert not same(infer(top_k=1)[0], expected)
    assert infer(batch_size=5)[1].batch_size == 5 != infer()[1].batch_size


def test_every_argument_has_its_case():
    def names(function):
        return set(inspect.signature(function).parameters) - {"self"}

    assert names(Inference) == {"model", *ARGUMENTS} | REASONS.keys() - {"progress"}
    cases = {"inference", *EVALUATIONS, *OF_TEXTS}
    assert names(Evaluator) == cases | REASONS.keys() - {"progress"}
    by_name = {
        "model",
        "weights",
        "preprocess",
        "postprocess",
        "size",
        "batch_size",
        "settings",
    }  # test_detectors has size
    assert names(Inference.of) == by_name | REASONS.keys()
