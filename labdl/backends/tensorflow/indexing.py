"""TensorFlow implementations of reading and writing by index, mask and position."""

import math

import numpy as np
import tensorflow as tf

from labdl.backends.tensorflow.arrays import positions
from labdl.backends.tensorflow.dtypes import NUMBERS, number, promote_operands, sizes, together
from labdl.backends.tensorflow.segments import product_of_segments

_ARRAYS = (tf.Tensor, tf.Variable, np.ndarray)


def _is_mask(item) -> bool:
    return item.dtype is tf.bool or item.dtype == "bool"


def _width(item) -> int:
    """The number of axes that an item of an index consumes."""
    return 0 if item is None else len(item.shape) if isinstance(item, _ARRAYS) and _is_mask(item) else 1


def getitem(x, index):
    """TensorFlow's indexing supports neither masks beside other items nor tensors of integers."""
    items = list(index) if isinstance(index, tuple) else [index]
    chosen = [i for i in items if isinstance(i, _ARRAYS)]
    if not chosen:
        if [i for i in items if isinstance(i, bool | list)]:
            raise TypeError("an index has no lists and no single bools")  # TensorFlow interprets them differently
        try:
            return x[index]
        except (TypeError, tf.errors.InvalidArgumentError):
            return x[tuple(map(_slice, items))]
    if any(np.dtype(str(getattr(i.dtype, "name", i.dtype))).kind not in "iub" for i in chosen):
        raise TypeError("an index has integers and masks")
    places = [a for a, i in enumerate(items) if isinstance(i, (int, *_ARRAYS))]
    if places[-1] - places[0] >= len(places) or (len(chosen) > 1 and any(map(_is_mask, chosen))):
        raise ValueError("tensors of an index must be adjacent, and have one mask at most")
    at = next((a for a, i in enumerate(items) if i is Ellipsis), None)
    if at is not None:
        used = sum(_width(i) for i in items if i is not Ellipsis)
        items[at : at + 1] = [slice(None)] * (len(x.shape) - used)
    # first the other items, after which the indexed axes are adjacent
    simple = [[slice(None)] * _width(i) if isinstance(i, _ARRAYS) else [i] for i in items]
    first = next(a for a, i in enumerate(items) if isinstance(i, _ARRAYS))
    place = len([i for i in items[:first] if not isinstance(i, int)])
    if [i for i in items if not isinstance(i, _ARRAYS) and i != slice(None)]:
        x = x[tuple(_slice(i) for group in simple for i in group)]
    if _is_mask(chosen[0]):
        return _select(x, tf.convert_to_tensor(chosen[0]), place)
    if len(chosen) == 1:
        return tf.gather(x, positions(chosen[0], sizes(x)[place]), axis=place)
    return _points(x, chosen, place)


def _slice(item):
    """TensorFlow wants one dtype of the bounds of a slice, int32 or int64."""
    if not isinstance(item, slice):
        return item
    bounds = (item.start, item.stop, item.step)
    return slice(*(tf.cast(b, tf.int64) if isinstance(b, _ARRAYS) else b for b in bounds))


def _select(x, mask, place: int):
    """TensorFlow supports neither a mask without axes nor one without elements."""
    if not mask.shape.rank:
        return tf.boolean_mask(tf.expand_dims(x, place), tf.reshape(mask, (1,)), axis=place)
    covered = x.shape[place : place + mask.shape.rank]
    if 0 in mask.shape and all(m in (0, n) for m, n in zip(mask.shape, covered, strict=True)):
        shape = sizes(x)
        return tf.zeros([*shape[:place], 0, *shape[place + mask.shape.rank :]], x.dtype)
    return tf.boolean_mask(x, mask, axis=place)


def _points(x, chosen, place):
    """Elements at positions on several adjacent axes."""
    rank, shape = x.shape.rank, sizes(x)
    axes = list(range(place, place + len(chosen)))
    chosen = [tf.convert_to_tensor(positions(i, shape[a])) for i, a in zip(chosen, axes, strict=True)]
    indices = tf.stack(together(*chosen), -1)
    if not place:
        return tf.gather_nd(x, indices)
    found = tf.gather_nd(tf.transpose(x, axes + [a for a in range(rank) if a not in axes]), indices)
    new = indices.shape.rank - 1
    order = [*range(new, new + place), *range(new), *range(new + place, found.shape.rank)]
    return tf.transpose(found, order)


def setitem(x, index, value):
    """TensorFlow's tensors are immutable: uses flat positions of the elements."""
    x = tf.convert_to_tensor(x)
    kind = x.dtype
    value = number(value, kind) if isinstance(value, NUMBERS) else tf.cast(value, kind)
    count = tf.size(x, tf.int64)
    places = getitem(tf.reshape(tf.range(count), sizes(x)), index)
    value = tf.reshape(tf.broadcast_to(value, tf.shape(places)), (-1,))
    flat = tf.tensor_scatter_nd_update(tf.reshape(x, (-1,)), tf.reshape(places, (-1, 1)), value)
    return tf.ensure_shape(tf.reshape(flat, sizes(x)), x.shape)


def _multiply_at(x, places, updates):
    """Product of the updates of each element: TensorFlow has no scattered product."""
    shape = tf.shape(x, tf.int64)
    steps = tf.math.cumprod(shape, exclusive=True, reverse=True)
    count = tf.size(x, tf.int64)
    beyond = tf.reduce_any(tf.logical_or(places < 0, places >= shape), -1)  # would be a place in another row
    flat = tf.reshape(tf.where(beyond, count, tf.reduce_sum(places * steps, -1)), (-1,))
    factors = product_of_segments(tf.reshape(updates, (-1,)), flat, count)
    return x * tf.reshape(factors, shape)


def _scattered_extreme(function):
    """TensorFlow ignores NaN."""

    def call(x, places, updates):
        result = function(x, places, updates)
        if not x.dtype.is_floating:
            return result
        counted = (tf.cast(tf.math.is_nan(v), tf.int32) for v in (x, updates))
        missing = tf.tensor_scatter_nd_add(next(counted), places, next(counted))
        return tf.where(missing > 0, number(math.nan, x.dtype), result)

    return call


_SCATTER = {
    None: tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "multiply": _multiply_at,
    "max": _scattered_extreme(tf.tensor_scatter_nd_max),
    "min": _scattered_extreme(tf.tensor_scatter_nd_min),
}


def scatter(x, indices, updates, axis=-1, *, reduce=None):
    """TensorFlow needs positions on all axes."""
    x, updates = promote_operands(x, updates)
    axis %= x.shape.rank
    shape = sizes(x)
    indices = tf.convert_to_tensor(positions(indices, shape[axis]))
    shape[axis] = sizes(indices)[axis]
    grid = [
        tf.reshape(tf.range(tf.cast(n, tf.int64)), [-1 if a == b else 1 for b in range(len(shape))])
        for a, n in enumerate(shape)
    ]
    grid[axis] = indices
    places = tf.stack([tf.broadcast_to(g, shape) for g in grid], -1)
    result = _SCATTER[reduce](x, places, tf.broadcast_to(updates, shape))
    return tf.ensure_shape(result, x.shape)


def _places(indices, shape):
    """Positions of several numbers, counted from the start."""
    indices = tf.cast(indices, tf.int64)
    depth = indices.shape[-1]
    return tf.where(indices < 0, indices + tf.cast(tf.stack(shape[:depth]) if depth else 0, tf.int64), indices)


def gather_nd(x, indices):
    """TensorFlow takes no negative positions."""
    return tf.gather_nd(x, _places(indices, sizes(x)))


def scatter_nd(indices, updates, shape):
    """TensorFlow takes no negative positions."""
    if updates.dtype is tf.bool:
        raise TypeError("scatter_nd wants numbers")
    return tf.scatter_nd(_places(indices, list(shape)), updates, tf.constant(shape, tf.int64))
