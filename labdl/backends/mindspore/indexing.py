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


def _numbers(indices, shape):
    """Flat positions of elements (or rows) whose indices are on the last axis."""
    indices = as_tensor(indices, _int64)
    steps = [math.prod(shape[a + 1 :]) for a in range(len(shape))]
    return (indices * Tensor(np.array(steps, "int64"))).sum(-1) if steps else ops.zeros(indices.shape[:-1], _int64)


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
    return _scattered(updates, indices, shape)


# -- x[index]


def _plain(item) -> bool:
    """Slices that MindSpore's own indexing gets right; their gradient with a step writes out of bounds from four axes on."""
    return (
        item is None
        or item is Ellipsis
        or isinstance(item, int)
        or (isinstance(item, slice) and item.step in (None, 1))
    )


def _is_mask(item) -> bool:
    return str(item.dtype).lower() == "bool"


def _width(item) -> int:
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if isinstance(item, Tensor | np.ndarray) and _is_mask(item) else 1


def _items(index, rank):
    """The parts of an index, one for each axis; lists are arrays, and a mask is the positions at which it is true."""
    items = list(index) if isinstance(index, tuple) else [index]
    items = [np.asarray(i) if isinstance(i, list) else i for i in items]
    missing = rank - builtins.sum(map(_width, items))
    if missing < 0:
        raise ValueError(f"an index of {rank - missing} axes is too long for {rank}")
    at = next((i for i, item in enumerate(items) if item is Ellipsis), None)
    whole = [slice(None)] * missing
    return [*items, *whole] if at is None else [*items[:at], *whole, *items[at + 1 :]]


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
    """Merge the axes of a mask, or of adjacent integers, and return the positions in it."""
    if _width(chosen[0]) == 1 and len(chosen) == 1 and not _is_mask(chosen[0]):
        return x, _positions(chosen[0], x.shape[first])
    count = builtins.sum(map(_width, chosen))
    sizes = x.shape[first : first + count]
    if not isinstance(chosen[0], int) and _is_mask(chosen[0]):
        places = _true_places(chosen[0], sizes)
    else:
        places = 0
        for item, size, after in zip(chosen, sizes, range(1, count + 1), strict=True):
            places = places + _positions(item, size, math.prod(sizes)) * math.prod(sizes[after:])
    return x.reshape(*x.shape[:first], math.prod(sizes), *x.shape[first + count :]), places


def _true_places(mask, sizes):
    if tuple(mask.shape) != tuple(sizes):
        raise ValueError(f"a mask of {tuple(mask.shape)} does not fit axes of {tuple(sizes)}")
    if not isinstance(mask, Tensor):
        return Tensor(np.flatnonzero(mask).astype("int64"))
    return ops.nonzero(mask.reshape(-1)).reshape(-1) if mask.size else ops.zeros((0,), _int64)


def setitem(x, index, value):
    """A new tensor, by flat positions: MindSpore writes in place."""
    value = as_tensor(value)
    items = index if isinstance(index, tuple) else (index,)
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
