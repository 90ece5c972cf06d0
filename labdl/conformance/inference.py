"""Clauses 6.2.3.3, 6.2.3.5, B.5 and B.6: inference and evaluation."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from labdl import infer, nn, standard
from labdl.conformance.row import Missing, close, equal, holds, raises, row
from labdl.errors import ConfigError, ModelError
from labdl.saving import save
from labdl.train.metrics import TopKAccuracy

_X = np.random.default_rng(0).standard_normal((7, 4)).astype("float32")
_Y = np.array([0, 1, 2, 0, 1, 2, 0])


def _model() -> tuple[nn.Module, np.ndarray]:
    """A linear classifier, and its outputs for `_X`, computed in NumPy."""
    model = nn.Linear(3).build((None, 4), seed=0)
    state = model.state_dict()
    return model, _X @ state["kernel:0"] + state["bias:0"]


def _above(output: np.ndarray, threshold: float = 0.0) -> list[int]:
    """A post-processing function: the classes whose value is above a threshold."""
    return [int(i) for i in np.flatnonzero(output > threshold)]


@row("6.2.3.3 a)", "A model is loaded", "an inference from the files of a saved model")
def loading():
    layer, expected = _model()
    model = nn.Sequential(layer).build((None, 4))
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "net")
        close(np.stack(infer.Inference(str(Path(folder) / "net")).infer(_X)), expected)


class _Own(infer.Inference):
    """An inference that overrides pre- and post-processing."""

    def preprocess(self, sample):
        return np.asarray(sample, "float32") * 2

    def postprocess(self, output, settings):
        return int(output.argmax())


@row(
    "6.2.3.3 b)",
    "A subclass changes what is before and behind the model",
    "preprocess and postprocess of an Inference overridden",
)
def subclass():
    model, _ = _model()
    state = model.state_dict()
    equal(_Own(model).infer(_X), (2 * _X @ state["kernel:0"] + state["bias:0"]).argmax(1))


@row("6.2.3.3 c)", "Inference in batches", "7 samples in batches of 3, and one by one")
def batches():
    model, expected = _model()
    close(np.stack(infer.Inference(model, batch_size=3).infer(_X)), expected)
    close(np.stack([infer.Inference(model).infer_one(x) for x in _X]), expected)


@row("6.2.3.3 d)", "Further steps before and behind", "sequences of functions, which follow each other")
def further_steps():
    model, expected = _model()
    steps = infer.Inference(model, preprocess=[np.asarray, np.copy], postprocess=[np.argmax, int])
    equal(steps.infer(_X), expected.argmax(1))


@row(
    "6.2.3.5",
    "A base class of post-processing and a subclass for each task",
    "POSTPROCESSORS: their kind and their settings",
)
def base_class():
    kinds = infer.POSTPROCESSORS.values()
    holds(len(infer.POSTPROCESSORS) > 1, f"there are {', '.join(infer.POSTPROCESSORS)}")
    holds(all(issubclass(kind, infer.PostProcessor) for kind in kinds), "all are subclasses of PostProcessor")
    holds(all(kind.schema()["summary"] for kind in kinds), "all say what they do")


@row("6.2.3.5 a)", "Tensors are post-processed", "the classes of logits, against NumPy")
def tensors():
    model, expected = _model()
    found = infer.Inference(model, postprocess="classification").infer(_X)
    shares = np.exp(expected) / np.exp(expected).sum(1, keepdims=True)
    equal([classes.label for classes in found], expected.argmax(1))
    close([classes.probabilities[0] for classes in found], shares.max(1))


def _read(kind: str, output, **settings):
    """Apply a post-processor to the outputs of one sample."""
    return infer.POSTPROCESSORS[kind](**settings)(output)


def _classes() -> None:
    equal(_read("classification", np.array([0.0, 3.0, 1.0], "float32"), top_k=2).labels, [1, 2])


def _boxes() -> None:
    """Check that of two overlapping boxes the one with the higher score is kept."""
    boxes = np.array([[0, 0, 10, 10], [1, 1, 11, 11], [30, 30, 40, 40]], "float32")
    scores = np.array([[0.6, 0.0], [0.9, 0.0], [0.0, 0.7]], "float32")
    found = _read("detection", (boxes, scores), threshold=0.5)
    equal(found.boxes, boxes[[1, 2]])
    equal(found.labels, [0, 1])


def _mask() -> None:
    scores = np.random.default_rng(0).standard_normal((3, 4, 5)).astype("float32")
    equal(_read("segmentation", scores).mask, scores.argmax(0))


def _points() -> None:
    maps = np.zeros((2, 6, 6), "float32")
    maps[0, 2, 3], maps[1, 4, 1] = 1.0, 0.5
    found = _read("keypoints", maps, offset="none")
    equal(found.points, [[3, 2], [1, 4]])
    close(found.scores, [1.0, 0.5])


def _speech() -> None:
    """Check the decoding of "-aab-b": repeats are merged and blanks removed."""
    equal(
        _read("speech_recognition", np.eye(3)[[0, 1, 1, 2, 0, 2]].astype("float32"), vocabulary=("-", "a", "b")).tokens,
        [1, 2, 2],
    )


def _text() -> None:
    found = _read("text_decoding", np.eye(4)[[2, 1, 3, 0]].astype("float32"), vocabulary=("a", "b", "c", "."), end=3)
    equal(found.tokens, [2, 1])
    holds(found.text == "cb", f"the text ends before the last token, received {found.text!r}")


_TASKS: dict[str, tuple[str, Callable[[], None]]] = {
    "image classification": ("classification", _classes),
    "object detection": ("detection", _boxes),
    "image segmentation": ("segmentation", _mask),
    "key points": ("keypoints", _points),
    "audio": ("speech_recognition", _speech),
    "texts": ("text_decoding", _text),
}


def try_task(kind: str, tried: Callable[[], None]) -> None:
    if kind not in infer.POSTPROCESSORS:
        raise Missing(f"labdl.infer has no post-processing {kind}")
    tried()


for _task, (_kind, _tried) in _TASKS.items():
    row("6.2.3.5 b)", f"Post-processing of {_task}", "its result for outputs that are known", name=_task)(
        lambda kind=_kind, tried=_tried: try_task(kind, tried)
    )


@row(
    "B.5.1, table B.12",
    "An inference from preproc and postproc",
    "both in use; wrong settings; what is no model",
    interface="construct_inference",
)
def construct_inference():
    model, expected = _model()
    made = standard.construct_inference(
        model,
        {
            "preproc": lambda text: np.array([float(n) for n in text.split()], "float32"),
            "postproc": _above,
            "batch_size": 2,
        },
    )
    holds(isinstance(made, infer.Inference), "an Inference comes back")
    texts = [" ".join(map(str, x)) for x in _X]
    holds(
        standard.infer_samples(made, texts) == [_above(output) for output in expected],
        "both are called for each sample",
    )
    for wrong, word in (
        ({"preprocess": len}, "preprocess"),
        ({"batch_size": 0}, "batch_size"),
        ({"postproc": "guess"}, "guess"),
        ({"preproc": 3}, "preproc"),
        (3, "int"),
    ):
        with raises(ConfigError, word):
            standard.construct_inference(model, wrong)  # type: ignore[arg-type]
    with raises(ModelError):
        standard.construct_inference(len, {})  # type: ignore[arg-type]


@row(
    "B.5.2, table B.13",
    "The result for one sample, with settings of this call",
    "a threshold of one call; an unknown setting",
    interface="infer_one_sample",
)
def infer_one_sample():
    model, expected = _model()
    made = standard.construct_inference(model, {"postproc": _above})
    holds(standard.infer_one_sample(made, _X[0]) == _above(expected[0]), "the result is that of NumPy")
    holds(standard.infer_one_sample(made, _X[0], {"threshold": 9.0}) == [], "the threshold of this call counts")
    holds(standard.infer_one_sample(made, _X[0]) == _above(expected[0]), "and for this call only")
    with raises(ConfigError, "height"):
        standard.infer_one_sample(made, _X[0], {"height": 1})


@row(
    "B.5.3, table B.14",
    "The results for samples, in a list",
    "7 samples against NumPy, a threshold, no samples",
    interface="infer_samples",
)
def infer_samples():
    model, expected = _model()
    made = standard.construct_inference(model, {"postproc": _above, "batch_size": 3})
    found = standard.infer_samples(made, list(_X), {"threshold": 0.2})
    holds(isinstance(found, list), "a list comes back")
    holds(found == [_above(output, 0.2) for output in expected], "the results are those of NumPy, in order")
    holds(standard.infer_samples(made, []) == [], "no samples give no results")


def _score(output: np.ndarray, target: np.ndarray) -> float:
    return float((output.argmax(1) == target).mean())


def try_evaluator(construct: Callable) -> None:
    model, _ = _model()
    made = standard.construct_inference(model, {})
    holds(
        isinstance(construct(made, {"default_dataset": (_X, _Y), "eval_metric": "accuracy"}), infer.Evaluator),
        "an Evaluator comes back",
    )
    for wrong, word in (
        ({"metric": "accuracy"}, "metric"),
        ({"eval_metric": "luck"}, "luck"),
        ({"batch_size": 0}, "batch_size"),
        (3, "int"),
    ):
        with raises(ConfigError, word):
            construct(made, wrong)
    with raises(ConfigError, "Linear"):
        construct(model, {})


def try_evaluation(construct: Callable, evaluate: Callable) -> None:
    model, expected = _model()
    evaluator = construct(
        standard.construct_inference(model, {"batch_size": 3}),
        {"default_dataset": (_X, _Y), "eval_metric": ["accuracy", _score]},
    )
    right = _score(expected, _Y)
    found = evaluate(evaluator)
    close([found["accuracy"], found["_score"]], [right, right])
    close(evaluate(evaluator, (_X[:2], _Y[:2]))["accuracy"], _score(expected[:2], _Y[:2]))
    order = np.argsort(-expected, 1)[:, :2]
    top = infer_metric(evaluate, evaluator)
    close(top, (order == _Y[:, None]).any(1).mean())
    with raises(ConfigError, "data set"):
        evaluate(construct(standard.construct_inference(model, {}), {"eval_metric": "accuracy"}))


def infer_metric(evaluate: Callable, evaluator) -> float:
    """Evaluate with a metric for one call instead of the evaluator's."""
    found = evaluate(evaluator, None, {"eval_metric": TopKAccuracy(k=2)})
    holds(list(found) == ["top_k_accuracy"], f"the metric of this call counts, received {', '.join(found)}")
    return found["top_k_accuracy"]


@row(
    "B.6.1, table B.15",
    "An evaluator from default_dataset and eval_metric",
    "its kind; wrong settings",
    interface="construct_evalvater",
)
def construct_evalvater():
    try_evaluator(standard.construct_evalvater)


@row(
    "B.6.2, table B.16",
    "The scores over a data set",
    "default and other data, other metrics, no data, against NumPy",
    interface="evalvate",
)
def evalvate():
    try_evaluation(standard.construct_evalvater, standard.evalvate)


@row("B.6", "The same under the English spelling", "construct_evaluator and evaluate, as above")
def english_spelling():
    try_evaluator(standard.construct_evaluator)
    try_evaluation(standard.construct_evaluator, standard.evaluate)
