"""Sorting, searching, sets and counts (Python Array API standard; topk, isin, bincount and histogram as in PyTorch)."""

from typing import Any

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops.array.shape import astype, ones_like, reshape, roll, stack, take
from labdl.ops.math.comparison import equal, logical_or, not_equal
from labdl.ops.math.complex_numbers import imag, real
from labdl.ops.math.reduction import any, cumulative_sum
from labdl.ops.operator import NUMBERS_AND_BOOL, REALS, REALS_AND_BOOL, Choice, case, floats, ints, operator, values
from labdl.ops.rules import sorting as shapes
from labdl.spec import COMPLEX, normal_axes

_ORDERED = (*REALS_AND_BOOL, "string")
_SORTED = (case(floats(3, 4)), case(floats(3, 4, 2), axis=1), case(floats(5), descending=True))
_TIED = (case(values(8)), case(values(4, 6), axis=0, descending=True))
_REPEATED = (case(values(12)), case(values(3, 4)), case(floats(2, 3)), case(values(8, dtype="bool")))


def _order(x, axis, descending):
    """Positions in sorted order, equal elements in their original order, NaN last."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    ranks = -np.unique(x, return_inverse=True)[1].reshape(x.shape)
    ranks[x != x] = 1
    return np.argsort(ranks, axis=axis, kind="stable")


@operator(shapes.sort, *_SORTED, takes=_ORDERED)
def sort(x, axis=-1, *, descending=False, stable=True):
    """Elements in ascending or descending order along an axis, NaN last in both."""
    return np.take_along_axis(x, _order(x, axis, descending), axis)


@operator(shapes.argsort, *_SORTED, *_TIED, takes=_ORDERED, differentiable=False)
def argsort(x, axis=-1, *, descending=False, stable=True):
    """Positions of the elements in ascending or descending order along an axis, NaN last in both.

    Equal elements keep their order, in both directions and with any ``stable``.
    """
    return _order(x, axis, descending)


def _values_at_positions(results, x, k, axis=-1, *options):
    """Compare the values and the elements at the positions: the choice among equal elements is free."""
    found, positions = results[:2]
    return [found, np.take_along_axis(np.asarray(x), np.asarray(positions), axis)]


@operator(
    shapes.topk,
    case(floats(3, 5), 2),
    case(floats(4, 3), 3, 0),
    case(floats(6), 2, largest=False),
    takes=REALS,
    compare=_values_at_positions,
)
def topk(x, k, axis=-1, *, largest=True):
    """The ``k`` largest or smallest elements along an axis in order, and their positions; NaN comes last.

    The choice among equal elements is the backend's. Semantics: torch.topk.
    """
    order = np.take(_order(x, axis, largest), np.arange(k), axis)
    return np.take_along_axis(x, order, axis), order


@operator(
    None,
    case(floats(3, 5), 2),
    case(floats(4, 3), 3, 0),
    case(floats(2, 6), 2, 1, keepdims=True),
    takes=REALS,
    compare=lambda results, *arguments: results[:1],
)
def kthvalue(x, k, axis=-1, *, keepdims=False):
    """The ``k``-th smallest element along an axis, counted from 1, and its position. Semantics: torch.kthvalue."""
    if k < 1:
        raise ValueError(f"kthvalue counts from 1, received k={k}")
    found, positions = topk(x, k, axis, largest=False)
    whole = (slice(None),) * normal_axes(axis, len(x.shape))[0]
    last = (*whole, slice(k - 1, k) if keepdims else k - 1)
    return found[last], positions[last]


_UNIQUE: dict[str, Any] = {"takes": (*_ORDERED, *COMPLEX), "differentiable": False, "composite": True}


@operator(shapes.unique_all, *_REPEATED, **_UNIQUE, without_onnx="no counting into a size that is unknown")
def unique_all(x, /):
    """The unique elements, sorted; their first positions in the flattened tensor; for each element of ``x`` its
    position among them; and how often each occurs. Complex numbers are ordered by their real parts, then by the imaginary ones;
    each NaN is unique."""
    flat = reshape(x, (-1,))
    keys = (real(flat), imag(flat)) if spec_of(x).dtype in COMPLEX else (flat,)
    order = argsort(keys[-1])
    for key in keys[:-1]:
        order = take(order, argsort(take(key, order, axis=0)), axis=0)
    new = equal(cumulative_sum(ones_like(order)), 1)  # the first, and each that differs from the one before
    for key in keys:
        key = take(key, order, axis=0)
        new = logical_or(new, not_equal(key, roll(key, 1)))
    number, starts = cumulative_sum(astype(new, "int64")) - 1, take(order, nonzero(new)[0], axis=0)
    inverse = reshape(take(number, argsort(order), axis=0), x.shape)
    return take(flat, starts, axis=0), starts, inverse, bincount(number)


@operator(shapes.unique_values, *_REPEATED, **_UNIQUE, without_onnx="no counting into a size that is unknown")
def unique_values(x, /):
    """The unique elements, sorted: see `unique_all`."""
    return unique_all(x)[0]


@operator(shapes.unique_counts, *_REPEATED, **_UNIQUE, without_onnx="no counting into a size that is unknown")
def unique_counts(x, /):
    """The unique elements, sorted, and how often each occurs: see `unique_all`."""
    found, _, _, counts = unique_all(x)
    return found, counts


@operator(shapes.unique_inverse, *_REPEATED, **_UNIQUE, without_onnx="no counting into a size that is unknown")
def unique_inverse(x, /):
    """The unique elements, sorted, and for each element of ``x`` its position among them: see `unique_all`."""
    found, _, inverse, _ = unique_all(x)
    return found, inverse


@operator(
    shapes.unique_consecutive,
    case(values(12, high=2)),
    case(values(3, 4, high=2), return_inverse=True, return_counts=True),
    case(values(6, 1, high=1), return_inverse=True, return_counts=True, axis=0),
    case(values(1, 6, high=1), axis=-1),
    case(floats(2, 3)),
    **_UNIQUE,
)
def unique_consecutive(x, /, *, return_inverse=False, return_counts=False, axis=None):
    """The elements without those that equal the one before; along an axis, slices, else of the flattened tensor.

    With ``return_inverse`` also the position of each element (slice) in the result, with ``return_counts`` also how many
    each stands for. Each NaN is unique. Semantics: torch.unique_consecutive.
    """
    rank = len(x.shape)
    at = 0 if axis is None else normal_axes(axis, rank)[0]
    x, sizes = (reshape(x, (-1,)), tuple(-1 if n is None else n for n in x.shape)) if axis is None else (x, (-1,))
    differs = not_equal(x, roll(x, 1, at))
    if axis is not None and rank > 1:
        differs = any(differs, axis=tuple(a for a in range(rank) if a != at))
    new = logical_or(differs, equal(cumulative_sum(ones_like(differs, dtype="int64")), 1))
    starts = nonzero(new)[0]
    results = [take(x, starts, axis=at)]
    if return_inverse:
        results.append(reshape(cumulative_sum(astype(new, "int64")) - 1, sizes))
    if return_counts:
        results.append(nonzero(roll(new, -1))[0] - starts + 1)
    return tuple(results) if results[1:] else results[0]


# a tensor of equal elements is sorted for any random sample
@operator(
    shapes.searchsorted,
    case(floats(5, low=0.5, high=0.5), floats(2, 3)),
    case(values(4, low=2, high=2), values(3, 4), side="right"),
    case(floats(1), floats()),
    case(floats(3, low=0.5, high=0.5), floats(4), sorter=ints(3, high=3)),
    takes=REALS,
    differentiable=False,
    without_onnx="no counting into a size that is unknown",
    options={"side": Choice("left", "right")},
)
def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Positions at which the elements of ``x2`` fit into the sorted tensor ``x1`` of one axis.

    Of equal elements ``side="left"`` gives the first position, "right" the one after the last. ``sorter``: positions that
    sort ``x1``, as `argsort` gives them.
    """
    return np.searchsorted(x1, x2, side, sorter)  # type: ignore[arg-type]


@operator(
    shapes.nonzero, case(values(8, high=1)), case(values(3, 4, high=1)), takes=NUMBERS_AND_BOOL, differentiable=False
)
def nonzero(x, /):
    """Positions of the elements that are true or not 0, in order: one tensor for each axis."""
    if np.ndim(x) == 0:
        raise ValueError("nonzero wants a tensor of at least one axis")
    return np.nonzero(x)


@operator(None, case(values(8, high=1)), case(values(3, 4, high=1)), takes=NUMBERS_AND_BOOL, differentiable=False)
def argwhere(x, /):
    """Positions of the elements that are true or not 0, in order: one row for each. Semantics: torch.argwhere."""
    return stack(list(nonzero(x)), axis=1)


@operator(
    shapes.isin,
    case(values(3, 4), values(3)),
    case(values(8), values(2, 2), invert=True),
    case(floats(4), floats(2)),
    takes=_ORDERED,
    differentiable=False,
)
def isin(x1, x2, /, *, invert=False):
    """Whether elements of ``x1`` are among those of ``x2``; ``invert=True``: are not. Semantics: torch.isin."""
    return np.isin(x1, x2, invert=invert)


@operator(
    shapes.bincount,
    case(ints(9)),
    case(ints(6), floats(6)),
    case(ints(4, high=3), minlength=6),
    differentiable=False,
    without_onnx="no counting into a size that is unknown",
)
def bincount(x, /, weights=None, *, minlength=0):
    """How often each number from 0 up occurs in a tensor of integers of one axis; with weights, the sum of them.

    The result has the largest number plus one elements, and at least ``minlength``. Semantics: torch.bincount.
    """
    return np.bincount(x, weights, minlength)


@operator(
    shapes.histogram,
    case(floats(20), 4),
    case(floats(4, 5), 5, range=(-1.0, 1.5)),
    case(floats(12), bins=3, density=True),
    takes=REALS,
    differentiable=False,
    without_onnx="no counting into a size that is unknown",
)
def histogram(x, /, bins=10, *, range=None, density=False):
    """Counts of the elements in equal intervals, and the edges of these: one more than there are counts.

    ``range``: the first and the last edge, the least and the largest element by default (half below and half above
    if they are equal); elements outside do not count. An edge belongs to the interval above it, the last one to that
    below. ``density=True``: counts divided by their sum and by the width.
    """
    return np.histogram(x, bins, range, density)
