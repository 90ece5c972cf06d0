"""Shape rules of reductions."""

from __future__ import annotations

import numpy as np

from labdl.ops.rules.elementwise import float_of, real_of
from labdl.ops.rules.traits import layout
from labdl.spec import INTEGERS, Spec, normal_axes, show


def reduction(x, axis=None, keepdims=False, **options) -> Spec:
    axes = normal_axes(axis, x.ndim)
    if len(set(axes)) < len(axes):
        raise ValueError(f"a reduction names each axis once, received {axis}")
    shape = [1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes]
    return Spec(tuple(shape), x.dtype)


def sum_dtype(dtype: str, wanted: str | None = None) -> str:
    """The dtype of sums and products: int64 for integers and bool unless ``wanted`` is given."""
    return wanted or ("int64" if dtype == "bool" or dtype in INTEGERS else dtype)


def total(x, axis=None, keepdims=False, *, dtype=None) -> Spec:
    return Spec(reduction(x, axis, keepdims).shape, sum_dtype(x.dtype, dtype))


def average(x, axis=None, keepdims=False) -> Spec:
    return Spec(reduction(x, axis, keepdims).shape, float_of(x.dtype))


def spread(x, axis=None, keepdims=False, correction=0) -> Spec:
    return average(x, axis, keepdims)


def _check_not_empty(x, axis) -> None:
    empty = [a for a in normal_axes(axis, x.ndim) if x.shape[a] == 0]
    if empty:
        raise ValueError(f"no elements to choose from: axis {empty[0]} of {show(x.shape)} has size 0")


def extreme(x, axis=None, keepdims=False) -> Spec:
    _check_not_empty(x, axis)
    return reduction(x, axis, keepdims)


@layout("index_reduction")
def index_reduction(x, axis=None, keepdims=False) -> Spec:
    if not isinstance(axis, int | None):
        raise ValueError(f"a position is found along one axis or in the flattened tensor, received axis={axis}")
    return Spec(extreme(x, axis, keepdims).shape, "int64")


def boolean_reduction(x, axis=None, keepdims=False) -> Spec:
    return Spec(reduction(x, axis, keepdims).shape, "bool")


QUANTILE_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(x, q, axis=None, keepdims=False, *, method="linear") -> Spec:
    many = isinstance(q, list | tuple)
    shares = q if many else [q]
    if not all(isinstance(p, int | float | np.number) for p in shares):
        raise TypeError(f"quantile wants q as a number or a list of numbers, received {q!r:.80}")
    if not shares or any(not 0 <= p <= 1 for p in shares):
        raise ValueError(f"quantile wants q from 0 to 1, received {q}")
    if not isinstance(axis, int | None):
        raise ValueError(f"quantile wants one axis, or None for all, received axis={axis}")
    rest = Spec(extreme(x, axis, keepdims).shape, float_of(real_of(x.dtype)))
    return rest.with_shape([len(q), *rest.shape]) if many else rest


def _the_axis(x, axis) -> int:
    if axis is None and x.ndim != 1:
        raise ValueError(f"axis may be left out for tensors of one axis only, received {show(x.shape)}")
    return normal_axes(0 if axis is None else axis, x.ndim)[0]


@layout("axis")
def cumulative(x, axis=None) -> Spec:
    """Running extremes: same shape, same dtype."""
    _the_axis(x, axis)
    return x


@layout("axis")
def cumulative_total(x, axis=None, *, dtype=None, include_initial=False) -> Spec:
    at = _the_axis(x, axis)
    size = x.shape[at]
    if include_initial and size is not None:
        size += 1
    return Spec((*x.shape[:at], size, *x.shape[at + 1 :]), sum_dtype(x.dtype, dtype))
