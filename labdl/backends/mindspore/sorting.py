"""MindSpore implementations of sorting, searching, sets and counts."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportOptionalSubscript=false

import builtins
import math

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.call_recorder import recording
from labdl.backends.mindspore.dtypes import as_tensor, is_complex, is_floating, promote_operands
from labdl.spec import normal_axes, refuse_beyond_memory

_int64, _float64 = mindspore.int64, mindspore.float64
_gather_along, _ascending, _descending = P.GatherD(), P.Sort(-1, False), P.Sort(-1, True)


def _wide(x):
    """The tensor without its gradient, in the dtype in which the kernels order it."""
    x = ops.stop_gradient(x)
    if x.dtype is mindspore.bool_:
        return x.astype(mindspore.uint8)
    return x.astype(mindspore.float32) if is_floating(x) and x.dtype is not _float64 else x


def _keys(x, descending):
    """Integers in the order of the numbers, from their bits: the kernel rounds float64 to float32. NaN is last."""
    kind, largest = (_int64, 2**63 - 1) if x.dtype is _float64 else (mindspore.int32, 2**31 - 1)
    bits = x.view(kind)
    keys = ops.where(ops.less(bits, 0), ops.bitwise_xor(bits, as_tensor(largest, kind)) + 1, bits)  # 1: one zero
    return ops.where(ops.not_equal(x, x), as_tensor(-largest - 1 if descending else largest, kind), keys)


def _order(x, axis, descending):
    """Positions in sorted order; the kernels are stable."""
    axis %= x.ndim
    moved = axis != x.ndim - 1
    x = _wide(ops.swapaxes(x, axis, -1) if moved else x)
    in_order = _descending if descending else _ascending
    if not is_floating(x):
        order = in_order(x)[1]
    elif recording() and x.dtype is mindspore.float32:  # mindspore.jit takes no bits: first NaN behind the numbers
        missing = ops.not_equal(x, x)
        numbers = _ascending(missing.astype(mindspore.int32))[1].astype(_int64)
        keys = ops.where(missing, as_tensor(-math.inf if descending else math.inf, mindspore.float32), x)
        order = _gather_along(numbers, -1, in_order(_gather_along(keys, -1, numbers))[1].astype(_int64))
    else:
        order = in_order(_keys(x, descending))[1]
    order = order.astype(_int64)
    return ops.swapaxes(order, axis, -1) if moved else order


def sort(x, axis=-1, *, descending=False, stable=True):
    """MindSpore has no defined order of NaN."""
    if not x.size:
        return x.copy()
    return _along(x, _order(x, axis, descending), axis)


def argsort(x, axis=-1, *, descending=False, stable=True):
    """MindSpore has no defined order of NaN."""
    return _order(x, axis, descending) if x.size else ops.zeros(x.shape, _int64)


def _along(x, order, axis):
    """Elements at positions along an axis; GatherD does not support bfloat16."""
    if x.dtype is mindspore.bfloat16:
        return _along(x.astype(mindspore.float32), order, axis).astype(x.dtype)
    return _gather_along(x, axis % x.ndim, order)


def _behind_infinity(x):
    """Keys of float64 for the kernel of the largest: minus infinity for NaN, and slightly more for itself."""
    x = _wide(x)
    if not is_floating(x):
        return x
    wide = x.astype(_float64)
    wide = ops.where(ops.equal(x, -math.inf), as_tensor(_LEAST, _float64), wide)
    return ops.where(ops.not_equal(x, x), as_tensor(-math.inf, _float64), wide)


_LEAST = -float(np.finfo("float64").max)


def topk(x, k, axis=-1, *, largest=True):
    """MindSpore finds only the largest on the last axis, and misplaces NaN."""
    axis = normal_axes(axis, x.ndim)[0]
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"topk wants k from 0 to {x.shape[axis]}, received {k}")
    if not k or not x.size:
        shape = tuple(k if a == axis else n for a, n in enumerate(x.shape))
        return as_tensor(np.zeros(shape), x.dtype), ops.zeros(shape, _int64)
    if largest and x.dtype is not _float64:
        keys = ops.swapaxes(_behind_infinity(x), axis, -1)
        order = ops.swapaxes(P.TopK()(keys, k)[1].astype(_int64), axis, -1)
    else:
        order = ops.narrow(_order(x, axis, largest), axis, 0, k)
    return _along(x, order, axis), order


def _sorted_runs(x):
    """The elements in order, their order, and whether each differs from the one before."""
    flat = x.reshape(-1)
    order = _order(flat, 0, False)
    ordered = _along(flat, order, 0)
    return ordered, order, ops.cat((Tensor([True]), ops.not_equal(ordered[1:], ordered[:-1])))


def unique_all(x):
    """MindSpore keeps the order of elements, and returns neither first positions nor counts."""
    if is_complex(x):
        return NotImplemented
    if not x.size:
        return x.reshape(-1), *(ops.zeros(shape, _int64) for shape in ((0,), x.shape, (0,)))
    wide = x.astype(mindspore.float32) if x.dtype is mindspore.bfloat16 else x
    ordered, order, new = _sorted_runs(wide)
    number = ops.cumsum(new.astype(_int64), 0) - 1
    inverse = ops.scatter_nd(ops.expand_dims(order, 1), number, (x.size,)).reshape(x.shape)
    values, first = ops.masked_select(ordered, new), ops.masked_select(order, new)
    ends = ops.cat((ops.nonzero(new).reshape(-1), Tensor([x.size], _int64)))
    return values.astype(x.dtype), first, inverse, ends[1:] - ends[:-1]


def searchsorted(x1, x2, *, side="left", sorter=None):
    x1, x2 = promote_operands(x1, x2)
    if x1.ndim != 1:
        raise ValueError(f"searchsorted wants a sorted tensor of one axis, received {x1.shape}")
    if sorter is not None:
        x1 = _along(x1, as_tensor(sorter, _int64), 0)
    if not x1.size or not x2.size:
        return ops.zeros(x2.shape, _int64)
    right = side == "right"
    if x1.dtype is mindspore.bool_ or x1.dtype is mindspore.uint8:
        x1, x2 = x1.astype(mindspore.int32), x2.astype(mindspore.int32)
    if not is_floating(x1):
        return ops.searchsorted(x1, x2.reshape(-1), right=right).astype(_int64).reshape(x2.shape)
    x1, x2 = ops.stop_gradient(x1).astype(_float64), ops.stop_gradient(x2).astype(_float64)
    missing, infinite = ops.not_equal(x1, x1), as_tensor(math.inf, _float64)
    at = (
        ops.searchsorted(ops.where(missing, infinite, x1), x2.reshape(-1), right=right).astype(_int64).reshape(x2.shape)
    )
    numbers = x1.size - missing.astype(_int64).sum()  # NaN is behind them
    after = as_tensor(x1.size, _int64) if right else numbers
    return ops.where(ops.not_equal(x2, x2), after, ops.minimum(at, numbers))


def nonzero(x):
    x = (
        x
        if x.dtype is mindspore.bool_
        else ops.not_equal(x.astype(mindspore.float32) if x.dtype is mindspore.bfloat16 else x, 0)
    )
    if not x.ndim:
        raise ValueError("nonzero wants at least one axis")
    if not x.size:
        return tuple(ops.zeros((0,), _int64) for _ in x.shape)
    found = ops.nonzero(x)
    return tuple(found[:, a] for a in range(x.ndim))


def isin(x1, x2, *, invert=False):
    x1, x2 = promote_operands(x1, x2)
    if not x1.size or not x2.size:
        return ops.full(x1.shape, invert, dtype=mindspore.bool_)
    if x1.dtype is mindspore.bfloat16:
        x1, x2 = x1.astype(mindspore.float32), x2.astype(mindspore.float32)
    if x1.dtype is mindspore.bool_:
        x1, x2 = x1.astype(mindspore.int32), x2.astype(mindspore.int32)
    known = sort(x2.reshape(-1))
    at = ops.clamp(searchsorted(known, x1), 0, x2.size - 1)
    found = ops.equal(ops.gather(known, at, 0), x1)
    return ops.logical_not(found) if invert else found


def bincount(x, weights=None, *, minlength=0):
    """MindSpore accepts int32 only."""
    if x.ndim != 1:
        raise ValueError(f"bincount wants a tensor of one axis, received {x.shape}")
    size = builtins.max(minlength, int(x.max()) + 1 if x.size else 0)
    if x.size and int(x.min()) < 0:
        raise ValueError("bincount wants no negative numbers")
    refuse_beyond_memory(f"bincount would give {size} counts", 8 * size)
    kind = _int64 if weights is None else as_tensor(weights).dtype
    if not x.size:
        return ops.zeros((size,), kind)
    counted = ops.ones((x.size,), _int64) if weights is None else as_tensor(weights)
    wide = mindspore.float32 if kind in (mindspore.bfloat16, mindspore.float16) else kind
    return ops.scatter_nd(ops.expand_dims(x.astype(_int64), 1), counted.astype(wide), (size,)).astype(kind)


def histogram(x, /, bins=10, *, range=None, density=False):
    """Bins by the edges, then counts: MindSpore's own returns no edges."""
    x = x.reshape(-1)
    wide = x if x.dtype is mindspore.float32 or x.dtype is _float64 else x.astype(mindspore.float32)
    kind = wide.dtype
    if range is not None:
        low, high = (as_tensor(v, kind) for v in range)
    else:
        low, high = (wide.min(), wide.max()) if wide.size else (as_tensor(0, kind), as_tensor(1, kind))
    same = ops.equal(low, high)
    low, high = ops.where(same, low - 0.5, low), ops.where(same, high + 0.5, high)
    edges = low + (high - low) * as_tensor(np.arange(bins + 1) / bins, kind)
    if not wide.size:
        counts = ops.zeros((bins,), _int64)
    else:
        place = searchsorted(edges, wide, side="right") - 1
        place = ops.where(ops.equal(wide, edges[-1]), as_tensor(bins - 1, _int64), place)
        inside = ops.logical_and(ops.greater_equal(place, 0), ops.less(place, bins))
        places = ops.expand_dims(ops.clamp(place, 0, bins - 1), 1)
        counts = ops.scatter_nd(places, inside.astype(_int64), (bins,))
    widths = edges[1:] - edges[:-1]
    edges = edges.astype(x.dtype) if is_floating(x) else edges
    if density:
        counts = (counts.astype(wide.dtype) / counts.sum().astype(wide.dtype) / widths).astype(edges.dtype)
    return counts, edges


def quantile(x, q, axis=None, keepdims=False, *, method="linear"):
    """From the sorted elements: MindSpore's own has no CPU kernel."""
    if not is_floating(x):
        x = x.astype(mindspore.float32)
    elif x.dtype in (mindspore.float16, mindspore.bfloat16):
        return quantile(x.astype(mindspore.float32), q, axis, keepdims, method=method).astype(x.dtype)
    rank = x.ndim
    flat, at = (x.reshape(-1), 0) if axis is None else (x, axis % rank)
    if not flat.shape[at]:
        raise ValueError(f"quantile wants at least one element along the axis, received {x.shape}")
    ordered = sort(flat, at)
    last = ops.narrow(ordered, at, flat.shape[at] - 1, 1)
    missing = ops.not_equal(last, last)
    results = []
    for share in q if isinstance(q, list | tuple) else (q,):
        position = share * (flat.shape[at] - 1)
        low, high = math.floor(position), math.ceil(position)
        weight = {
            "linear": position - low,
            "lower": 0,
            "higher": high - low,
            "midpoint": (high - low) / 2,
            "nearest": builtins.round(position) - low,
        }[method]
        below, above = ops.narrow(ordered, at, low, 1), ops.narrow(ordered, at, high, 1)
        mixed = (
            below
            if weight == 0
            else above
            if weight == 1
            else (below * as_tensor(1 - weight, x.dtype) + above * as_tensor(weight, x.dtype))
        )
        result = ops.where(missing, as_tensor(math.nan, x.dtype), mixed)
        if axis is None:
            result = result.reshape((1,) * rank if keepdims else ())
        results.append(result if keepdims or axis is None else ops.squeeze(result, at))
    return ops.stack(results) if isinstance(q, list | tuple) else results[0]
