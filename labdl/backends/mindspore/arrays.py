"""MindSpore implementations of operators that arrange elements."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportOptionalSubscript=false

import builtins
import math

import mindspore
import numpy as np
from mindspore import Parameter, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.dtypes import ALL, as_tensor, broadcast, is_complex, promote_operands, through
from labdl.backends.mindspore.tensors import dtype as native_dtype
from labdl.spec import normal_axes, refuse_beyond_memory

_transpose = P.Transpose()


def reshape(x, shape):
    shape = (shape,) if isinstance(shape, int) else tuple(-1 if n is None else n for n in shape)
    known = math.prod(n for n in shape if n != -1)
    open_sizes = shape.count(-1)
    if open_sizes > 1 or (x.size != known if not open_sizes else not known or x.size % known):
        raise ValueError(f"{x.size} elements of {x.shape} do not fit the shape {shape}")
    return x.reshape(shape)


def permute_dims(x, axes):
    axes = normal_axes(tuple(axes), x.ndim)
    if sorted(axes) != list(range(x.ndim)):
        raise ValueError(f"permute_dims wants each of {x.ndim} axes once, received {axes}")
    return _transpose(x, axes) if axes else x.copy()


def expand_dims(x, axis=0):
    return ops.expand_dims(x, normal_axes(axis, x.ndim + 1)[0])


def squeeze(x, axis):
    axes = normal_axes(axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze wants a size of 1 on axis {a}, received {x.shape}")
    return x.reshape(tuple(n for a, n in enumerate(x.shape) if a not in axes))


def concat(xs, axis=0):
    xs = promote_operands(*xs)
    if axis is None:
        return ops.cat([x.reshape(-1) for x in xs], 0)
    axis = normal_axes(axis, xs[0].ndim)[0]
    rests = {(*x.shape[:axis], *x.shape[axis + 1 :]) for x in xs}
    if len(rests) > 1 or len({x.ndim for x in xs}) > 1:
        raise ValueError(f"concat wants sizes that differ on axis {axis} only, received {[x.shape for x in xs]}")
    return ops.cat(xs, axis)


def stack(xs, axis=0):
    """MindSpore rejects a parameter beside a tensor."""
    xs = promote_operands(*xs)
    axis = normal_axes(axis, xs[0].ndim + 1)[0]
    if len({x.shape for x in xs}) > 1:
        raise ValueError(f"stack wants tensors of one shape, received {[x.shape for x in xs]}")
    if xs[0].dtype is mindspore.bfloat16 or builtins.any(isinstance(x, Parameter) for x in xs):
        return ops.cat([ops.expand_dims(x, axis) for x in xs], axis)
    return ops.stack(xs, axis)


def split(x, sections, axis=0):
    axis = normal_axes(axis, x.ndim)[0]
    size = x.shape[axis]
    if isinstance(sections, int):
        if sections < 1 or size % sections:
            raise ValueError(f"axis {axis} of size {size} cannot be split into {sections} equal parts")
        sections = [size // sections] * sections
    elif builtins.sum(sections) != size:
        raise ValueError(f"parts of {tuple(sections)} do not add up to size {size} of axis {axis}")
    if len(sections) == 1:
        return (x,)
    if not x.size:
        return tuple(ops.zeros((*x.shape[:axis], n, *x.shape[axis + 1 :]), x.dtype) for n in sections)
    return ops.split(x, list(sections), axis)


def _tile_tensor(x, repetitions):
    ahead = (1,) * (len(repetitions) - x.ndim)
    if 0 in repetitions or not x.size:
        sizes = zip((*ahead, *x.shape), ((1,) * (x.ndim - len(repetitions)) + repetitions), strict=True)
        return ops.zeros(tuple(n * m for n, m in sizes), x.dtype)
    return ops.tile(x, repetitions)


_tile = through(_tile_tensor, ALL)


def tile(x, repetitions):
    return _tile(x, (repetitions,) if isinstance(repetitions, int) else tuple(repetitions))


def repeat(x, repeats, *, axis=None):
    """MindSpore's repeat means `tile`."""
    x, axis = (x.reshape(-1), 0) if axis is None else (x, normal_axes(axis, x.ndim)[0])
    size = x.shape[axis]
    if isinstance(repeats, int):
        places = as_tensor(np.repeat(np.arange(size), repeats))
    else:
        counts = as_tensor(repeats, mindspore.int64).reshape(-1)
        if counts.size == 1:
            counts = ops.broadcast_to(counts, (size,))
        elif counts.size != size:
            raise ValueError(f"repeat wants one number for each of {size} elements, received {counts.shape}")
        if not size:
            return x.copy()
        if int(counts.min()) < 0:
            raise ValueError("repeats are integers of 0 or more")
        total = builtins.sum(map(int, counts.asnumpy()))  # which may be above 64 bits
        if total * math.prod(x.shape) // size > _LARGEST:
            raise MemoryError(f"repeat would give {total} slices of {x.shape} along axis {axis}")
        width = 16 + x.size // size * x.itemsize  # positions, twice, and a slice
        refuse_beyond_memory(f"repeat would give {total:.1e} slices", total * width)
        ends = ops.cumsum(counts, 0)
        # the element at a position is the number of elements that end at or before it
        places = ops.searchsorted(ends, as_tensor(np.arange(total)), right=True).astype(mindspore.int64)
    return _gathered(x, places, axis)


_LARGEST = 2**40  # elements


def _gather(x, places, axis):
    if not x.size or 0 in places.shape:
        return ops.zeros((*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]), x.dtype)
    return ops.gather(x, places, axis)


_gathered = through(_gather, ALL)


def _spread(x, shape):
    if broadcast(x.shape, shape) != tuple(shape):
        raise ValueError(f"{x.shape} cannot be broadcast to {tuple(shape)}")
    return ops.broadcast_to(x, tuple(shape))


broadcast_to = through(_spread, ALL)


def broadcast_arrays(*arrays):
    arrays = [as_tensor(x) for x in arrays]
    shape = broadcast(*(x.shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


_flip = through(lambda x, axes: P.ReverseV2(axes)(x), ALL)


def flip(x, axis=None):
    axes = normal_axes(axis, x.ndim)
    return _flip(x, axes) if axes and x.size else x.copy()


def roll(x, shift, axis=None):
    """By concatenating parts in swapped order: Roll has no CPU kernel."""
    if axis is None:
        return roll(x.reshape(-1), shift, 0).reshape(x.shape)
    axes = normal_axes(axis, x.ndim)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    if len(shifts) != len(axes):
        raise ValueError(f"roll wants a shift for each of the axes {axes}, received {shifts}")
    for a, n in zip(axes, shifts, strict=True):
        n %= x.shape[a] or 1
        if n:
            x = ops.cat(split(x, [x.shape[a] - n, n], a)[::-1], a)
    return x


_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(x, padding, mode="constant", value=0.0):
    """Axis by axis: MindSpore's other modes support few ranks."""
    padding = tuple(tuple(pair) for pair in padding)
    if len(padding) != x.ndim:
        raise ValueError(f"pad wants a pair for each of {x.ndim} axes, received {padding}")
    if mode == "constant":
        return _padded(x, padding, value)
    for axis, pair in enumerate(padding):
        size = x.shape[axis]
        if pair != (0, 0):
            if not size or (mode == "reflect" and builtins.max(pair) >= size):
                raise ValueError(f"a border of {pair} is too wide for size {size} with mode {mode}")
            x = _gathered(x, as_tensor(np.pad(np.arange(size), pair, mode=_MODES[mode])), axis)
    return x


def _pad_axis(x, padding, value):
    for axis, pair in enumerate(padding):
        parts = [
            as_tensor(np.full([n if a == axis else m for a, m in enumerate(x.shape)], value), x.dtype) for n in pair
        ]
        before, after = parts
        x = ops.cat([p for p in (before, x, after) if p.shape[axis]] or [x], axis) if pair != (0, 0) else x
    return x


_padded = through(_pad_axis, ALL)


def _triangle(kernel, keep):
    def call(x, k):
        if x.ndim < 2:
            raise ValueError(f"tril and triu want matrices, received {x.shape}")
        if not x.size:
            return x.copy()
        if is_complex(x):
            kept = as_tensor(keep(np.ones(x.shape[-2:], "bool"), k))
            return ops.where(ops.broadcast_to(kept, x.shape), x, ops.zeros_like(x))
        return kernel(x, k)

    call = through(call, ALL)
    return lambda x, /, *, k=0: call(x, k)


tril, triu = _triangle(ops.tril, np.tril), _triangle(ops.triu, np.triu)


def _on_diagonal(x, first, second, offset):
    """Merge the two axes at the end and take elements at a constant step."""
    rest = [a for a in range(x.ndim) if a not in (first, second)]
    rows, columns = x.shape[first], x.shape[second]
    places = np.diagonal(np.arange(rows * columns).reshape(rows, columns), offset)
    flat = _transpose(x, (*rest, first, second)).reshape(*(x.shape[a] for a in rest), rows * columns)
    return _gather(flat, as_tensor(places), len(rest))


_diagonal = through(_on_diagonal, ALL)


def diagonal(x, /, *, offset=0, axes=(-2, -1)):
    first, second = normal_axes(tuple(axes), x.ndim)
    return _diagonal(x, first, second, offset)


def _diagonals(x, offset):
    """Matrices with a vector on a diagonal, zeros elsewhere."""
    size = x.shape[-1] + builtins.abs(offset)
    wide = _pad_axis(x, ((0, 0),) * (x.ndim - 1) + ((builtins.max(offset, 0), builtins.max(-offset, 0)),), 0)
    kept = as_tensor(np.eye(size, k=offset, dtype="bool"))
    wide = ops.broadcast_to(ops.expand_dims(wide, -2), (*x.shape[:-1], size, size))
    return ops.where(ops.broadcast_to(kept, wide.shape), wide, ops.zeros_like(wide))


_diag = through(_diagonals, ALL)


def diag(x, /, *, offset=0):
    """MindSpore's diag accepts one vector only."""
    return _diag(x, offset)


def astype(x, dtype):
    if is_complex(x) and not dtype.startswith("complex"):
        if dtype == "bool":
            return ops.not_equal(x, 0)
        raise TypeError(f"complex numbers cannot be converted to {dtype}")
    return x.astype(native_dtype(dtype))


def _like(make):
    def call(x, /, *, dtype=None):
        kind = x.dtype if dtype is None else native_dtype(dtype)
        wide = mindspore.float32 if kind is mindspore.bfloat16 else kind
        return make(x.shape, dtype=wide).astype(kind) if wide is not kind else make(x.shape, dtype=kind)

    return call


zeros_like, ones_like = _like(ops.zeros), _like(ops.ones)


def full_like(x, value, /, *, dtype=None):
    return as_tensor(np.full(x.shape, value), x.dtype if dtype is None else native_dtype(dtype))


def stop_gradient(x):
    return ops.stop_gradient(x)
