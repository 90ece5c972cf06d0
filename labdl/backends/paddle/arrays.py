"""PaddlePaddle implementations of operators that arrange elements."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import functools
import math
import operator

import numpy as np
import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import where
from labdl.backends.paddle.call_recorder import reads_values
from labdl.backends.paddle.dtypes import (
    BOOL,
    HALF_ONLY,
    INT64,
    as_tensor,
    cast,
    diagonal_mask,
    full_tensor,
    in_dtype,
    in_wider_dtype,
    integer_range,
    is_complex,
    on_cpu,
    promote_operands,
)
from labdl.backends.paddle.tensors import dtype as native_dtype
from labdl.spec import refuse_beyond_memory


def reshape(x, shape):
    """To Paddle a size of 0 means "as before"."""
    shape = [shape] if isinstance(shape, int) else [-1 if n is None else n for n in shape]
    if 0 in x.shape:
        known = math.prod(n for n in shape if n != -1)
        if -1 in shape and known == 0:
            raise ValueError(f"reshape of {tuple(x.shape)} to {tuple(shape)}: -1 could be any size")
        shape = [0 if n == -1 else n for n in shape]
        if 0 not in shape:
            raise ValueError(f"reshape of {tuple(x.shape)} to {tuple(shape)}: the numbers of elements differ")
        return kernels.expand(_one(x), shape)
    if 0 in shape:
        raise ValueError(f"reshape of {tuple(x.shape)} to {tuple(shape)}: the numbers of elements differ")
    return kernels.reshape(x, shape)


def _one(x):
    """A scalar of the dtype of an empty tensor, connected to its gradient history."""
    return paddle.sum(x, [], x.dtype, False)


def permute_dims(x, axes):
    rank = x.ndim
    return kernels.transpose(x, [a % rank for a in axes])


def expand_dims(x, axis=0):
    return kernels.unsqueeze(x, [axis])


def squeeze(x, axis):
    """Paddle leaves an axis of another size than 1 as it is."""
    axes = [axis] if isinstance(axis, int) else list(axis)
    for a in axes:
        if x.shape[a] not in (1, -1):
            raise ValueError(f"squeeze wants a size of 1 on axis {a}, received {tuple(x.shape)}")
    return kernels.squeeze(x, axes) if axes else kernels.assign(x)


def concat(xs, axis=0):
    xs = promote_operands(*xs)
    # Paddle takes words and fractions for an axis
    xs, axis = ([kernels.reshape(x, [-1]) for x in xs], 0) if axis is None else (xs, operator.index(axis))
    if xs[0].dtype == paddle.bfloat16 and on_cpu(xs[0]):  # there is no kernel of the gradient
        return cast(kernels.concat([cast(x, paddle.float32) for x in xs], axis), paddle.bfloat16)
    return kernels.concat(xs, axis)


def stack(xs, axis=0):
    return kernels.stack(promote_operands(*xs), axis)


def split(x, sections, axis=0):
    if isinstance(sections, int):
        size = x.shape[axis]
        if size % sections:
            raise ValueError(f"axis {axis} of size {size} cannot be split into {sections} equal parts")
        sections = [size // sections] * sections
    return tuple(kernels.split(x, list(sections), axis % x.ndim))  # wrong for a negative axis


@functools.partial(in_wider_dtype, table=HALF_ONLY)
def _tile(x, repetitions):
    return kernels.tile(x, repetitions)


def tile(x, repetitions):
    return _tile(x, [repetitions] if isinstance(repetitions, int) else list(repetitions))


def repeat(x, repeats, *, axis=None):
    if axis is None:
        x, axis = kernels.reshape(x, [-1]), 0
    size = x.shape[axis]
    if isinstance(repeats, int):
        if repeats < 0:
            raise ValueError(f"repeat wants 0 or more, received {repeats}")
        places = kernels.floor_divide(integer_range(0, size * repeats), full_tensor([], max(repeats, 1), INT64))
    else:  # the size of the result depends on values
        repeats = cast(as_tensor(repeats), INT64)
        repeats = kernels.expand(repeats, [size]) if repeats.ndim == 0 or repeats.shape[0] == 1 else repeats
        if not size:
            return x
        if reads_values(repeats):
            _check_counts(repeats, x)
        places = kernels.repeat_interleave_with_tensor_index(integer_range(0, size), repeats, 0, -1)
    return take_rows(x, places, axis % x.ndim)


def _check_counts(repeats, x):
    """The kernel ends the process if the sum of the counts is too large, or its positions do not fit into the memory."""
    least, total = paddle.amin(repeats, [], False), paddle.sum(cast(repeats, paddle.float64))
    least, total = int(least.item()), float(total.item())
    if least < 0:
        raise ValueError(f"repeat wants counts of 0 or more, received {least}")
    if total >= 2**31:
        raise MemoryError(f"repeat would give {total:.1e} slices")
    width = 16 + x.size // repeats.shape[0] * x.element_size()  # positions, twice, and a slice
    refuse_beyond_memory(f"repeat would give {total:.1e} slices", total * width)


@functools.partial(in_wider_dtype, table=HALF_ONLY)
def take_rows(x, places, axis):
    """Slices at positions of one axis."""
    if 0 in x.shape and not x.shape[axis] and places.shape[0]:  # the kernel would read invalid memory
        raise IndexError(f"there is no element to take on axis {axis} of {tuple(x.shape)}")
    return kernels.gather(x, places, axis)


def broadcast_to(x, shape):
    return kernels.expand(x, [shape] if isinstance(shape, int) else list(shape))


def broadcast_arrays(*arrays):
    """Paddle rejects mixed dtypes."""
    if not arrays:
        return ()
    arrays = [as_tensor(x) for x in arrays]
    shape = list(np.broadcast_shapes(*(tuple(x.shape) for x in arrays)))
    return tuple(x if x.shape == shape else kernels.expand(x, shape) for x in arrays)


def _some(axis, rank):
    return list(range(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)


_flipped = in_wider_dtype(kernels.flip)
_rolled = in_wider_dtype(paddle.roll)


def flip(x, axis=None):
    return _flipped(x, _some(axis, x.ndim))


def roll(x, shift, axis=None):
    axes = [] if axis is None else _some(axis, x.ndim)
    shifts = [shift] * max(len(axes), 1) if isinstance(shift, int) else list(shift)
    if 0 in x.shape or not x.ndim:
        return kernels.assign(x)
    return _rolled(x, shifts, axes)


@in_wider_dtype
def _pad_axis(x, pairs, value):
    return kernels.pad(x, pairs, value)


def pad(x, padding, mode="constant", value=0.0):
    """Axis by axis: Paddle's other modes are for the axes of images."""
    if not x.ndim:
        return kernels.assign(x)
    if mode == "constant":
        return _pad_axis(x, [n for pair in padding for n in pair], value)
    for axis, (before, after) in enumerate(padding):
        if before or after:
            size = x.shape[axis]
            if not size or (mode == "reflect" and max(before, after) >= size):
                raise ValueError(f"pad with {mode} of {(before, after)} wants more elements than {size}")
            x = take_rows(x, _border(size, before, after, mode), axis)
    return x


def _border(size, before, after, mode):
    """Positions of a padded axis in the axis itself."""
    names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    return paddle.to_tensor(np.pad(np.arange(size), (before, after), mode=names[mode]))  # type: ignore[call-overload]


_triangle = {name: in_wider_dtype(kernel) for name, kernel in (("tril", paddle.tril), ("triu", paddle.triu))}


def tril(x, *, k=0):
    return _triangle["tril"](x, k)


def triu(x, *, k=0):
    return _triangle["triu"](x, k)


def diagonal(x, *, offset=0, axes=(-2, -1)):
    return paddle.diagonal(x, offset, *axes)


@in_wider_dtype
def _on_diagonal(x, offset):
    rows, size = max(-offset, 0), x.shape[-1] + abs(offset)
    x = kernels.pad(x, [0, 0] * (x.ndim - 1) + [rows, size - rows - x.shape[-1]], 0.0)
    return where(diagonal_mask(size, offset), kernels.unsqueeze(x, [-1]), full_tensor([], 0, x.dtype))


def diag(x, *, offset=0):
    """Paddle's diag_embed supports few dtypes on the CPU."""
    return _on_diagonal(x, offset)


def astype(x, dtype):
    """Paddle drops imaginary parts silently."""
    kind = native_dtype(dtype)
    if is_complex(x.dtype) and not is_complex(kind) and kind != BOOL:
        raise TypeError(f"complex numbers cannot be converted to {dtype}")
    return cast(x, kind)


def _kind(x, dtype):
    return x.dtype if dtype is None else native_dtype(dtype)


def full_like(x, value, *, dtype=None):
    return full_tensor(x.shape, value, _kind(x, dtype))


def zeros_like(x, *, dtype=None):
    return full_tensor(x.shape, 0, _kind(x, dtype))


def ones_like(x, *, dtype=None):
    return full_tensor(x.shape, 1, _kind(x, dtype))


def whole_numbers(indices):
    """Positions as int64, for Paddle's kernels."""
    indices = as_tensor(indices)
    return indices if indices.dtype is INT64 else in_dtype(indices, INT64)


def from_start(indices, size, outside=None):
    """Positions that count from the start.

    Invalid positions become ``outside``, or the size, which kernels reject: they would count slightly negative ones from the
    end, and with several axes they could be valid flat positions.
    """
    indices, zero = whole_numbers(indices), full_tensor([], 0, INT64)
    later = kernels.scale(indices, 1.0, float(size), True)
    found = kernels.where(kernels.less_than(indices, zero), later, indices)
    known = kernels.logical_and(
        kernels.greater_equal(found, zero), kernels.less_than(found, full_tensor([], size, INT64))
    )
    return kernels.where(known, found, kernels.scale(found, 0.0, float(size if outside is None else outside), True))


def valid_positions(indices, size):
    """Positions that count from the start; invalid ones are an error, for kernels that do not check them."""
    indices = positions(indices, size)
    if not size and 0 not in indices.shape:  # the kernel would read invalid memory
        raise IndexError("there is no element at any position of an axis of size 0")
    found = kernels.gather(integer_range(0, size), kernels.reshape(indices, [-1]), 0)
    return found if indices.ndim == 1 else kernels.reshape(found, indices.shape)


def positions(indices, size):
    """Positions for kernels that support negative ones, as on the CPU."""
    return whole_numbers(indices) if on_cpu(indices) else from_start(indices, size)


def take(x, indices, axis=0):
    shape = x.shape
    axis = axis % len(shape)
    indices = positions(as_tensor(indices), shape[axis])
    if indices.ndim == 1:
        return take_rows(x, indices, axis)
    result = take_rows(x, kernels.reshape(indices, [-1]), axis)
    return reshape(result, [*shape[:axis], *indices.shape, *shape[axis + 1 :]])


def along(x, indices, axis):
    """Positions along an axis, broadcast over the others."""
    indices = positions(as_tensor(indices), x.shape[axis])
    shape = list(x.shape)
    shape[axis] = indices.shape[axis]
    return indices if indices.shape == shape else kernels.expand(indices, shape)


_taken_along = in_wider_dtype(kernels.take_along_axis)


def take_along_axis(x, indices, axis=-1):
    """Paddle's kernel supports few dtypes."""
    axis %= x.ndim  # wrong for a negative axis
    indices = along(x, indices, axis)
    if not x.shape[axis] and 0 not in indices.shape:
        raise IndexError(f"there is no element to take on axis {axis} of {tuple(x.shape)}")
    if is_complex(x.dtype):
        return kernels.complex(*(_taken_along(part, indices, axis) for part in (paddle.real(x), paddle.imag(x))))
    return _taken_along(x, indices, axis)
