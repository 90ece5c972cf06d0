"""ONNX readers of the operators for linear models (domain ai.onnx.ml), which converters of scikit-learn write."""

from __future__ import annotations

import numpy as np

from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.neural import linear
from labdl.saving.onnx.importer.registry import reads
from labdl.spec import FLOATS, Spec

_NORMS = {"L1": lambda r, x: r.call("abs", x), "L2": lambda r, x: r.call("square", x)}


def _floating(r, node, x):
    if not isinstance(x, Spec) or len(x.shape) != 2:
        raise r.refuse(node, "wants a tensor (samples, features)")
    return x if x.dtype in FLOATS else r.call("astype", x, "float32")


def _array(values) -> np.ndarray:
    return np.array(values, "float32")


@reads("ai.onnx.ml.Scaler")
def scaler(r, node, x):
    x = _floating(r, node, x)
    shifted = r.call("subtract", x, KnownValue(_array(node.attributes.get("offset", [0.0]))))
    return r.call("multiply", shifted, KnownValue(_array(node.attributes.get("scale", [1.0]))))


def _scores(r, node, x, count: int):
    """The linear part of a model, as a layer with the coefficients of the file."""
    x, a = _floating(r, node, x), node.attributes
    coefficients = _array(a["coefficients"])
    if count < 1 or coefficients.size % count or x.shape[1] not in (None, coefficients.size // count):
        raise r.refuse(node, f"has {coefficients.size} coefficients, which are not {count} for each feature")
    path = node.name or node.kind.rpartition(".")[2]
    kernel = KnownValue(np.ascontiguousarray(coefficients.reshape(count, -1).T), f"{path}.coefficients")
    bias = KnownValue(_array(a["intercepts"]), f"{path}.intercepts") if a.get("intercepts") else None
    if bias is not None and bias.shape != (count,):
        raise r.refuse(node, f"has {bias.array.size} intercepts for {count} outputs")
    return linear(r, node, x, kernel, bias)


def _transform(r, node, scores):
    kind = node.attributes.get("post_transform", "NONE")
    if kind == "SOFTMAX":
        return r.call("softmax", scores, axis=-1)
    if kind not in ("NONE", "LOGISTIC"):
        raise r.refuse(node, f"transforms its scores by {kind}, which LabDL does not support")
    return r.call("sigmoid", scores) if kind == "LOGISTIC" else scores


@reads("ai.onnx.ml.LinearRegressor")
def linear_regressor(r, node, x):
    return _transform(r, node, _scores(r, node, x, node.attributes.get("targets", 1)))


@reads("ai.onnx.ml.LinearClassifier")
def linear_classifier(r, node, x):
    labels = node.attributes.get("classlabels_ints")
    if not labels:
        raise r.refuse(node, "has texts as labels: convert the model with numbers as labels")
    if len(labels) < 2 or len(node.attributes.get("intercepts") or labels) != len(labels):
        raise r.refuse(node, f"has scores that are not one for each of its {len(labels)} labels")
    scores = _scores(r, node, x, len(labels))
    best = r.call("argmax", scores, axis=1)
    if list(labels) != list(range(len(labels))):
        best = r.call("take", KnownValue(np.array(labels, "int64")), best, axis=0)
    return [best, _transform(r, node, scores)]


@reads("ai.onnx.ml.Normalizer")
def normalizer(r, node, x):
    x, kind = _floating(r, node, x), node.attributes.get("norm", "MAX")
    if kind == "MAX":
        norm = r.call("max", x, axis=1, keepdims=True)  # not of magnitudes, as the standard says
    elif kind in _NORMS:
        norm = r.call("sum", _NORMS[kind](r, x), axis=1, keepdims=True)
        norm = r.call("sqrt", norm) if kind == "L2" else norm
    else:
        raise r.refuse(node, f"has the unknown norm {kind!r}")
    return r.call("divide", x, r.call("where", r.call("equal", norm, 0.0), 1.0, norm))


@reads("ai.onnx.ml.ArrayFeatureExtractor")
def array_feature_extractor(r, node, x, indices):
    if isinstance(x, KnownValue) and x.ndim == 1:
        x = KnownValue(x.array[None], x.weight)
    return r.call("take", x, r.call("reshape", indices, (-1,)), axis=-1)


@reads("ai.onnx.ml.ZipMap")
def zip_map(r, node, x):
    """Tables of probabilities by label, one for each sample: here the tensor of probabilities itself."""
    return x
