"""PaddlePaddle implementations of sorting, searching, sets and counts."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

import functools
import math

import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import where
from labdl.backends.paddle.call_recorder import reads_values
from labdl.backends.paddle.dtypes import (
    BOOL,
    FLOAT32,
    FRACTIONS,
    INT64,
    WIDER,
    as_tensor,
    cast,
    full_tensor,
    in_dtype,
    in_wider_dtype,
    integer_range,
    is_complex,
    is_fraction,
    promote_operands,
    same,
)
from labdl.spec import refuse_beyond_memory


def _negate(x):
    return kernels.scale(x, -1.0, 0.0, True)


@functools.partial(in_wider_dtype, returned=False)
def _order(x, axis, descending):
    """Sorted elements and their positions, NaN last: in descending order Paddle puts it first."""
    if descending and is_fraction(x.dtype):
        values, order = kernels.argsort(_negate(x), axis, False, True)
        return _negate(values), order
    return kernels.argsort(x, axis, descending, True)


def sort(x, axis=-1, *, descending=False, stable=True):
    """Paddle puts NaN first in descending order."""
    return in_dtype(_order(x, axis, descending)[0], x.dtype)


def argsort(x, axis=-1, *, descending=False, stable=True):
    """Paddle puts NaN first in descending order."""
    return _order(x, axis, descending)[1]


def topk(x, k, axis=-1, *, largest=True):
    """Paddle counts NaN as the largest, and rejects k = 0."""
    size = x.shape[axis]
    if not 0 <= k <= size:
        raise ValueError(f"topk of {k} elements along an axis of size {size}")
    if k and 0 not in x.shape:
        values, order = _top(x, k, axis, largest)
    else:
        values, order = (kernels.slice(part, [axis % x.ndim], [0], [k], [1], []) for part in _order(x, axis, largest))
    return in_dtype(values, x.dtype), order


@functools.partial(in_wider_dtype, returned=False)
def _top(x, k, axis, largest):
    if largest and is_fraction(x.dtype):
        values, order = kernels.topk(_negate(x), k, axis, False, True)
        return _negate(values), order
    return kernels.topk(x, k, axis, largest, True)


def unique_all(x):
    """Computed from sorted elements: paddle.unique reads invalid memory if there are several NaN."""
    if is_complex(x.dtype):
        return NotImplemented
    values, order = _order(kernels.reshape(x, [-1]), 0, False)
    values, size = in_dtype(values, x.dtype), order.shape[0]
    if not size:
        return values, order, kernels.reshape(order, x.shape), order
    one = full_tensor([1], True, BOOL)
    new = kernels.concat([one, kernels.logical_not(same(_part(values, 1, size), _part(values, 0, size - 1)))], 0)
    starts = kernels.reshape(kernels.nonzero(new), [-1])
    ends = kernels.concat([_part(starts, 1, starts.shape[0]), full_tensor([1], size, INT64)], 0)
    number = kernels.scale(kernels.cumsum(cast(new, INT64), 0, False, False, False), 1.0, -1.0, True)
    inverse = kernels.put_along_axis(order, order, number, 0, "assign", True)
    wide = WIDER.get(x.dtype, x.dtype)
    found = in_dtype(kernels.gather(in_dtype(values, wide), starts, 0), x.dtype)
    return found, kernels.gather(order, starts, 0), kernels.reshape(inverse, x.shape), kernels.subtract(ends, starts)


def _part(x, start, stop):
    return kernels.slice(x, [0], [start], [stop], [1], [])


def searchsorted(x1, x2, *, side="left", sorter=None):
    """Paddle puts infinities of both signs last."""
    x1, x2 = promote_operands(x1, x2)
    kind = x1.dtype
    if kind in WIDER:
        x1, x2 = cast(x1, WIDER[kind]), cast(x2, WIDER[kind])
    if sorter is not None:
        x1 = kernels.gather(x1, cast(as_tensor(sorter), INT64), 0)
    place = kernels.searchsorted(x1, x2, False, side == "right")
    return _beyond(place, x1, x2, side == "right") if is_fraction(x1.dtype) else place


def _beyond(place, x1, x2, right):
    """Positions of infinities and NaN, which Paddle puts last: counts of smaller elements."""

    def count(mask):
        return paddle.sum(cast(mask, INT64), [], None, False)

    least, most = full_tensor([], -math.inf, x1.dtype), full_tensor([], math.inf, x1.dtype)
    known = kernels.equal(x1, x1)
    lost = full_tensor([], x1.shape[0], INT64) if right else count(known)
    high = count(known if right else kernels.less_than(x1, most))
    low = count(kernels.equal(x1, least)) if right else full_tensor([], 0, INT64)
    place = where(kernels.equal(x2, most), high, where(kernels.equal(x2, least), low, place))
    return where(kernels.equal(x2, x2), place, lost)


def nonzero(x):
    if not x.ndim:
        raise ValueError("nonzero wants a tensor of at least one axis")
    places = kernels.nonzero(in_dtype(x, WIDER.get(x.dtype, x.dtype)))
    return tuple(kernels.unbind(places, 1))


def isin(x1, x2, *, invert=False):
    """Paddle supports few dtypes."""
    x1, x2 = promote_operands(x1, x2)
    if 0 in x2.shape or 0 in x1.shape:
        return full_tensor(x1.shape, invert, BOOL)
    kind = WIDER.get(x1.dtype, x1.dtype)
    x1, known = in_dtype(x1, kind), kernels.argsort(kernels.reshape(in_dtype(x2, kind), [-1]), 0, False, True)[0]
    place = kernels.minimum(searchsorted(known, x1), full_tensor([], known.shape[0] - 1, INT64))
    met = kernels.reshape(kernels.gather(known, kernels.reshape(place, [-1]), 0), x1.shape)
    found = same(met, x1)
    return kernels.logical_not(found) if invert else found


def bincount(x, weights=None, *, minlength=0):
    """Paddle takes int32 and int64 only, and no weights of half precision."""
    x = cast(x, INT64)
    counts = minlength
    if 0 not in x.shape and reads_values(x):
        counts = max(counts, int(paddle.amax(x, [], False).item()) + 1)
    if counts > 2**31:
        raise MemoryError(f"bincount would give {counts} counts")  # the kernel would not end
    refuse_beyond_memory(f"bincount would give {counts} counts", 8 * counts)
    if weights is None:
        return kernels.bincount(x, None, minlength)
    weights = as_tensor(weights)
    wide = WIDER.get(weights.dtype, weights.dtype)
    return in_dtype(kernels.bincount(x, in_dtype(weights, wide), minlength), weights.dtype)


def histogram(x, bins=10, *, range=None, density=False):
    """Bins by the edges, then counts: Paddle returns no edges."""
    return _histogram(kernels.reshape(x, [-1]), bins, range, density)


def _histogram(x, bins, limits, density):
    kind = x.dtype
    wide = in_dtype(x, FRACTIONS.get(kind, kind))
    result = kind if kind in FRACTIONS and FRACTIONS[kind] == FLOAT32 and is_fraction(kind) else wide.dtype
    if limits is None:
        if not wide.shape[0]:
            raise ValueError("histogram of no elements wants a range")
        low, high = paddle.amin(wide, [], False), paddle.amax(wide, [], False)
        one = same(low, high)
        low = where(one, kernels.scale(low, 1.0, -0.5, True), low)
        high = where(one, kernels.scale(high, 1.0, 0.5, True), high)
    else:
        low, high = (full_tensor([], v, wide.dtype) for v in limits)
    step = kernels.scale(kernels.subtract(high, low), 1 / bins, 0.0, True)
    edges = kernels.add(low, kernels.multiply(step, cast(integer_range(0, bins), wide.dtype)))
    edges = kernels.concat([edges, kernels.reshape(high, [1])], 0)
    place = kernels.scale(kernels.searchsorted(edges, wide, False, True), 1.0, -1.0, True)
    place = where(same(wide, high), full_tensor([], bins - 1, INT64), place)
    inside = kernels.logical_and(
        kernels.greater_equal(place, full_tensor([], 0, INT64)), kernels.less_than(place, full_tensor([], bins, INT64))
    )
    place = where(inside, place, full_tensor([], bins, INT64))  # elements outside are counted in an extra bin
    counts = _part(kernels.bincount(place, None, bins + 1), 0, bins)
    if density:
        counts = cast(counts, wide.dtype)
        widths = kernels.subtract(_part(edges, 1, bins + 1), _part(edges, 0, bins))
        counts = in_dtype(kernels.divide(kernels.divide(counts, paddle.sum(counts, [], None, False)), widths), result)
    return counts, in_dtype(edges, result)
