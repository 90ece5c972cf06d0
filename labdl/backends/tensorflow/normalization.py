"""Normalization: TensorFlow's fused kernel for batches, and layers in few operations."""

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import HALVES, sizes
from labdl.backends.tensorflow.layout import channels_first, channels_last


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    """TensorFlow's fused kernel knows four axes with the channels last, and no float64."""
    rank = x.shape.rank
    axis %= rank
    settings = scale, offset, mean, variance, training, momentum, epsilon
    if axis == 1 and rank > 2:
        return channels_first(_batch_norm(channels_last(x), *settings))
    if axis != rank - 1:
        order = [a for a in range(rank) if a != axis]
        y = _batch_norm(tf.transpose(x, [*order, axis]), *settings)
        return tf.transpose(y, [*range(axis), rank - 1, *range(axis, rank - 1)])
    return _batch_norm(x, *settings)


def _batch_norm(x, scale, offset, mean, variance, training, momentum, epsilon):
    """Channels on the last axis, by the fused kernel, which knows four axes and already gives the unbiased variance.

    Its mean has three digits less than the elements: of their differences from the first one it is exact where they are
    equal, and as exact as their spread else. That takes a tenth of the time of the kernel.
    """
    if x.dtype == tf.float64:
        return _batch_norm_wide(x, scale, offset, mean, variance, training, momentum, epsilon)
    fused = x if x.shape.rank == 4 else tf.reshape(x, (-1, 1, 1, scale.shape[0]))
    numbers = scale, offset, mean, variance
    if x.dtype in HALVES:  # the kernel keeps its statistics in float32
        numbers = [tf.cast(v, tf.float32) for v in numbers]
    first = None
    if training:
        first = tf.stop_gradient(tf.reduce_sum(fused[:1, :1, :1], [0, 1, 2]))  # zeros for no samples
        fused, numbers = fused - first, [*numbers[:2], tf.zeros_like(numbers[2]), numbers[3]]
    y, new_mean, new_variance, *_ = tf.raw_ops.FusedBatchNormV3(
        x=fused,
        scale=numbers[0],
        offset=numbers[1],
        mean=numbers[2],
        variance=numbers[3],
        epsilon=epsilon,
        data_format="NHWC",
        exponential_avg_factor=momentum,
        is_training=training,
    )
    if training and isinstance(mean, tf.Variable):
        old, first = tf.cast(mean, new_mean.dtype), tf.cast(first, new_mean.dtype)  # type: ignore[arg-type]
        mean.assign(tf.cast(old + momentum * (first - old) + new_mean, mean.dtype))
        variance.assign(tf.cast(new_variance, variance.dtype))
    return y if x.shape.rank == 4 else tf.reshape(y, tf.shape(x))


def _batch_norm_wide(x, scale, offset, mean, variance, training, momentum, epsilon):
    """In float64, for which TensorFlow has no fused kernel."""
    scale, offset, *statistics = (tf.cast(v, x.dtype) for v in (scale, offset, mean, variance))
    m, v = statistics
    if training:
        m, v = tf.nn.moments(x, list(range(x.shape.rank - 1)))
        if isinstance(mean, tf.Variable):
            count = tf.cast(tf.size(x) // scale.shape[0], x.dtype)
            unbiased = v * count / tf.maximum(count - 1, 1)
            for running, old, new in zip((mean, variance), statistics, (m, unbiased), strict=True):
                running.assign_add(tf.cast(momentum * (new - old), running.dtype))
    return tf.nn.batch_normalization(x, m, v, offset, scale, epsilon)


def group_norm(x, groups, scale=None, offset=None, *, epsilon=1e-5, axis=1):
    """With the channels last nothing has to be moved; where they are not, the composite moves nothing either."""
    rank = x.shape.rank
    if rank < 3 or axis % rank != rank - 1:
        return NotImplemented
    shape = sizes(x)
    grouped = tf.reshape(x, [shape[0], -1, groups, shape[-1] // groups])
    centered = grouped - tf.reduce_mean(grouped, [1, 3], True)
    y = centered * tf.math.rsqrt(tf.reduce_mean(tf.square(centered), [1, 3], True) + epsilon)
    y = tf.reshape(y, shape)
    y = y if scale is None else y * scale
    return y if offset is None else y + offset


def layer_norm(x, scale, offset, epsilon=1e-5):
    axes = list(range(-scale.shape.rank, 0))
    centered = x - tf.reduce_mean(x, axes, True)
    return centered * tf.math.rsqrt(tf.reduce_mean(tf.square(centered), axes, True) + epsilon) * scale + offset
