"""Shape rules of sorting, searching, sets and counts; sizes that depend on the elements are unknown."""

from __future__ import annotations

from labdl.ops.rules.elementwise import float_of, operand, promoting
from labdl.spec import Spec, normal_axes, show

_COUNTS = Spec((None,), "int64")


def sort(x, axis=-1, *, descending=False, stable=True) -> Spec:
    normal_axes(axis, x.ndim)
    return x


def argsort(x, axis=-1, *, descending=False, stable=True) -> Spec:
    return Spec(sort(x, axis).shape, "int64")


def topk(x, k, axis=-1, *, largest=True) -> tuple[Spec, Spec]:
    at = normal_axes(axis, x.ndim)[0]
    size = x.shape[at]
    if k < 0 or (size is not None and k > size):
        raise ValueError(f"topk of {k} elements along axis {at} of {show(x.shape)}: there are {size}")
    shape = (*x.shape[:at], k, *x.shape[at + 1 :])
    return Spec(shape, x.dtype), Spec(shape, "int64")


def unique_values(x) -> Spec:
    return Spec((None,), x.dtype)


def unique_counts(x) -> tuple[Spec, Spec]:
    return unique_values(x), _COUNTS


def unique_inverse(x) -> tuple[Spec, Spec]:
    return unique_values(x), Spec(x.shape, "int64")


def unique_all(x) -> tuple[Spec, Spec, Spec, Spec]:
    return unique_values(x), _COUNTS, Spec(x.shape, "int64"), _COUNTS


def unique_consecutive(x, *, return_inverse=False, return_counts=False, axis=None) -> Spec | tuple[Spec, ...]:
    if axis is None:
        found, inverse = unique_values(x), Spec(x.shape, "int64")
    else:
        at = normal_axes(axis, x.ndim)[0]
        found, inverse = x.with_shape((*x.shape[:at], None, *x.shape[at + 1 :])), Spec((x.shape[at],), "int64")
    results = (found, *(inverse,) * return_inverse, *(_COUNTS,) * return_counts)
    return results if results[1:] else found


@promoting
def searchsorted(x1, x2, *, side="left", sorter=None) -> Spec:
    if x1.ndim != 1:
        raise ValueError(f"searchsorted wants a sorted tensor of one axis, received {show(x1.shape)}")
    if sorter is not None and (
        sorter.ndim != 1 or (None not in (*sorter.shape, *x1.shape) and sorter.shape != x1.shape)
    ):
        raise ValueError(
            f"searchsorted wants a position for each of {show(x1.shape)}, received sorter {show(sorter.shape)}"
        )
    return Spec(operand(x2).shape, "int64")


def nonzero(x) -> tuple[Spec, ...]:
    if x.ndim == 0:
        raise ValueError("nonzero wants a tensor of at least one axis")
    return (_COUNTS,) * x.ndim


@promoting
def isin(x1, x2, *, invert=False) -> Spec:
    return Spec(operand(x1).shape, "bool")


def bincount(x, weights=None, *, minlength=0) -> Spec:
    if x.ndim != 1:
        raise ValueError(f"bincount wants a tensor of one axis, received {show(x.shape)}")
    if weights is not None and (
        weights.ndim != 1 or (None not in (*weights.shape, *x.shape) and weights.shape != x.shape)
    ):
        raise ValueError(f"bincount of {show(x.shape)} wants as many weights, received {show(weights.shape)}")
    return Spec((None,), "int64" if weights is None else weights.dtype)


def histogram(x, bins=10, *, range=None, density=False) -> tuple[Spec, Spec]:
    if not isinstance(bins, int) or bins < 1:
        raise ValueError(f"histogram wants a number of bins, 1 or more, received {bins!r}")
    if range is not None and not range[0] < range[1]:
        raise ValueError(f"range wants its lower end first, received {tuple(range)}")
    if range is None and 0 in x.shape:
        raise ValueError("histogram of no elements wants a range")
    edges = float_of(x.dtype)
    return Spec((bins,), edges if density else "int64"), Spec((bins + 1,), edges)
