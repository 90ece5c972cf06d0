"""TensorFlow implementations of sorting, searching, sets and counts."""

import tensorflow as tf
from tensorflow import raw_ops as _raw

from labdl.backends.tensorflow.dtypes import BITS, COMPLEX, INTEGERS, promote_operands, sizes
from labdl.spec import refuse_beyond_memory


def _keys(x):
    """Integer keys in the order of the elements, NaN as the largest: TensorFlow has no order of NaN."""
    kind = x.dtype
    if kind in COMPLEX:
        raise TypeError("complex numbers have no order")
    if kind not in BITS:
        return x if kind in (tf.int32, tf.int64) else tf.cast(x, tf.int32)
    x = x + tf.zeros((), kind)  # -0.0 becomes 0.0
    bits = tf.bitcast(x, BITS[kind])
    keys = tf.where(bits < 0, tf.bitwise.bitwise_xor(bits, tf.constant(bits.dtype.max, bits.dtype)), bits)
    keys = tf.where(tf.math.is_nan(x), tf.constant(bits.dtype.max, bits.dtype), keys)
    return tf.cast(keys, tf.int32) if keys.dtype is tf.int16 else keys


def _no_bool(x, name):
    if x.dtype is tf.bool:
        raise TypeError(f"{name} wants numbers")


def _last(x, axis):
    """Move the axis to the end; also returns the inverse."""
    rank = x.shape.rank
    axis %= rank
    if axis == rank - 1:
        return x, lambda y: y
    order = [a for a in range(rank) if a != axis] + [axis]
    back = [order.index(a) for a in range(rank)]
    return tf.transpose(x, order), lambda y: tf.transpose(y, back)


def _first(x, count, descending):
    """Positions on the last axis of the first so many elements in order; equal ones in their original order, NaN last."""
    keys = _keys(x)
    if descending and x.dtype in BITS:
        least = tf.constant(keys.dtype.min, keys.dtype)
        keys = tf.where(tf.math.is_nan(x), least, keys)
    elif not descending:
        keys = tf.bitwise.invert(keys)
    return _raw.TopKV2(input=keys, k=count, sorted=True, index_type=tf.int64).indices


def _choose(x, order):
    return tf.gather(x, order, axis=-1, batch_dims=x.shape.rank - 1)


def sort(x, axis=-1, *, descending=False, stable=True):
    """TensorFlow has no order of NaN."""
    x, back = _last(x, axis)
    return back(_choose(x, _first(x, sizes(x)[-1], descending)))


def argsort(x, axis=-1, *, descending=False, stable=True):
    """TensorFlow has no order of NaN."""
    x, back = _last(x, axis)
    return back(_first(x, sizes(x)[-1], descending))


def topk(x, k, axis=-1, *, largest=True):
    """TensorFlow's ``top_k`` knows the last axis and the largest only, and has no order for NaN."""
    _no_bool(x, "topk")
    x, back = _last(x, axis)
    order = _first(x, k, largest)
    return back(_choose(x, order)), back(order)


def _groups(x):
    """The elements in order, their positions, whether each differs from the one before, and the index of its value."""
    flat = tf.reshape(x, (-1,))
    order = _first(flat, tf.size(flat), False)
    found = tf.gather(flat, order)
    new = tf.concat([tf.ones_like(found[:1], tf.bool), tf.not_equal(found[1:], found[:-1])], 0)
    return found, order, new, tf.cumsum(tf.cast(new, tf.int64)) - 1


def _counts(new, kinds):
    return tf.math.unsorted_segment_sum(tf.ones_like(kinds), kinds, tf.math.count_nonzero(new))


def _inverse(x, order, kinds):
    return tf.reshape(tf.scatter_nd(order[:, None], kinds, tf.size(kinds, tf.int64)[None]), tf.shape(x))


def unique_all(x):
    """TensorFlow returns them in order of occurrence."""
    if x.dtype.is_complex:
        return NotImplemented
    found, order, new, kinds = _groups(x)
    return (tf.boolean_mask(found, new), tf.boolean_mask(order, new), _inverse(x, order, kinds), _counts(new, kinds))


def searchsorted(x1, x2, *, side="left", sorter=None):
    """TensorFlow orders NaN first."""
    x1, x2 = promote_operands(x1, x2)
    _no_bool(x1, "searchsorted")
    x1 = x1 if sorter is None else tf.gather(x1, tf.cast(sorter, tf.int64))
    return tf.reshape(tf.searchsorted(_keys(x1), tf.reshape(_keys(x2), (-1,)), side, tf.int64), tf.shape(x2))


def nonzero(x):
    """TensorFlow's ``where`` returns rows, and does not accept float16."""
    found = tf.where(x if x.dtype is tf.bool else tf.not_equal(x, tf.zeros((), x.dtype)))
    return tuple(tf.unstack(found, x.shape.rank, 1))


def isin(x1, x2, *, invert=False):
    """Not in TensorFlow."""
    x1, x2 = promote_operands(x1, x2)
    keys = _raw.TopKV2(input=_keys(tf.reshape(x2, (-1,))), k=tf.size(x2)).values[::-1]
    keys = tf.concat([keys, keys[-1:]], 0)  # a slot for values above the largest
    wanted = tf.reshape(_keys(x1), (-1,))
    found = tf.zeros_like(wanted, tf.bool)
    if 0 not in x2.shape:
        found = tf.equal(tf.gather(keys, tf.searchsorted(keys[:-1], wanted)), wanted)
    found = tf.reshape(found, tf.shape(x1))
    if x1.dtype in BITS:
        found = tf.logical_and(found, tf.equal(x1, x1))  # NaN is never an element
    return tf.logical_not(found) if invert else found


def bincount(x, weights=None, *, minlength=0):
    """TensorFlow's ``bincount`` takes few dtypes; a sum over segments leaves out what is negative."""
    x = tf.cast(x, tf.int64)
    tf.raw_ops.Assert(condition=tf.reduce_all(x >= 0), data=["bincount wants numbers of 0 or more"])
    count = tf.maximum(tf.reduce_max(tf.concat([x, [-1]], 0)) + 1, minlength)
    if tf.executing_eagerly():
        size = int(count)
        refuse_beyond_memory(f"bincount would give {size} counts", 8 * size)
    return tf.math.unsorted_segment_sum(tf.ones_like(x) if weights is None else weights, x, count)


def histogram(x, bins=10, *, range=None, density=False):
    """TensorFlow's ``histogram_fixed_width`` returns no edges and counts elements outside."""
    if x.dtype is tf.bool or x.dtype in COMPLEX:
        raise TypeError("histogram wants real numbers")
    x = tf.reshape(x, (-1,))
    kind = tf.float32 if x.dtype in INTEGERS else x.dtype
    wide = x if x.dtype is tf.float64 else tf.cast(x, tf.float32)
    ends = (tf.reduce_min(wide), tf.reduce_max(wide)) if range is None else range
    low, high = (tf.cast(v, wide.dtype) for v in ends)
    same = tf.equal(low, high)
    low, high = tf.where(same, low - 0.5, low), tf.where(same, high + 0.5, high)
    edges = low + (high - low) * tf.range(bins + 1, dtype=wide.dtype) / bins
    place = tf.searchsorted(edges, wide, "right", tf.int64) - 1
    place = tf.where(tf.equal(wide, edges[-1]), tf.constant(bins - 1, tf.int64), place)
    counts = tf.math.unsorted_segment_sum(tf.ones_like(place), tf.where(place < bins, place, -1), bins)
    edges = tf.cast(edges, kind)
    if density:
        shares = tf.cast(counts, wide.dtype) / tf.cast(tf.reduce_sum(counts), wide.dtype)
        counts = tf.cast(shares / (tf.cast(edges[1:], wide.dtype) - tf.cast(edges[:-1], wide.dtype)), kind)
    return counts, edges
