"""ONNX writers of reductions, running sums and sorting."""

from __future__ import annotations

import numpy as np

from labdl import ops
from labdl.saving.onnx.exporter.registry import writes
from labdl.saving.onnx.standard import DTYPES
from labdl.spec import FLOATS, normal_axes


def _axes(x, axis) -> list[int] | None:
    return None if axis is None else list(normal_axes(axis, x.ndim))


def _reduce(e, kind: str, x, axis, keepdims):
    if axis == () or x.ndim == 0:
        return x if isinstance(x, str) else e("Identity", x)
    return e(kind, x, _axes(x, axis), keepdims=int(keepdims))


def reduction(kind: str):
    """Reduction in the dtype of the result."""

    def write(e, x, axis, keepdims, dtype=None):
        wide = _wide(e.spec.dtype)
        return _narrow(e, _reduce(e, kind, e.cast(x, wide), axis, keepdims))

    return write


def _wide(dtype: str) -> str:
    """The dtype to sum in: ONNX has no sums of small integers."""
    return "int64" if dtype in ("int8", "int16", "uint8") else dtype


def _narrow(e, name):
    return name if _wide(e.spec.dtype) == e.spec.dtype else e("Cast", name, to=DTYPES[e.spec.dtype])


def extreme(kind: str):
    """Maximum or minimum; booleans as integers, because ONNX Runtime does not compare booleans."""

    def write(e, x, axis, keepdims):
        found = _reduce(e, kind, e.cast(x, "int32") if x.dtype == "bool" else x, axis, keepdims)
        return e("Cast", found, to=DTYPES["bool"]) if x.dtype == "bool" else found

    return write


def truth(kind: str):
    def write(e, x, axis, keepdims):
        return e("Cast", _reduce(e, kind, e.cast(e.cast(x, "bool"), "int32"), axis, keepdims), to=DTYPES["bool"])

    return write


def position(kind: str):
    def write(e, x, axis, keepdims):
        x = e.cast(x, "int32") if x.dtype == "bool" else x
        if axis is not None and x.ndim:
            return e(kind, x, axis=axis % x.ndim, keepdims=int(keepdims))
        found = e(kind, ops.reshape(x, (-1,)), axis=0, keepdims=0)
        return e("Reshape", found, [1] * x.ndim) if keepdims else found

    return write


@writes("var")
def var(e, x, axis, keepdims, correction):
    x = e.cast(x, e.spec.dtype)
    apart = ops.subtract(x, ops.mean(x, axis=axis, keepdims=True))
    result = ops.mean(ops.square(apart), axis=axis, keepdims=keepdims)
    if correction:
        sizes = [x.shape[a] for a in normal_axes(axis, x.ndim)]
        if None in sizes:
            raise e.lacks("a correction wants known sizes on the axes")
        count = float(np.prod(sizes))
        result = ops.multiply(result, count / max(count - correction, 0))
    return result


@writes("std")
def std(e, x, axis, keepdims, correction):
    return ops.sqrt(var(e, x, axis, keepdims, correction))


@writes("cumulative_sum")
def cumulative_sum(e, x, axis, dtype, include_initial):
    axis = normal_axes(axis or 0, x.ndim)[0]
    sums = _narrow(e, e("CumSum", e.cast(x, _wide(e.spec.dtype)), e.number(axis, "int64")))
    if not include_initial:
        return sums
    first = ops.zeros_like(ops.getitem(x, (*(slice(None),) * axis, slice(0, 1))), dtype=e.spec.dtype)
    return e("Concat", first, sums, axis=axis)


def _top(e, x, k, axis, largest):
    """Values and positions of the first ``k`` elements in order."""
    if x.dtype == "bool":
        raise e.lacks("booleans have no order there")
    axis = axis % x.ndim

    def count(of):
        size = x.shape[axis] if k is None else k
        return e("Gather", e("Shape", of), [axis]) if size is None else [size]

    if x.dtype not in FLOATS:
        return e("TopK", x, count(x), axis=axis, largest=int(largest), sorted=1, outputs=2)
    # ONNX has no order of NaN: it stands for the last infinity, and then behind the true ones
    nan = e("IsNaN", x)
    numbers = e("Where", nan, e.number(-np.inf if largest else np.inf, x.dtype), x)
    size = e("Gather", e("Shape", numbers), [axis]) if x.shape[axis] is None else [x.shape[axis]]
    order = e("TopK", numbers, size, axis=axis, largest=int(largest), sorted=1, outputs=2)[1]
    last = e("GatherElements", e("Cast", nan, to=DTYPES["int64"]), order, axis=axis)
    stable = e("TopK", last, count(last), axis=axis, largest=0, sorted=1, outputs=2)[1]
    places = e("GatherElements", order, stable, axis=axis)
    return e("GatherElements", x, places, axis=axis), places


@writes("sort")
def sort(e, x, axis, descending, stable):
    return _top(e, x, None, axis, descending)[0]


@writes("argsort")
def argsort(e, x, axis, descending, stable):
    return _top(e, x, None, axis, descending)[1]


@writes("topk")
def topk(e, x, k, axis, largest):
    return _top(e, x, k, axis, largest)


@writes("nonzero")
def nonzero(e, x):
    places = e("NonZero", x)
    return [e("Gather", places, e.number(axis, "int64"), axis=0) for axis in range(x.ndim)]


writes("sum")(reduction("ReduceSum"))
writes("prod")(reduction("ReduceProd"))
writes("mean")(reduction("ReduceMean"))
writes("max")(extreme("ReduceMax"))
writes("min")(extreme("ReduceMin"))
writes("any")(truth("ReduceMax"))
writes("all")(truth("ReduceMin"))
writes("argmax")(position("ArgMax"))
writes("argmin")(position("ArgMin"))
