"""Convolution, pooling and batch normalisation: TensorFlow's kernels behind PyTorch's meaning."""

import functools

import tensorflow as tf

from labdl.backends.tensorflow.layout import channels_first, channels_last
from labdl.spec import pad_pairs, per_axis, window_sizes

_CONV = {2: tf.nn.conv2d, 3: tf.nn.conv3d}
_MAX_POOL = {2: tf.nn.max_pool2d, 3: tf.nn.max_pool3d}
_AVG_POOL = {2: tf.nn.avg_pool2d, 3: tf.nn.avg_pool3d}


def _planar(x, rank):
    """One spatial axis as two, the first of size 1: the kernels for two know explicit padding and oneDNN."""
    return tf.expand_dims(x, 1) if rank == 1 else x


def _as_planar(rank, *values):
    return [(1, *v) for v in values] if rank == 1 else values


def _spatial(rank, compute):
    """``compute`` on (N, ..., C) with at least two spatial axes, whatever the logical layout."""

    def call(x, *args, data_format="channels_first", **kwargs):
        first = data_format == "channels_first"
        x = channels_last(x) if first else x
        y = compute(_planar(x, rank), *args, **kwargs)
        y = tf.squeeze(y, 1) if rank == 1 else y
        return channels_first(y) if first else y

    return call


def _padded(x, pairs, rank, value=0.0):
    """The input with its border, and the kernels' word for what is left; their own explicit padding is slower."""
    if pairs == "same":
        return x, "SAME"
    if [p for p in pairs if p != (0, 0)]:
        x = tf.pad(x, [(0, 0), *((0, 0),) * (rank == 1), *pairs, (0, 0)], constant_values=value)
    return x, "VALID"


def _conv(rank):
    def compute(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
        window = kernel.shape[2:]
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        pairs = padding
        if padding != "same":
            pairs = pad_pairs(padding, (None,) * rank, window, strides, dilations)
            if all(s == 1 and b == a and b + a == d * (k - 1)
                   for s, d, k, (b, a) in zip(strides, dilations, window, pairs, strict=True)):  # fmt: skip
                pairs = "same"
        kernel = tf.transpose(kernel, (*range(2, 2 + rank), 1, 0))
        kernel = tf.expand_dims(kernel, 0) if rank == 1 else kernel
        strides, dilations = _as_planar(rank, strides, dilations)
        y = _convolve(*_padded(x, pairs, rank), kernel, strides, dilations, groups)
        return y if bias is None else tf.nn.bias_add(y, bias)

    return _spatial(rank, compute)


def _convolve(x, border, kernel, strides, dilations, groups):
    rank = len(strides)
    if groups > 1 and (rank == 3 or not _grouped_gradients()):
        parts = zip(tf.split(x, groups, -1), tf.split(kernel, groups, -1), strict=True)
        return tf.concat([_convolve(a, border, k, strides, dilations, 1) for a, k in parts], -1)
    if [d for d in dilations if d > 1] and not _dilated_gradients():
        if border == "SAME":
            pairs = pad_pairs("same", x.shape[1:-1], kernel.shape[:rank], strides, dilations)
            x = tf.pad(x, [(0, 0), *pairs, (0, 0)])
        y = tf.nn.convolution(x, kernel, 1, "VALID", dilations=list(dilations))  # by space_to_batch: stride 1 only
        return y[(slice(None), *(slice(None, None, s) for s in strides))]
    return _CONV[rank](x, kernel, [1, *strides, 1], border, dilations=[1, *dilations, 1])


@functools.cache
def _grouped_gradients() -> bool:
    return _has_gradient((1, 3, 3, 2), (1, 1, 1, 2), 1)


@functools.cache
def _dilated_gradients() -> bool:
    return _has_gradient((1, 3, 3, 1), (2, 2, 1, 1), 2)


def _has_gradient(shape, kernel, dilation) -> bool:
    """Gradients of grouped and dilated convolutions: on CPUs by oneDNN only, which not every build has."""
    with tf.init_scope():
        x, weights = tf.zeros(shape), tf.zeros(kernel)
        y = tf.nn.conv2d(x, weights, 1, "VALID", dilations=dilation)
        try:
            tf.raw_ops.Conv2DBackpropInput(
                input_sizes=shape, filter=weights, out_backprop=y, strides=(1, 1, 1, 1), padding="VALID",
                dilations=(1, dilation, dilation, 1))  # fmt: skip
        except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError):
            return False
    return True


conv1d, conv2d, conv3d = map(_conv, (1, 2, 3))


def _pool(rank, pool):
    def compute(x, kernel_size, *, stride=None, padding=0, ceil_mode=False):
        sizes = x.shape[2 if rank == 1 else 1 : -1]
        window = per_axis(kernel_size, rank, "kernel_size")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        pairs, over = padding, (0,) * rank
        if padding != "same":
            pairs = pad_pairs(padding, sizes, window, strides, (1,) * rank)
            if ceil_mode:
                over = _overhang(sizes, window, strides, padding, pairs)
        flat_window, flat_strides = _as_planar(rank, window, strides)
        return pool(x, flat_window, flat_strides, pairs, over, rank)

    return _spatial(rank, compute)


def _overhang(sizes, window, strides, padding, pairs):
    """How far the last window of ``ceil_mode`` reaches beyond the padded input."""
    if None in sizes:
        raise ValueError(f"pooling with ceil_mode=True wants known spatial sizes, received {tuple(sizes)}")
    counts = window_sizes(sizes, window, strides, padding, (1,) * len(window), True)
    return [max(0, (o - 1) * s + k - n - b - a)
            for o, s, k, n, (b, a) in zip(counts, strides, window, sizes, pairs, strict=True)]  # fmt: skip


def _widened(pairs, over):
    return pairs if pairs == "same" else tuple((b, a + o) for (b, a), o in zip(pairs, over, strict=True))


def _largest(x, window, strides, pairs, over, rank):
    x, border = _padded(x, _widened(pairs, over), rank, x.dtype.min)
    return _MAX_POOL[len(window)](x, window, strides, border)


def _average(x, window, strides, pairs, over, rank):
    pool = _AVG_POOL[len(window)]
    x, border = _padded(x, _widened(pairs, over), rank)
    y = pool(x, window, strides, border)  # "SAME" leaves its border out of the mean
    if any(over):  # and so must be what hangs over, while explicit padding counts
        hang = ((0, 0),) * (rank == 1) + tuple((0, o) for o in over)
        sizes = [n - o for n, (_, o) in zip(x.shape[1:-1], hang, strict=True)]
        y = y / pool(tf.pad(tf.ones((1, *sizes, 1), x.dtype), [(0, 0), *hang, (0, 0)]), window, strides, "VALID")
    return y


max_pool1d, max_pool2d, max_pool3d = (_pool(rank, _largest) for rank in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_pool(rank, _average) for rank in (1, 2, 3))


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    rank = x.shape.rank
    axis %= rank
    if axis == 1 and rank > 2:
        return channels_first(_batch_norm(channels_last(x), scale, offset, mean, variance, training, momentum, epsilon))
    if axis != rank - 1:
        order = [a for a in range(rank) if a != axis]
        y = _batch_norm(tf.transpose(x, [*order, axis]), scale, offset, mean, variance, training, momentum, epsilon)
        return tf.transpose(y, [*range(axis), rank - 1, *range(axis, rank - 1)])
    return _batch_norm(x, scale, offset, mean, variance, training, momentum, epsilon)


def _batch_norm(x, scale, offset, mean, variance, training, momentum, epsilon):
    """Channels on the last axis, by the fused kernel, which knows four axes and already gives the unbiased variance."""
    if x.dtype == tf.float64:
        return _batch_norm_wide(x, scale, offset, mean, variance, training, momentum, epsilon)
    fused = x if x.shape.rank == 4 else tf.reshape(x, (-1, 1, 1, scale.shape[0]))
    y, new_mean, new_variance, *_ = tf.raw_ops.FusedBatchNormV3(
        x=fused, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=epsilon, data_format="NHWC",
        exponential_avg_factor=momentum, is_training=training)  # fmt: skip
    if training and isinstance(mean, tf.Variable):
        mean.assign(new_mean)
        variance.assign(new_variance)
    return y if fused is x else tf.reshape(y, tf.shape(x))


def _batch_norm_wide(x, scale, offset, mean, variance, training, momentum, epsilon):
    """In float64, for which TensorFlow has no fused kernel."""
    m, v = mean, variance
    if training:
        m, v = tf.nn.moments(x, list(range(x.shape.rank - 1)))
        if isinstance(mean, tf.Variable):
            count = tf.cast(tf.size(x) // scale.shape[0], x.dtype)
            mean.assign_add(momentum * (m - mean))
            variance.assign_add(momentum * (v * count / tf.maximum(count - 1, 1) - variance))
    return tf.nn.batch_normalization(x, m, v, offset, scale, epsilon)
