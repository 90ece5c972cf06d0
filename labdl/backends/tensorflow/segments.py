"""TensorFlow implementations of segment reductions."""

import math

import tensorflow as tf

from labdl.backends.tensorflow.arrays import positions
from labdl.backends.tensorflow.dtypes import INTEGERS, number


def _rows(function):
    def call(x, segment_ids, segments):
        return function(x, positions(segment_ids, segments), segments)

    return call


segment_sum, segment_prod = map(_rows, (tf.math.unsorted_segment_sum, tf.math.unsorted_segment_prod))


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
        """TensorFlow ignores NaN, and returns finite values for empty segments."""
        result = function(x, segment_ids, segments)
        if not x.dtype.is_floating:
            return result
        result = tf.where(tf.equal(_row_counts(x, segment_ids, segments), 0), number(empty, x.dtype), result)
        missing = tf.math.unsorted_segment_sum(tf.cast(tf.math.is_nan(x), tf.int32), segment_ids, segments)
        return tf.where(missing > 0, number(math.nan, x.dtype), result)

    return call


segment_max = _segment_extreme(tf.math.unsorted_segment_max, -math.inf)
segment_min = _segment_extreme(tf.math.unsorted_segment_min, math.inf)
