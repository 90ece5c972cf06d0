"""TensorFlow implementations of segment reductions."""

import math
from typing import Any

import tensorflow as tf

from labdl.backends.tensorflow.arrays import positions
from labdl.backends.tensorflow.dtypes import INTEGERS, number


def _rows(function):
    def call(x, segment_ids, segments):
        ids = positions(segment_ids, segments)
        # TensorFlow drops rows of negative segments, and refuses those beyond the last one
        return function(x, tf.where(ids < 0, tf.cast(segments, tf.int64), ids), segments)

    return call


def product_of_segments(x, segment_ids, segments) -> Any:
    """TensorFlow's gradient of complex products does not conjugate the other factors."""
    return (_complex_product if x.dtype.is_complex else tf.math.unsorted_segment_prod)(x, segment_ids, segments)


@tf.custom_gradient
def _complex_product(x, segment_ids, segments):
    def pull(gradient):
        with tf.GradientTape() as tape:
            tape.watch(x)
            product = tf.math.unsorted_segment_prod(x, segment_ids, segments)
        return tf.math.conj(tape.gradient(product, x, tf.math.conj(gradient))), None, None

    return tf.math.unsorted_segment_prod(x, segment_ids, segments), pull


segment_sum, segment_prod = map(_rows, (tf.math.unsorted_segment_sum, product_of_segments))


def _row_counts(x, segment_ids, segments):
    """The number of rows of each segment, along the first axis."""
    counts = tf.math.unsorted_segment_sum(tf.ones_like(segment_ids), segment_ids, segments)
    return tf.reshape(counts, (-1, *(1,) * (x.shape.rank - 1)))


@_rows
def segment_mean(x, segment_ids, segments):
    x = tf.cast(x, tf.float32) if x.dtype in INTEGERS else x
    count = tf.maximum(_row_counts(x, segment_ids, segments), 1)
    return tf.math.unsorted_segment_sum(x, segment_ids, segments) / tf.cast(count, x.dtype)


def _segment_extreme(function, empty):
    @_rows
    def call(x, segment_ids, segments):
        """TensorFlow ignores NaN, and returns finite values for segments that are empty, or of infinities alone."""
        result = function(x, segment_ids, segments)
        if not x.dtype.is_floating:
            return result
        unlike = tf.cast(tf.not_equal(x, number(empty, x.dtype)), tf.int32)
        alike = tf.equal(tf.math.unsorted_segment_sum(unlike, segment_ids, segments), 0)
        result = tf.where(alike, number(empty, x.dtype), result)
        missing = tf.math.unsorted_segment_sum(tf.cast(tf.math.is_nan(x), tf.int32), segment_ids, segments)
        return tf.where(missing > 0, number(math.nan, x.dtype), result)

    return call


segment_max = _segment_extreme(tf.math.unsorted_segment_max, -math.inf)
segment_min = _segment_extreme(tf.math.unsorted_segment_min, math.inf)
