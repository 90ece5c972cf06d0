"""TensorFlow implementations of reductions, statistics and cumulative sums."""

import math

import tensorflow as tf
from tensorflow import raw_ops as _raw

from labdl.backends.tensorflow.dtypes import COMPLEX, HALVES, INTEGERS, number, sizes
from labdl.backends.tensorflow.sorting import sort


def _axes(x, axis):
    return list(range(x.shape.rank)) if axis is None else list(axis) if isinstance(axis, tuple) else axis


def _widely(reduce):
    """Half precision in float32: float16 sums stop growing at 2048, and means of many elements are NaN."""

    def call(x, *args, **options):
        kind = x.dtype
        if kind is tf.float32 or kind not in HALVES:
            return reduce(x, *args, **options)
        return tf.cast(reduce(tf.cast(x, tf.float32), *args, **options), kind)

    return call


def _over(op):
    """A raw reduction with LabDL's parameters: the public functions compute the axes at run time."""

    def call(x, axis=None, keepdims=False):
        return op(input=x, axis=_axes(x, axis), keep_dims=keepdims)

    return call


_sum, _prod, _mean = _widely(_over(_raw.Sum)), _widely(_over(_raw.Prod)), _widely(_over(_raw.Mean))
_max, _min, _any, _all = map(_over, (_raw.Max, _raw.Min, _raw.Any, _raw.All))


def _whole(x) -> bool:
    kind = x.dtype
    return kind is not tf.float32 and (kind is tf.bool or kind in INTEGERS)


def _total(reduce):
    def call(x, axis=None, keepdims=False, *, dtype=None):
        """TensorFlow keeps the dtype of integers, and is inaccurate for long sums of float16."""
        if dtype is not None or _whole(x):
            x = tf.cast(x, dtype or tf.int64)
        return reduce(x, axis, keepdims)

    return call


sum, prod = _total(_sum), _total(_prod)


def _extreme(reduce):
    def call(x, axis=None, keepdims=False):
        if x.dtype is tf.bool:
            return tf.cast(reduce(tf.cast(x, tf.uint8), axis, keepdims), tf.bool)
        return reduce(x, axis, keepdims)

    return call


max, min = _extreme(_max), _extreme(_min)


def _truth(reduce):
    def call(x, axis=None, keepdims=False):
        """TensorFlow takes bool only."""
        return reduce(x if x.dtype is tf.bool else tf.not_equal(x, tf.zeros((), x.dtype)), axis, keepdims)

    return call


any, all = _truth(_any), _truth(_all)


def _position(find):
    def along(x, axis):
        at = find(x, axis, tf.int64)
        if not x.dtype.is_floating:
            return at
        missing = tf.math.is_nan(x)
        return tf.where(tf.reduce_any(missing, axis), tf.argmax(missing, axis), at)

    def call(x, axis=None, keepdims=False):
        """TensorFlow ignores NaN."""
        if axis is not None:
            at = along(x, axis)
            return tf.expand_dims(at, axis) if keepdims else at
        at = along(tf.reshape(x, (-1,)), 0)
        return tf.reshape(at, (1,) * x.shape.rank) if keepdims else at

    return call


argmax, argmin = _position(tf.argmax), _position(tf.argmin)


def mean(x, axis=None, keepdims=False):
    """TensorFlow truncates means of integers, and returns NaN for many elements of float16."""
    return _mean(tf.cast(x, tf.float32) if _whole(x) else x, axis, keepdims)


@_widely
def _var(x, axis, keepdims, correction):
    spread = tf.math.reduce_variance(x, _axes(x, axis), keepdims)
    if correction:
        count = tf.cast(tf.size(x), x.dtype) / tf.cast(tf.size(spread), x.dtype)
        spread = spread * (count / tf.maximum(count - correction, 0))
    return spread


def var(x, axis=None, keepdims=False, correction=0):
    """TensorFlow does not support correction."""
    if x.dtype in COMPLEX:
        raise TypeError("var wants real numbers")
    return _var(tf.cast(x, tf.float32) if _whole(x) else x, axis, keepdims, correction=correction)


def std(x, axis=None, keepdims=False, correction=0):
    """TensorFlow does not support correction, and its square root has an infinite slope at 0."""
    spread = var(x, axis, keepdims, correction)
    even = tf.equal(spread, 0)
    return tf.where(even, spread, tf.sqrt(tf.where(even, tf.ones_like(spread), spread)))


@_widely
def logsumexp(x, axis=None, keepdims=False):
    return tf.reduce_logsumexp(x, _axes(x, axis), keepdims)


_WEIGHTS = {
    "linear": lambda place, low: place - low,
    "lower": lambda place, low: tf.zeros_like(place),
    "higher": lambda place, low: tf.math.ceil(place) - low,
    "midpoint": lambda place, low: (tf.math.ceil(place) - low) / 2,
    "nearest": lambda place, low: tf.round(place) - low,
}


def quantile(x, q, axis=None, keepdims=False, *, method="linear"):
    """Not in TensorFlow."""
    if x.dtype is tf.bool or x.dtype in COMPLEX:
        raise TypeError("quantile wants real numbers")
    x = tf.cast(x, tf.float32) if x.dtype in INTEGERS else x
    rank, flat = x.shape.rank, axis is None
    x, axis = (tf.reshape(x, (-1,)), 0) if flat else (x, axis % rank)
    ordered = sort(x, axis)
    shares = tf.constant(q, tf.float64)
    place = shares * tf.cast(sizes(x)[axis] - 1, tf.float64)
    low = tf.math.floor(place)
    weight = tf.cast(_WEIGHTS[method](place, low), x.dtype)
    weight = tf.reshape(weight, (*shares.shape, *(1,) * (x.shape.rank - axis - 1)))
    below, above = (tf.gather(ordered, tf.cast(p, tf.int64), axis=axis) for p in (low, tf.math.ceil(place)))
    # inf * 0 would be NaN
    mixed = tf.where(weight == 0, below, tf.where(weight == 1, above, (1 - weight) * below + weight * above))
    missing = tf.reduce_any(tf.math.is_nan(x), axis, keepdims=bool(shares.shape.rank))
    result = tf.where(missing, number(math.nan, x.dtype), mixed)
    if shares.shape.rank:
        order = [axis, *(a for a in range(result.shape.rank) if a != axis)]
        result = tf.transpose(result, order)
    if keepdims:
        return tf.reshape(result, (*shares.shape, *(1,) * rank)) if flat else tf.expand_dims(result, axis - rank)
    return result
