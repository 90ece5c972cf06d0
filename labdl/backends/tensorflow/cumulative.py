"""TensorFlow implementations of cumulative sums and extremes."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportOptionalCall=false

import math

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import HALVES, INTEGERS, number, sizes, through


def _doubling(step, count, *state):
    """The state after ``step(reach, *state)`` with a reach of 1, 2, 4 ... until it spans ``count`` elements."""
    if not isinstance(count, int):
        start = (tf.constant(1), *state)
        return tf.while_loop(lambda reach, *_: reach < count, lambda reach, *s: (2 * reach, *step(reach, *s)), start)[
            1:
        ]
    reach = 1
    while reach < count:
        reach, state = 2 * reach, step(reach, *state)
    return state


def _running_extreme(function):
    def call(x, axis=None):
        """Not in TensorFlow."""
        axis = (axis or 0) % x.shape.rank
        count = sizes(x)[axis]
        places = tf.range(count)

        def step(reach, result):
            return (function(result, tf.gather(result, tf.maximum(places - reach, 0), axis=axis)),)

        return _doubling(step, count, x)[0]

    return call


cumulative_max, cumulative_min = _running_extreme(tf.maximum), _running_extreme(tf.minimum)


def _product(x, axis):
    axis %= x.shape.rank

    def pull(gradient):
        count = sizes(x)[axis]
        places = tf.range(count)
        last = tf.reshape(tf.equal(places, count - 1), [-1 if a == axis else 1 for a in range(x.shape.rank)])
        factor = tf.math.conj(tf.where(last, tf.zeros_like(x), tf.roll(x, -1, axis)))

        def step(reach, total, factor):
            later = tf.minimum(places + reach, count - 1)
            more, further = (tf.gather(v, later, axis=axis) for v in (total, factor))
            return total + factor * more, factor * further

        total = _doubling(step, count, gradient, factor)[0]
        return tf.math.conj(tf.math.cumprod(x, axis, exclusive=True)) * total

    return tf.custom_gradient(lambda x: (tf.math.cumprod(x, axis), pull))(x)


def _running(function, start):
    halves = through(tf.float32, function, *HALVES)

    def call(x, axis=None, *, dtype=None, include_initial=False):
        axis = axis or 0
        if dtype is not None or x.dtype is tf.bool or x.dtype in INTEGERS:
            x = tf.cast(x, dtype or tf.int64)
        result = halves.get(x.dtype, function)(x, axis=axis)
        if include_initial:
            first = [(int(a == axis % x.shape.rank), 0) for a in range(x.shape.rank)]
            result = tf.pad(result, first, constant_values=number(start, x.dtype))
        return result

    return call


cumulative_sum = _running(tf.cumsum, 0)


_all_products = _running(_product, 1)


def cumulative_prod(x, axis=None, *, dtype=None, include_initial=False):
    """TensorFlow's gradient is wrong where an element is 0."""
    return _all_products(x, axis, dtype=dtype, include_initial=include_initial)


def logcumsumexp(x, axis=None):
    """TensorFlow ignores NaN, and gives it beside infinities."""
    axis = axis or 0
    missing, infinite = (tf.cumsum(tf.cast(v, tf.int32), axis) > 0 for v in (tf.math.is_nan(x), x == math.inf))
    result = tf.where(infinite, number(math.inf, x.dtype), tf.math.cumulative_logsumexp(x, axis))
    return tf.where(missing, number(math.nan, x.dtype), result)
