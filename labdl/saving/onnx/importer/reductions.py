"""ONNX readers of reductions, running sums, sorting and random numbers."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator

import numpy as np

from labdl.saving.onnx.importer.at_run_time.axes import along_one_axis, count_reduced, reduce_axes
from labdl.saving.onnx.importer.at_run_time.places import first
from labdl.saving.onnx.importer.at_run_time.vectors import constant, is_known
from labdl.saving.onnx.importer.dynamic_shapes import Size
from labdl.saving.onnx.importer.elementwise import divide_integers
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import reads
from labdl.saving.onnx.standard import NAMES
from labdl.spec import FLOATS, normal_axes


def axes_of(r, node, x, given, empty_is_all: bool = True):
    """The axes of a node, from its second input or, in older files, its attribute; None for all, () for none."""
    none = given is None or given.shape == (0,)
    axes = node.attributes.get("axes") if none else numbers(r, node, given, "axes")
    if axes:
        return tuple(normal_axes(tuple(axes), len(x.shape)))
    return () if node.attributes.get("noop_with_empty_axes") or not empty_is_all else None


def _are_computed(axes) -> bool:
    """Whether the model computes axes; that there are none is known."""
    return axes is not None and not is_known(axes) and axes.shape != (0,)


def numbers(r, node, value, what: str) -> list[int]:
    """Integers that are constants of the file. Raises FileFormatError if they are computed at run time."""
    if isinstance(value, KnownValue) and value.array.dtype.kind == "f" and (value.array % 1 == 0).all():
        return [int(n) for n in value.array.ravel()]
    if not isinstance(value, KnownValue) or value.open or value.array.dtype.kind not in "iu":
        raise r.needs(node, value, what)
    return [int(n) for n in value.array.ravel()]


def reduction(name: str, *, before=None, after=None, typed: bool = False):
    def read(r, node, x, axes=None):
        along = None if _are_computed(axes) else axes_of(r, node, x, axes)
        x = before(r, x) if before else x
        options = {"dtype": x.dtype} if typed and x.dtype not in FLOATS else {}
        if _are_computed(axes):
            x = reduce_axes(r, node, x, axes, lambda v, a: r.call(name, v, axis=a, keepdims=True, **options))
        elif along != ():
            x = r.call(name, x, axis=along, keepdims=bool(node.attributes.get("keepdims", 1)), **options)
        return after(r, x) if after else x

    return read


def _through_floats(name: str, *, before=None, after=None):
    """A reduction that is defined on floats; of integers the result is an integer, rounded toward zero."""
    read_float = reduction(name, before=before, after=after)

    def read(r, node, x, axes=None):
        if x.dtype in FLOATS:
            return read_float(r, node, x, axes)
        result = read_float(r, node, r.call("astype", x, "float64"), axes)
        return r.call("astype", result, x.dtype)

    return read


def extreme(name: str, end: float):
    """The largest or smallest element; of none the first or last number of the dtype."""

    def read(r, node, x, axes=None):
        if _are_computed(axes):
            own = dataclasses.replace(node, attributes={**node.attributes, "keepdims": 1})
            return reduce_axes(r, node, x, axes, lambda v, a: read(r, own, v, constant([a])))
        along = axes_of(r, node, x, axes)
        reduced = range(len(x.shape)) if along is None else along
        if not any(x.shape[a] == 0 for a in reduced) or 0 in (n for a, n in enumerate(x.shape) if a not in reduced):
            return _EXTREMES[name](r, node, x, axes)
        if x.dtype == "bool":
            nothing = end > 0
        elif x.dtype in FLOATS:
            nothing = end
        else:
            nothing = getattr(np.iinfo(x.dtype), "max" if end > 0 else "min")
        sums = r.call("sum", x, axis=along, keepdims=bool(node.attributes.get("keepdims", 1)))
        return r.call("full_like", sums, nothing, dtype=x.dtype)

    return read


def position(name: str):
    def read(r, node, x):
        axis, keepdims = node.attributes.get("axis", 0), bool(node.attributes.get("keepdims", 1))
        if not node.attributes.get("select_last_index"):
            return r.call(name, x, axis=axis, keepdims=keepdims)
        if x.shape[axis] is None:
            raise r.refuse(node, "selects the last of equal elements (select_last_index) along an axis of unknown size")
        place = r.call(name, r.call("flip", x, axis=axis), axis=axis, keepdims=keepdims)
        return r.call("subtract", x.shape[axis] - 1, place)

    return read


def cumulative(name: str):
    def read(r, node, x, axis):
        if not is_known(axis):
            return along_one_axis(r, x, axis, lambda a: read(r, node, x, constant(a)))
        (along,) = numbers(r, node, axis, "axis")
        back, exclusive = node.attributes.get("reverse", 0), bool(node.attributes.get("exclusive", 0))
        x = r.call("flip", x, axis=along) if back else x
        result = r.call(name, x, axis=along, dtype=x.dtype, include_initial=exclusive)
        if exclusive:  # the last one is the only one that includes the last element
            result = r.call("getitem", result, (*(slice(None),) * (along % len(x.shape)), slice(-1)))
        return r.call("flip", result, axis=along) if back else result

    return read


reads("CumSum")(cumulative("cumulative_sum"))
reads("CumProd")(cumulative("cumulative_prod"))


@reads("TopK")
def top(r, node, x, k):
    axis, largest = node.attributes.get("axis", -1) % len(x.shape), bool(node.attributes.get("largest", 1))
    whole = k.array.item() if isinstance(k, KnownValue) and k.array.dtype == object and k.array.size == 1 else None
    if isinstance(whole, Size) and whole.tensor is x and whole.axis == axis:  # all elements of an axis of unknown size
        return [r.call(name, x, axis=axis, descending=largest) for name in ("sort", "argsort")]
    places = r.call(
        "argsort", x, axis=axis, descending=largest, stable=True
    )  # of equal elements the first, as ONNX says
    if is_known(k):
        (count,) = numbers(r, node, k, "number")
        places = r.call("getitem", places, (*(slice(None),) * axis, slice(count)))
    else:
        places = first(r, places, k, axis)
    return [r.call("take_along_axis", x, places, axis=axis), places]


def random_like(name: str, **settings):
    def read(r, node, x):
        if "dtype" in node.attributes and NAMES.get(node.attributes["dtype"]) != x.dtype:
            raise r.refuse(node, "samples in another dtype than that of its input")
        return r.call(name, x, **{word: float(node.attributes.get(*given)) for word, given in settings.items()})

    return read


reads("ReduceSum")(reduction("sum", typed=True))
_PRODUCT = reduction("prod", typed=True)


@reads("ReduceProd")
def product(r, node, x, axes=None):
    """The product of numbers, or of a vector of sizes."""
    if isinstance(x, KnownValue) and x.open and x.ndim == 1:
        axes_of(r, node, x, axes)
        result = np.asarray(functools.reduce(operator.mul, x.array.tolist()), object)
        return KnownValue(result.reshape((1,) if node.attributes.get("keepdims", 1) else ()))
    return _PRODUCT(r, node, x, axes)


_MEAN = reduction("mean")
_EXTREMES = {name: reduction(name) for name in ("max", "min")}


@reads("ReduceMean")
def mean(r, node, x, axes=None):
    """The mean; of integers it is an integer, rounded toward zero."""
    if x.dtype in FLOATS:
        return _MEAN(r, node, x, axes)
    if _are_computed(axes):
        sums = reduction("sum", typed=True)(r, node, x, axes)
        return divide_integers(r, sums, r.call("astype", count_reduced(r, node, x, axes), x.dtype))
    along = axes_of(r, node, x, axes)
    sizes = [x.shape[a] for a in (range(len(x.shape)) if along is None else along)]
    if along == ():
        return x
    if None in sizes:
        return r.call("astype", _MEAN(r, node, r.call("astype", x, "float64"), axes), x.dtype)
    sums = r.call("sum", x, axis=along, keepdims=bool(node.attributes.get("keepdims", 1)), dtype=x.dtype)
    return divide_integers(r, sums, math.prod(sizes))


reads("ReduceMax")(extreme("max", -np.inf))
reads("ReduceMin")(extreme("min", np.inf))
reads("ReduceL1")(reduction("sum", before=lambda r, x: r.call("abs", x), typed=True))
reads("ReduceL2")(_through_floats("sum", before=lambda r, x: r.call("square", x), after=lambda r, x: r.call("sqrt", x)))
reads("ReduceSumSquare")(reduction("sum", before=lambda r, x: r.call("square", x), typed=True))
reads("ReduceLogSum")(_through_floats("sum", after=lambda r, x: r.call("log", x)))
reads("ReduceLogSumExp")(_through_floats("logsumexp"))
reads("ArgMax")(position("argmax"))
reads("ArgMin")(position("argmin"))
reads("RandomUniformLike")(random_like("random_uniform_like", low=("low", 0.0), high=("high", 1.0)))
reads("RandomNormalLike")(random_like("random_normal_like", mean=("mean", 0.0), std=("scale", 1.0)))
