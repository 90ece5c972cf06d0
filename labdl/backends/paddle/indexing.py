"""PaddlePaddle implementations of reading and writing by index, mask and position.

Paddle's own indexing reads invalid memory or ends the process when tensors of integers are combined with ``None``, reversed
slices or invalid positions. Here it is done by slices first, then positions along one axis.
"""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false

import functools
import math

import numpy as np
import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import isnan, where
from labdl.backends.paddle.arrays import along, from_start, positions, reshape, take_rows, valid_positions
from labdl.backends.paddle.dtypes import (
    BOOL,
    HALF_ONLY,
    INT64,
    INTEGERS,
    WIDER,
    WITHOUT_BOOL,
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
from labdl.backends.paddle.reductions import prod
from labdl.backends.paddle.tensors import TENSORS

_WHOLE = slice(None)
_ARRAYS = (*TENSORS, np.ndarray)


def _width(item):
    """The number of axes that an item of an index consumes."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, _ARRAYS) and item.dtype == BOOL else 1


def _split(x, index):
    """Split an index into slices and the group of tensors and integers in it, with its position.

    The slices keep the axes of the group. Without tensors there is no group.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    if any(isinstance(i, bool | list) for i in items):
        raise TypeError("an index has no lists and no single bools")  # Paddle interprets them in ways of its own
    items = [
        as_tensor(i) if isinstance(i, np.ndarray) else _with_bounds(i) if isinstance(i, slice) else i for i in items
    ]
    if not any(isinstance(i, TENSORS) for i in items):
        return tuple(items), 0, []
    missing = x.ndim - sum(map(_width, items))
    dots = next((a for a, i in enumerate(items) if i is Ellipsis), len(items))
    items[dots : dots + 1] = [_WHOLE] * missing
    places = [a for a, i in enumerate(items) if isinstance(i, (int, np.integer, *TENSORS))]
    first, last = places[0], places[-1] + 1
    if len(places) != last - first:
        raise ValueError("integers and tensors of an index must be adjacent: index twice, or use ops.take")
    group = items[first:last]
    tensors = [i for i in group if isinstance(i, TENSORS)]
    if any(i.dtype not in INTEGERS and i.dtype != BOOL for i in tensors):
        raise TypeError("an index has integers and masks")
    if len(tensors) > 1 and any(i.dtype == BOOL for i in tensors):
        raise ValueError("an index has one mask, or tensors of integers")
    return (*items[:first], *(_WHOLE,) * sum(map(_width, group)), *items[last:]), first, group


def _with_bounds(item: slice) -> slice:
    """Paddle bounds slices by numbers, or by tensors of int32 and int64."""
    return slice(*(cast(n, INT64) if isinstance(n, TENSORS) else n for n in (item.start, item.stop, item.step)))


def _flat_positions(group, sizes):
    """Flat positions of a group in its axes."""
    found = []
    for item in group:
        if _width(item) == 1 and not (isinstance(item, TENSORS) and item.dtype == BOOL):
            found.append(item)
        else:
            found.extend(kernels.unbind(kernels.nonzero(item), 1))
    total = None
    for item, size, rest in zip(found, sizes, [math.prod(sizes[a + 1 :]) for a in range(len(sizes))], strict=True):
        item = (
            from_start(item, size, math.prod(sizes))
            if isinstance(item, TENSORS)
            else full_tensor([], _check_position(item, size), INT64)
        )
        item = item if rest == 1 else kernels.scale(item, float(rest), 0.0, True)
        total = item if total is None else kernels.add(total, item)
    return total


def _slice(x, items):
    """Add the new axes of None at the end: Paddle misplaces them if integers follow and no axis remains."""
    if x.ndim > _MOST_AXES:
        return _slice_by_positions(x, items)
    if not any(i is None for i in items):
        return x[items]
    rest, new, axis = [i for i in items if i is not None], [], 0
    for item in items:
        if item is None:
            new.append(axis)
        axis += 1 if item is None or isinstance(item, slice) else x.ndim - len(rest) + 1 if item is Ellipsis else 0
    return kernels.unsqueeze(x[tuple(rest)] if rest else x, new)


_MOST_AXES, _BOUNDS = 6, (int, type(None))  # of the kernel


def _slice_by_positions(x, items):
    places = np.arange(math.prod(x.shape)).reshape(x.shape)[items]
    return reshape(take_rows(reshape(x, [-1]), as_tensor(places.reshape(-1)), 0), list(places.shape))


def _check_position(place, size):
    if not -size <= place < size:
        raise IndexError(f"index {place} is out of range for an axis of size {size}")
    return place % size


def getitem(x, index):
    if index.__class__ is int or (
        index.__class__ is slice and index.start.__class__ in _BOUNDS and index.stop.__class__ in _BOUNDS
    ):
        try:
            return x[index]
        except ValueError:
            if x.ndim <= _MOST_AXES:
                raise
            return _slice_by_positions(x, index)
    slices, first, group = _split(x, index)
    if not group:
        return _slice(x, slices)
    if any(s is not _WHOLE and s != _WHOLE for s in slices):
        x = _slice(x, slices)
    if not _width(group[0]):
        x, group = kernels.unsqueeze(x, [first]), [kernels.reshape(group[0], [1])]
    shape = list(x.shape)
    last = first + sum(map(_width, group))
    _check_masks(group, shape[first:last])
    number = _flat_positions(group, shape[first:last])
    merged = reshape(x, [*shape[:first], math.prod(shape[first:last]), *shape[last:]]) if last - first > 1 else x
    result = take_rows(merged, kernels.reshape(number, [-1]), first)
    return result if number.ndim == 1 else reshape(result, [*shape[:first], *number.shape, *shape[last:]])


def _check_masks(group, sizes):
    for item in group:
        if (
            isinstance(item, TENSORS)
            and item.dtype == BOOL
            and len(group) == 1
            and any(m not in (n, 0) for m, n in zip(item.shape, sizes, strict=True))
        ):
            raise ValueError(f"a mask of {tuple(item.shape)} does not fit the axes of {tuple(sizes)}")


def _value(value, x):
    return in_dtype(as_tensor(value), x.dtype) if isinstance(value, _ARRAYS) else full_tensor([], value, x.dtype)


def setitem(x, index, value):
    value = _value(value, x)
    slices, first, group = _split(x, index)
    mask = group[0] if len(group) == 1 and not first and all(s == _WHOLE for s in slices) else None
    if mask is not None and mask.dtype == BOOL and value.ndim <= x.ndim - mask.ndim:
        _check_masks(group, list(x.shape[: mask.ndim]))
        if 0 in mask.shape:
            return kernels.assign(x)
        return where(kernels.reshape(mask, [*mask.shape, *[1] * (x.ndim - mask.ndim)]), value, x)
    places = getitem(reshape(integer_range(0, math.prod(x.shape)), x.shape), index)
    if 0 in places.shape:
        np.broadcast_to(np.broadcast_to(np.int8(0), value.shape), places.shape)  # raises ValueError as elsewhere
        return kernels.assign(x)
    return _write_at(x, places, kernels.expand(value, places.shape), False)


def _write_at(x, places, values, added):
    """The tensor with values at flat positions."""
    flat = paddle.index_put(
        kernels.reshape(x, [-1]), [kernels.reshape(places, [-1])], kernels.reshape(values, [-1]), added
    )
    return kernels.reshape(flat, x.shape)


_REDUCTIONS = {"multiply": "mul", "max": "amax", "min": "amin"}


def scatter(x, indices, updates, axis=-1, *, reduce=None):
    """Paddle's put_along_axis supports few dtypes and ignores NaN in max and min."""
    x, updates = promote_operands(as_tensor(x), updates)
    kind = x.dtype
    if reduce is not None and (kind == BOOL or (is_complex(kind) and reduce != "multiply" and reduce != "add")):
        raise TypeError(f"scatter cannot reduce these by {reduce!r}")
    axis %= x.ndim
    indices = along(x, indices, axis)
    if 0 in indices.shape:
        return kernels.assign(x)
    if not x.shape[axis]:  # the kernel would write to invalid memory
        raise IndexError(f"there is no element at any position of axis {axis} of {tuple(x.shape)}")
    updates = kernels.expand(updates, indices.shape)
    wide = kind if reduce is None else WIDER.get(kind, kind)
    result = _scatter(in_dtype(x, wide), indices, in_dtype(updates, wide), axis, reduce)
    return in_dtype(result, kind)


def _scatter(x, indices, updates, axis, reduce):
    if reduce is None or reduce == "add":
        return _write_at(x, _places(x, indices, axis), updates, reduce is not None)
    if is_complex(x.dtype):
        return _multiply_at(x, indices, updates, axis)
    if reduce == "multiply" and is_fraction(x.dtype) and not (x.stop_gradient and updates.stop_gradient):
        return _differentiable_products(x, indices, updates, axis)
    result = kernels.put_along_axis(x, indices, updates, axis, _REDUCTIONS[reduce], True)
    if reduce == "multiply" or not is_fraction(x.dtype):
        return result
    lost = _scatter(cast(isnan(x), INT64), indices, cast(isnan(updates), INT64), axis, "add")
    return where(cast(lost, BOOL), full_tensor([], math.nan, x.dtype), result)


def _differentiable_products(x, indices, updates, axis):
    """Paddle's gradient divides by each factor: here a product is that of all others times the only zero in it, if any."""
    zero, one = (full_tensor([], n, x.dtype) for n in (0.0, 1.0))
    factors, zeros, counts = [], [], []
    for t in (x, updates):
        none = same(t, zero)
        factors.append(where(none, one, t))
        zeros.append(where(none, t, zero))
        counts.append(cast(none, x.dtype))
    product = kernels.put_along_axis(factors[0], indices, factors[1], axis, "mul", True)
    places = _places(x, indices, axis)
    count, only = (_write_at(whole, places, parts, True) for whole, parts in (counts, zeros))
    only = where(same(count, one), only, zero)
    return where(same(count, zero), product, kernels.multiply(product, only))


def _places(x, indices, axis):
    """Flat positions of the elements at positions along an axis."""
    shape = list(x.shape)
    stride = math.prod(shape[axis + 1 :])
    before = kernels.scale(integer_range(0, math.prod(shape[:axis])), float(stride * shape[axis]), 0.0, True)
    start = kernels.add(
        kernels.reshape(before, [*shape[:axis], *[1] * (len(shape) - axis)]),
        kernels.reshape(integer_range(0, stride), [*[1] * (axis + 1), *shape[axis + 1 :]]),
    )
    indices = valid_positions(indices, shape[axis])
    return kernels.add(start, kernels.scale(indices, float(stride), 0.0, True))


def _multiply_at(x, indices, updates, axis):
    """Products of complex numbers and their updates, for which there is no kernel."""
    order = [*(a for a in range(x.ndim) if a != axis), axis]
    back = [order.index(a) for a in range(x.ndim)]
    indices = valid_positions(indices, x.shape[axis])
    indices, updates = (kernels.unsqueeze(kernels.transpose(t, order), [-1]) for t in (indices, updates))
    hit = kernels.equal(indices, integer_range(0, x.shape[axis]))
    factors = prod(where(hit, updates, full_tensor([], 1, x.dtype)), x.ndim - 1)
    return kernels.multiply(x, kernels.transpose(factors, back))


@functools.partial(in_wider_dtype, table=HALF_ONLY)
def _gather_nd(x, indices):
    return kernels.gather_nd(x, indices)


def gather_nd(x, indices):
    indices = cast(as_tensor(indices), INT64)
    if 0 in x.shape[: indices.shape[-1]] and 0 not in indices.shape[:-1]:
        raise IndexError(f"there is no element to take of {tuple(x.shape)}")
    return _gather_nd(x, indices)


def scatter_nd(indices, updates, shape):
    updates = as_tensor(updates)
    if is_complex(updates.dtype):
        return kernels.complex(*(_add_at(part(updates), indices, shape) for part in (paddle.real, paddle.imag)))
    return _add_at(updates, indices, shape)


@functools.partial(in_wider_dtype, table=WITHOUT_BOOL)
def _add_at(updates, indices, shape):
    """By rows: index_put, which takes complex numbers too, writes to invalid memory for an invalid position."""
    indices = cast(as_tensor(indices), INT64)
    start = full_tensor(shape, 0, updates.dtype)
    if not indices.shape[-1]:
        rows = list(range(indices.ndim - 1))
        return paddle.sum(updates, rows, updates.dtype, False) if rows else kernels.assign(updates)
    sizes, rest = list(shape[: indices.shape[-1]]), list(shape[indices.shape[-1] :])
    if 0 in sizes and 0 not in indices.shape:
        raise IndexError(f"there is no place to add to in {tuple(shape)}")
    if 0 in updates.shape or 0 in start.shape:
        return start
    numbers = kernels.unbind(indices, indices.ndim - 1)
    if len(sizes) == 1:
        rows = positions(numbers[0], sizes[0])
    else:
        strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        rows = functools.reduce(
            kernels.add,
            (
                kernels.scale(valid_positions(number, size), float(stride), 0.0, True)
                for number, size, stride in zip(numbers, sizes, strides, strict=True)
            ),
        )
    start, updates = kernels.reshape(start, [-1, *rest]), kernels.reshape(updates, [-1, *rest])
    return kernels.reshape(paddle.scatter(start, kernels.reshape(rows, [-1]), updates, False), list(shape))
