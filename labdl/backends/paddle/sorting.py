"""PaddlePaddle's spelling of sorting, searching, sets and counts."""

import functools
import math

from paddle import _C_ops

from labdl.backends.paddle.arithmetic import where
from labdl.backends.paddle.operands import (
    BOOL,
    FLOAT32,
    FRACTIONS,
    INT64,
    WIDER,
    as_tensor,
    cast,
    counted,
    filled,
    in_dtype,
    is_complex,
    is_fraction,
    matched,
    same,
    widened,
)


def _turned(x):
    return _C_ops.scale(x, -1.0, 0.0, True)


@functools.partial(widened, returned=False)
def _order(x, axis, descending):
    """Sorted elements and their positions, NaN last: in descending order Paddle puts it first."""
    if descending and is_fraction(x.dtype):
        values, order = _C_ops.argsort(_turned(x), axis, False, True)
        return _turned(values), order
    return _C_ops.argsort(x, axis, descending, True)


def sort(x, axis=-1, *, descending=False, stable=True):
    """Paddle puts NaN first in descending order."""
    return in_dtype(_order(x, axis, descending)[0], x.dtype)


def argsort(x, axis=-1, *, descending=False, stable=True):
    """Paddle puts NaN first in descending order."""
    return _order(x, axis, descending)[1]


def topk(x, k, axis=-1, *, largest=True):
    """Paddle counts NaN as the largest, and refuses to choose no elements."""
    size = x.shape[axis]
    if not 0 <= k <= size:
        raise ValueError(f"topk of {k} elements along an axis of size {size}")
    if k and 0 not in x.shape:
        values, order = _top(x, k, axis, largest)
    else:
        values, order = (_C_ops.slice(part, [axis % x.ndim], [0], [k], [1], []) for part in _order(x, axis, largest))
    return in_dtype(values, x.dtype), order


@functools.partial(widened, returned=False)
def _top(x, k, axis, largest):
    if largest and is_fraction(x.dtype):
        values, order = _C_ops.topk(_turned(x), k, axis, False, True)
        return _turned(values), order
    return _C_ops.topk(x, k, axis, largest, True)


def unique_all(x):
    """paddle.unique reads memory that is not its own where there are several NaN: here from sorted elements."""
    if is_complex(x.dtype):
        return NotImplemented
    values, order = _order(_C_ops.reshape(x, [-1]), 0, False)
    values, size = in_dtype(values, x.dtype), order.shape[0]
    if not size:
        return values, order, _C_ops.reshape(order, x.shape), order
    one = filled([1], True, BOOL)
    new = _C_ops.concat([one, _C_ops.logical_not(same(_part(values, 1, size), _part(values, 0, size - 1)))], 0)
    starts = _C_ops.reshape(_C_ops.nonzero(new), [-1])
    ends = _C_ops.concat([_part(starts, 1, starts.shape[0]), filled([1], size, INT64)], 0)
    number = _C_ops.scale(_C_ops.cumsum(cast(new, INT64), 0, False, False, False), 1.0, -1.0, True)
    inverse = _C_ops.put_along_axis(order, order, number, 0, "assign", True)
    wide = WIDER.get(x.dtype, x.dtype)
    found = in_dtype(_C_ops.gather(in_dtype(values, wide), starts, 0), x.dtype)
    return found, _C_ops.gather(order, starts, 0), _C_ops.reshape(inverse, x.shape), _C_ops.subtract(ends, starts)


def _part(x, start, stop):
    return _C_ops.slice(x, [0], [start], [stop], [1], [])


def searchsorted(x1, x2, *, side="left", sorter=None):
    """Paddle puts infinities of both signs behind everything."""
    x1, x2 = matched(x1, x2)
    kind = x1.dtype
    if kind in WIDER:
        x1, x2 = cast(x1, WIDER[kind]), cast(x2, WIDER[kind])
    if sorter is not None:
        x1 = _C_ops.gather(x1, cast(as_tensor(sorter), INT64), 0)
    place = _C_ops.searchsorted(x1, x2, False, side == "right")
    return _beyond(place, x1, x2, side == "right") if is_fraction(x1.dtype) else place


def _beyond(place, x1, x2, right):
    """For infinities and NaN, which Paddle puts behind everything: counts of what comes before them."""

    def count(mask):
        return _C_ops.sum(cast(mask, INT64), [], None, False)

    least, most = filled([], -math.inf, x1.dtype), filled([], math.inf, x1.dtype)
    known = _C_ops.equal(x1, x1)
    lost = filled([], x1.shape[0], INT64) if right else count(known)
    high = count(known if right else _C_ops.less_than(x1, most))
    low = count(_C_ops.equal(x1, least)) if right else filled([], 0, INT64)
    place = where(_C_ops.equal(x2, most), high, where(_C_ops.equal(x2, least), low, place))
    return where(_C_ops.equal(x2, x2), place, lost)


def nonzero(x):
    if not x.ndim:
        raise ValueError("nonzero wants a tensor of at least one axis")
    places = _C_ops.nonzero(in_dtype(x, WIDER.get(x.dtype, x.dtype)))
    return tuple(_C_ops.unbind(places, 1))


def isin(x1, x2, *, invert=False):
    """Paddle knows few dtypes."""
    x1, x2 = matched(x1, x2)
    if 0 in x2.shape or 0 in x1.shape:
        return filled(x1.shape, invert, BOOL)
    kind = WIDER.get(x1.dtype, x1.dtype)
    x1, known = in_dtype(x1, kind), _C_ops.argsort(_C_ops.reshape(in_dtype(x2, kind), [-1]), 0, False, True)[0]
    place = _C_ops.minimum(searchsorted(known, x1), filled([], known.shape[0] - 1, INT64))
    met = _C_ops.reshape(_C_ops.gather(known, _C_ops.reshape(place, [-1]), 0), x1.shape)
    found = same(met, x1)
    return _C_ops.logical_not(found) if invert else found


def bincount(x, weights=None, *, minlength=0):
    """Paddle takes int32 and int64 only, and no weights of half precision."""
    x = cast(x, INT64)
    if weights is None:
        return _C_ops.bincount(x, None, minlength)
    weights = as_tensor(weights)
    wide = WIDER.get(weights.dtype, weights.dtype)
    return in_dtype(_C_ops.bincount(x, in_dtype(weights, wide), minlength), weights.dtype)


def histogram(x, bins=10, *, range=None, density=False):
    """Paddle gives counts without edges: here places by the edges, then counts."""
    return _histogram(_C_ops.reshape(x, [-1]), bins, range, density)


def _histogram(x, bins, limits, density):
    kind = x.dtype
    wide = in_dtype(x, FRACTIONS.get(kind, kind))
    result = kind if kind in FRACTIONS and FRACTIONS[kind] == FLOAT32 and is_fraction(kind) else wide.dtype
    if limits is None:
        if not wide.shape[0]:
            raise ValueError("histogram of no elements wants a range")
        low, high = _C_ops.amin(wide, [], False), _C_ops.amax(wide, [], False)
        one = same(low, high)
        low = where(one, _C_ops.scale(low, 1.0, -0.5, True), low)
        high = where(one, _C_ops.scale(high, 1.0, 0.5, True), high)
    else:
        low, high = (filled([], v, wide.dtype) for v in limits)
    step = _C_ops.scale(_C_ops.subtract(high, low), 1 / bins, 0.0, True)
    edges = _C_ops.add(low, _C_ops.multiply(step, cast(counted(0, bins), wide.dtype)))
    edges = _C_ops.concat([edges, _C_ops.reshape(high, [1])], 0)
    place = _C_ops.scale(_C_ops.searchsorted(edges, wide, False, True), 1.0, -1.0, True)
    place = where(same(wide, high), filled([], bins - 1, INT64), place)
    inside = _C_ops.logical_and(_C_ops.greater_equal(place, filled([], 0, INT64)),
                                _C_ops.less_than(place, filled([], bins, INT64)))  # fmt: skip
    place = where(inside, place, filled([], bins, INT64))  # what lies outside is counted behind the last one
    counts = _part(_C_ops.bincount(place, None, bins + 1), 0, bins)
    if density:
        counts = cast(counts, wide.dtype)
        widths = _C_ops.subtract(_part(edges, 1, bins + 1), _part(edges, 0, bins))
        counts = in_dtype(_C_ops.divide(_C_ops.divide(counts, _C_ops.sum(counts, [], None, False)), widths), result)
    return counts, in_dtype(edges, result)
