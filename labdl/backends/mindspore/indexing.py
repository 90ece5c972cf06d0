"""MindSpore implementations of reading and writing elements by position."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false

import builtins
import math

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.arrays import _gathered
from labdl.backends.mindspore.call_recorder import reads_values
from labdl.backends.mindspore.dtypes import ALL, HALF, as_tensor, broadcast, is_complex, is_floating, through
from labdl.spec import normal_axes

_int64 = mindspore.int64


def _positions(indices, size, outside=None):
    """Positions counted from the start, in int64; those of the host are counted there.

    Invalid positions become ``outside``, or the size, which the kernel rejects: it would count slightly negative ones from the
    end, and with several axes they could be valid flat positions.
    """
    outside = size if outside is None else outside
    if not isinstance(indices, Tensor):
        indices = np.asarray(indices)
        found = np.where(indices < 0, indices + size, indices)
        return Tensor(np.where((found < 0) | (found >= size), outside, found).astype("int64"))
    indices = indices if indices.dtype is _int64 else indices.astype(_int64)
    found = ops.where(ops.less(indices, 0), indices + size, indices)
    known = ops.logical_and(ops.greater_equal(found, 0), ops.less(found, size))
    return ops.where(known, found, as_tensor(outside, _int64))


def refuse_positions(function, indices, first, end) -> None:
    """Raise IndexError for positions before the first or from the end on, of which kernels read 32 bits: where Python may
    read values (on a device and in programs, the result of such a position is undefined).

    ``first`` and ``end`` are numbers, or arrays with one for each position on the last axis.
    """
    if not isinstance(indices, Tensor) or reads_values():
        found = indices.asnumpy() if isinstance(indices, Tensor) else np.asarray(indices)
        if found.size and ((found < first) | (found >= end)).any():
            raise IndexError(f"{function} wants positions from {first} to {end}, without the last")


def take(x, indices, axis=0):
    axis = normal_axes(axis, x.ndim)[0]
    return _gathered(x, _positions(indices, x.shape[axis]), axis)


def _along_axis(x, indices, axis):
    """Flat positions of the elements at positions along an axis.

    MindSpore's own look-up along an axis may continue after an invalid position, which ends the process later.
    """
    shape = tuple(indices.shape[a] if a == axis else n for a, n in enumerate(x.shape))
    if len(indices.shape) != x.ndim or broadcast(indices.shape, shape) != shape:
        raise ValueError(f"indices of {tuple(indices.shape)} do not fit {x.shape} but for axis {axis}")
    at = ops.broadcast_to(_positions(indices, x.shape[axis], math.prod(x.shape)), shape)
    steps = [math.prod(x.shape[a + 1 :]) for a in range(x.ndim)]
    rows = np.ix_(*(np.arange(1 if a == axis else n) * steps[a] for a, n in enumerate(x.shape)))
    return at * steps[axis] + Tensor(builtins.sum(rows))


def take_along_axis(x, indices, axis=-1):
    axis = normal_axes(axis, x.ndim)[0]
    return _gathered(x.reshape(-1), _along_axis(x, indices, axis), 0)


def _places(shape):
    """The flat position of each element."""
    return np.arange(math.prod(shape)).reshape(shape)


_WRITERS = {
    None: ops.tensor_scatter_update,
    "add": ops.tensor_scatter_add,
    "multiply": ops.tensor_scatter_mul,
    "max": ops.tensor_scatter_max,
    "min": ops.tensor_scatter_min,
}


def _write(x, at, values, reduce):
    """The tensor with values written to, or combined with, the elements at flat positions."""
    if not at.size:
        return x.copy()
    if reduce and is_complex(x):
        split, join = (_parts, P.Complex()) if reduce == "add" else (_polar, _from_polar)
        return join(
            *(
                _write(a, at, b, how)
                for a, b, how in zip(
                    split(x),
                    split(values),
                    ("multiply", "add") if reduce == "multiply" else ("add", "add"),
                    strict=True,
                )
            )
        )
    values, at = ops.broadcast_to(values, at.shape).reshape(-1), at.reshape(-1, 1)
    return _JOINED.get(reduce, _WRITERS[reduce])(x.reshape(-1), at, values).reshape(x.shape)


def _parts(x):
    return P.Real()(x), P.Imag()(x)


def _polar(x):
    return P.ComplexAbs()(x), ops.angle(x)


def _from_polar(size, angle):
    return P.Complex()(size * ops.cos(angle), size * ops.sin(angle))


def _keeping_nan(reduce):
    """The kernels ignore NaN."""
    write = _WRITERS[reduce]

    def call(x, at, values):
        found = write(x, at, values)
        if not is_floating(x):
            return found
        missing = (ops.not_equal(v, v).astype(mindspore.int32) for v in (x, values))
        missing = ops.greater(ops.tensor_scatter_add(next(missing), at, next(missing)), 0)
        return ops.where(missing, as_tensor(math.nan, x.dtype), found)

    return call


def _multiply_at(x, at, values):
    """The kernel's gradient is wrong for repeated positions: the product is a constant, and the formula of first
    order in each factor, which is zero, is added to it."""
    if not is_floating(x):
        return ops.tensor_scatter_mul(x, at, values)
    fixed, factors = ops.stop_gradient(x), ops.stop_gradient(values)
    zero, nothing = ops.equal(factors, 0), ops.equal(fixed, 0)
    one = as_tensor(1, x.dtype)
    whole = ops.tensor_scatter_mul(ops.where(nothing, one, fixed), at, ops.where(zero, one, factors))
    zeros = ops.tensor_scatter_add(nothing.astype(mindspore.int32), at, zero.astype(mindspore.int32))

    def others(product, count, own, is_zero):
        """The product of all factors but one."""
        left = ops.equal(count - is_zero.astype(mindspore.int32), 0)
        return ops.where(left, product / ops.where(is_zero, one, own), as_tensor(0, x.dtype))

    of_x = others(whole, zeros, fixed, nothing) * (x - fixed)
    places = at.reshape(-1)
    of_values = others(ops.gather(whole, places, 0), ops.gather(zeros, places, 0), factors, zero) * (values - factors)
    product = ops.where(ops.equal(zeros, 0), whole, as_tensor(0, x.dtype))
    return ops.tensor_scatter_add(product + of_x, at, of_values)


_JOINED = {"max": _keeping_nan("max"), "min": _keeping_nan("min"), "multiply": _multiply_at}


_SMALL = {"bool": ("int32", "bool")} | HALF
_written = through(lambda x, at, values: _write(x, at, values.astype(x.dtype), None), ALL)
_joined = through(lambda x, at, values, reduce: _write(x, at, values.astype(x.dtype), reduce), ALL[1:], _SMALL)


def scatter(x, indices, updates, axis=-1, *, reduce=None):
    """MindSpore's scatter needs updates of the same shape and non-negative positions."""
    if reduce not in _WRITERS:
        raise ValueError(f"reduce is add, multiply, max or min, received {reduce!r}")
    axis = normal_axes(axis, x.ndim)[0]
    at = _along_axis(x, indices, axis)
    updates = as_tensor(updates)
    if broadcast(updates.shape, at.shape) != tuple(at.shape):
        raise ValueError(f"updates of {updates.shape} do not fit indices of {at.shape}")
    return _written(x, at, updates) if reduce is None else _joined(x, at, updates, reduce)


def _from_the_start(indices, shape):
    """Positions on the last axis, with negative ones counted from the end."""
    indices = as_tensor(indices, _int64)
    return ops.where(ops.less(indices, 0), indices + Tensor(np.array(shape, "int64")), indices)


def _numbers(indices, shape):
    """Flat positions of elements (or rows) whose indices are on the last axis; those of invalid ones are too large."""
    if not shape:
        return ops.zeros(indices.shape[:-1], _int64)
    found, sizes = _from_the_start(indices, shape), Tensor(np.array(shape, "int64"))
    known = ops.logical_and(ops.greater_equal(found, 0), ops.less(found, sizes))
    steps = [math.prod(shape[a + 1 :]) for a in range(len(shape))]
    return (ops.where(known, found, as_tensor(math.prod(shape), _int64)) * Tensor(np.array(steps, "int64"))).sum(-1)


def gather_nd(x, indices):
    width = indices.shape[-1]
    if width > x.ndim:
        raise ValueError(f"positions of {width} numbers are too long for {x.shape}")
    rows = x.reshape(math.prod(x.shape[:width]), *x.shape[width:])
    return _gathered(rows, _numbers(indices, x.shape[:width]), 0)


def _add_at(updates, indices, shape):
    if not updates.size or 0 in shape:
        return ops.zeros(shape, updates.dtype)
    return ops.scatter_nd(indices, updates, shape)


_scattered = through(_add_at, ALL[1:])


def scatter_nd(indices, updates, shape):
    indices, shape = as_tensor(indices, _int64), tuple(shape)
    wanted = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    if tuple(updates.shape) != wanted:
        raise ValueError(f"updates for these positions have the shape {wanted}, received {updates.shape}")
    sizes = np.array(shape[: indices.shape[-1]], "int64")
    refuse_positions("scatter_nd", indices, -sizes, sizes)
    return _scattered(updates, _from_the_start(indices, shape[: indices.shape[-1]]), shape)


# -- x[index]


def _plain(item) -> bool:
    """Slices that MindSpore's own indexing gets right; their gradient with a step writes out of bounds from four axes on."""
    return (
        item is None
        or item is Ellipsis
        or item.__class__ is int
        or (
            isinstance(item, slice)
            and item.step in (None, 1)
            and {item.start.__class__, item.stop.__class__} <= _BOUNDS
        )
    )


_BOUNDS = {int, type(None)}  # tensors of small integers are misread


def _is_mask(item) -> bool:
    return isinstance(item, Tensor | np.ndarray) and str(item.dtype).lower() == "bool"


def _width(item) -> int:
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if _is_mask(item) else 1


def _items(index, rank):
    """The parts of an index, one for each axis or mask."""
    items = list(index) if isinstance(index, tuple) else [index]
    _check_items(items)
    missing = rank - builtins.sum(map(_width, items))
    if missing < 0:
        raise ValueError(f"an index of {rank - missing} axes is too long for {rank}")
    at = next((i for i, item in enumerate(items) if item is Ellipsis), None)
    whole = [slice(None)] * missing
    return [*items, *whole] if at is None else [*items[:at], *whole, *items[at + 1 :]]


def _check_items(items) -> None:
    """Raise for what the rule of `labdl.ops.getitem` refuses, whose message the user receives."""
    if builtins.any(isinstance(item, bool | np.bool_ | list | range) for item in items):
        raise TypeError("an index has no lists and no single bools")
    if builtins.any(isinstance(item, Tensor) and (item.is_floating_point() or item.is_complex()) for item in items):
        raise TypeError("an index has integers and masks")
    chosen = [a for a, item in enumerate(items) if item is not None and item is not Ellipsis and not _is_slice(item)]
    if builtins.all(isinstance(items[a], int) for a in chosen):
        return
    if chosen[-1] - chosen[0] >= len(chosen):  # the result would have the axes in another order
        raise ValueError("integers and tensors of an index must be adjacent")
    if (
        builtins.any(_is_mask(items[a]) for a in chosen)
        and builtins.sum(not isinstance(items[a], int) for a in chosen) > 1
    ):
        raise ValueError("an index has one mask, or tensors of integers")


def _is_slice(item) -> bool:
    return isinstance(item, slice)


def getitem(x, index):
    """MindSpore does not support negative steps, and its gradient of slices with a step is wrong."""
    if builtins.all(map(_plain, index)) if isinstance(index, tuple) else _plain(index):
        if 0 in x.shape:  # MindSpore cannot slice it
            return ops.zeros(np.broadcast_to(np.int8(0), x.shape)[index].shape, x.dtype)
        return x[index]
    items, axis, chosen, result = _items(index, x.ndim), 0, [], []
    for item in items:
        if isinstance(item, slice) and item != slice(None):
            x = _slice(x, range(*item.indices(x.shape[axis])), axis)
        if item is None or isinstance(item, slice):
            result.append(item if item is None else slice(None))
        else:
            if not chosen:
                first, place = axis, len(result)
            chosen.append(item)
        axis += _width(item)
    if builtins.all(isinstance(item, int) for item in chosen):
        return getitem(x, tuple(slice(None) if isinstance(item, slice) else item for item in items))
    x, places = _together(x, chosen, first)
    x = _gathered(x, places, first)
    result[place:place] = [slice(None)] * places.ndim
    return x[tuple(result)] if None in result else x


def _slice(x, places, axis):
    if places.step == 1:
        return x[(*(slice(None),) * axis, slice(places.start, builtins.max(places.start, places.stop)))]
    return _gathered(x, Tensor(np.array(places, "int64")), axis)


def _together(x, chosen, first):
    """Merge the axes of adjacent masks and integers, and return the positions in them."""
    if len(chosen) == 1 and not _is_mask(chosen[0]):
        return x, _positions(chosen[0], x.shape[first])
    count = builtins.sum(map(_width, chosen))
    sizes = x.shape[first : first + count]
    places, axis = 0, 0
    for item in chosen:
        own = sizes[axis : axis + _width(item)]
        axis += len(own)
        at = _true_places(item, own) if _is_mask(item) else _positions(item, own[0], math.prod(sizes))
        places = places * math.prod(own) + at
    return x.reshape(*x.shape[:first], math.prod(sizes), *x.shape[first + count :]), places


def _true_places(mask, sizes):
    if builtins.any(m not in (n, 0) for m, n in zip(mask.shape, sizes, strict=True)):
        raise ValueError(f"a mask of {tuple(mask.shape)} does not fit axes of {tuple(sizes)}")
    if not isinstance(mask, Tensor):
        return Tensor(np.flatnonzero(mask).astype("int64"))
    return ops.nonzero(mask.reshape(-1)).reshape(-1) if mask.size else ops.zeros((0,), _int64)


def setitem(x, index, value):
    """A new tensor, by flat positions: MindSpore writes in place."""
    value = as_tensor(value)
    items = index if isinstance(index, tuple) else (index,)
    _check_items(items)
    if len(items) == 1 and not value.ndim and isinstance(index, Tensor) and _is_mask(index) and index.shape == x.shape:
        return _compile_each(x, index, value)
    places = _places(x.shape)
    if builtins.any(isinstance(item, Tensor) for item in items):
        at = getitem(Tensor(places), index)
    else:
        at = Tensor(np.ascontiguousarray(places[index]))
    if broadcast(value.shape, at.shape) != tuple(at.shape):
        raise ValueError(f"a value of {value.shape} does not fit the place, which has {at.shape}")
    return _written(x, at, value)


_compile_each = through(lambda x, mask, value: ops.where(mask, value.astype(x.dtype), x), ALL)
