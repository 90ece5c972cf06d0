"""TensorFlow implementations of operators that change shape, order and dtype."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportArgumentType=false, reportOptionalOperand=false

import functools
import operator

import numpy as np
import tensorflow as tf

from labdl.backends.tensorflow import layout
from labdl.backends.tensorflow.dtypes import COMPLEX, INTEGERS, number, promote_operands, sizes, together
from labdl.spec import refuse_beyond_memory


def reshape(x, shape):
    shape = [shape] if isinstance(shape, int) else [-1 if n is None else n for n in shape]
    return layout.remember_picture(x, tf.reshape(x, shape))


def flatten(x, start_axis=0, end_axis=-1):
    rank = x.shape.rank
    if not rank or rank == 1:
        return tf.reshape(x, (-1,))
    first, last = start_axis % rank, end_axis % rank
    if not (-rank <= start_axis < rank and -rank <= end_axis < rank) or first > last:
        raise ValueError("flatten wants start_axis before end_axis")
    shape = sizes(x)
    joined = functools.reduce(operator.mul, shape[first : last + 1])
    return layout.remember_picture(x, tf.reshape(x, [*shape[:first], joined, *shape[last + 1 :]]))


def permute_dims(x, axes):
    return tf.transpose(x, [a % len(axes) for a in axes])


def expand_dims(x, axis=0):
    return tf.expand_dims(x, axis)


def squeeze(x, axis):
    axes = [axis] if isinstance(axis, int) else list(axis)
    return tf.squeeze(x, axes) if axes else x  # of no axes TensorFlow makes all


def concat(xs, axis=0):
    xs = promote_operands(*xs)
    if axis is None:
        xs, axis = [tf.reshape(x, (-1,)) for x in xs], 0
    return tf.concat(xs, axis)


def stack(xs, axis=0):
    return tf.stack(promote_operands(*xs), operator.index(axis))  # TensorFlow takes fractions


def split(x, sections, axis=0):
    return tuple(tf.split(x, sections if isinstance(sections, int) else list(sections), axis))


def tile(x, repetitions):
    """TensorFlow wants a number for each axis."""
    times = [repetitions] if isinstance(repetitions, int) else list(repetitions)
    missing = len(times) - x.shape.rank
    x = tf.reshape(x, [1] * missing + sizes(x)) if missing > 0 else x
    return tf.tile(x, [1] * -missing + times)


def repeat(x, repeats, *, axis=None):
    """TensorFlow counts in int32, and takes negative numbers as 0."""
    if isinstance(repeats, int):
        return tf.repeat(x, repeats, axis)
    repeats = tf.cast(repeats, tf.int64)
    counted = tf.reduce_all((repeats >= 0) & (repeats <= tf.int32.max))
    tf.raw_ops.Assert(condition=counted, data=["repeats are integers from 0 to 2**31 - 1"])
    if tf.executing_eagerly():
        _check_counts(x, repeats, axis)
    return tf.repeat(x, tf.cast(repeats, tf.int32), axis)


def _check_counts(x, repeats, axis):
    elements = x.shape.num_elements()
    size = elements if axis is None else x.shape[axis]
    total = float(tf.reduce_sum(tf.cast(repeats, tf.float64))) * (size if repeats.shape.num_elements() == 1 else 1)
    width = 8 + elements // (size or 1) * x.dtype.size  # a position and a slice
    refuse_beyond_memory(f"repeat would give {total:.1e} slices", total * width)


def broadcast_to(x, shape):
    return tf.broadcast_to(x, [shape] if isinstance(shape, int) else shape)


def broadcast_arrays(*arrays):
    """Not in TensorFlow."""
    return tuple(together(*map(tf.convert_to_tensor, arrays)))


def _all_axes(x, axis) -> list[int]:
    rank = x.shape.rank
    return list(range(rank)) if axis is None else [a % rank for a in ([axis] if isinstance(axis, int) else axis)]


def flip(x, axis=None):
    return tf.reverse(x, _all_axes(x, axis))


def roll(x, shift, axis=None):
    """TensorFlow wants an axis for each shift."""
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, (-1,)), shift, 0), tf.shape(x))
    axes = _all_axes(x, axis)
    return tf.roll(x, [shift] * len(axes) if isinstance(shift, int) else list(shift), axes)


_SOURCES = {
    "reflect": lambda places, size: size - 1 - tf.abs(size - 1 - tf.abs(places)),
    "replicate": lambda places, size: tf.clip_by_value(places, 0, size - 1),
    "circular": lambda places, size: tf.math.floormod(places, size),
}


def pad(x, padding, mode="constant", value=0.0):
    """TensorFlow supports neither "replicate" nor "circular", and reflects no empty tensor."""
    if mode in ("replicate", "circular") or (mode == "reflect" and 0 in x.shape):
        for axis, (before, after) in enumerate(padding):
            if before or after:
                size = sizes(x)[axis]
                x = tf.gather(x, _SOURCES[mode](tf.range(-before, size + after), size), axis=axis)
        return x
    value = number(value, x.dtype) if mode == "constant" else 0
    mode = {"reflect": "REFLECT"}.get(mode, "CONSTANT")
    return tf.pad(x, padding, mode, value)


def _triangle(compare):
    def call(x, *, k=0):
        """TensorFlow's ``band_part`` does not support diagonal below for the lower triangle, or above for the upper one."""
        rows, columns = sizes(x)[-2:]
        return tf.where(compare(tf.range(rows)[:, None] + k, tf.range(columns)), x, tf.zeros((), x.dtype))

    return call


tril, triu = _triangle(tf.greater_equal), _triangle(tf.less_equal)


def diagonal(x, *, offset=0, axes=(-2, -1)):
    """TensorFlow supports the last two axes only, and no diagonal outside of the matrix."""
    rank = x.shape.rank
    first, second = (a % rank for a in axes)
    if (first, second) != (rank - 2, rank - 1):
        x = tf.transpose(x, [*(a for a in range(rank) if a not in (first, second)), first, second])
    rows, columns = x.shape[-2:]
    if None not in (rows, columns) and not -rows < offset < max(columns, 1):
        return tf.reshape(x[..., :0, :0], [*sizes(x)[:-2], 0])
    return tf.linalg.diag_part(x, k=offset)


def diag(x, *, offset=0):
    return tf.linalg.diag(x, k=offset)


def astype(x, dtype):
    """TensorFlow makes a complex number real, or a truth of its real part alone, silently."""
    kind = tf.as_dtype(dtype)
    if kind is tf.string or (x.dtype in COMPLEX and kind not in COMPLEX):
        if kind is tf.bool:
            return tf.not_equal(x, tf.zeros((), x.dtype))
        raise TypeError(f"astype cannot make {dtype} of {x.dtype.name}")
    return tf.cast(x, kind)


def full_like(x, value, *, dtype=None):
    return tf.fill(tf.shape(x), number(value, tf.as_dtype(dtype or x.dtype)))


def zeros_like(x, *, dtype=None):
    return tf.zeros_like(x, dtype)


def ones_like(x, *, dtype=None):
    return tf.ones_like(x, dtype)


def one_hot(x, classes, *, axis=-1, dtype="float32"):
    x = tf.convert_to_tensor(x)
    return tf.one_hot(tf.cast(x, tf.int64) if x.dtype in INTEGERS else x, classes, axis=axis, dtype=dtype)


def positions(indices, size):
    """Integers that count from the start: TensorFlow does not support negative ones. Those known here cost nothing later."""
    if not isinstance(indices, tf.Tensor | tf.Variable) and isinstance(size, int):
        indices = np.asarray(indices, "int64")
        return np.where(indices < 0, indices + size, indices)
    indices = tf.cast(indices, tf.int64)
    return tf.where(indices < 0, indices + tf.cast(size, tf.int64), indices)


def take(x, indices, axis=0):
    """TensorFlow takes no negative positions."""
    return tf.gather(x, positions(indices, sizes(x)[axis]), axis=axis)


def take_along_axis(x, indices, axis=-1):
    """TensorFlow takes no negative positions, and supports the last axis only."""
    rank = x.shape.rank
    axis %= rank
    shape = sizes(x)
    indices = tf.convert_to_tensor(positions(indices, shape[axis]))
    shape[axis] = sizes(indices)[axis]
    indices = tf.broadcast_to(indices, shape)
    order = [a for a in range(rank) if a != axis] + [axis]
    if axis == rank - 1:
        return tf.gather(x, indices, axis=-1, batch_dims=rank - 1)
    found = tf.gather(tf.transpose(x, order), tf.transpose(indices, order), axis=-1, batch_dims=rank - 1)
    return tf.transpose(found, [order.index(a) for a in range(rank)])
