"""Pooling and its inverse: TensorFlow's kernels behind PyTorch's meaning."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportArgumentType=false, reportGeneralTypeIssues=false, reportOptionalCall=false

import itertools
import math

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import sizes
from labdl.backends.tensorflow.spatial import as_planar, padded, spatial
from labdl.spec import pad_pairs, per_axis, window_sizes


def _flat_first(pool):
    """Three axes by a kernel for two, which knows more dtypes: the last two, then the first."""

    def call(x, window, strides, border):
        count, depth, *plane, channels = sizes(x)
        y = pool(tf.reshape(x, [-1, *plane, channels]), window[1:], strides[1:], border)
        height, width = sizes(y)[1:3]
        y = tf.reshape(y, [-1, depth, height * width, channels])
        y = pool(y, (window[0], 1), (strides[0], 1), border)
        return tf.reshape(y, [count, sizes(y)[1], height, width, channels])

    return call


def _kernel(rank, narrow, wide):
    """The pool of a dtype."""
    if rank < 3:
        return lambda dtype: narrow
    others = dict.fromkeys((tf.float16, tf.float64), _flat_first(narrow))
    return lambda dtype: others.get(dtype, wide)


# the kernel for three axes gives each of several largest elements the whole gradient, in four times the time
_MAX_POOL = {2: tf.nn.max_pool2d, 3: _flat_first(tf.nn.max_pool2d)}
_AVG_POOL = {rank: _kernel(rank, tf.nn.avg_pool2d, tf.nn.avg_pool3d) for rank in (2, 3)}


def _pool(rank, pool):
    def compute(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False, **options):
        inner = x.shape[2 if rank == 1 else 1 : -1]
        window, dilations = per_axis(kernel_size, rank, "kernel_size"), per_axis(dilation, rank, "dilation")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        pairs, over = padding, (0,) * rank
        if padding != "same" or max(dilations) > 1:
            pairs = pad_pairs(padding, inner, window, strides, dilations)
            if ceil_mode and padding != "same":
                over = _ceil_excess(inner, window, strides, dilations, padding, pairs)
        window, strides, dilations = as_planar(rank, window, strides, dilations)
        if rank == 1:
            over, pairs = (0, *over), pairs if pairs == "same" else ((0, 0), *pairs)
        return pool(x, window, strides, dilations, pairs, over, **options)

    return spatial(rank, compute)


def _ceil_excess(inner, window, strides, dilations, padding, pairs):
    """How far the last window of ``ceil_mode`` reaches beyond the padded input."""
    if None in inner:
        raise ValueError(f"pooling with ceil_mode=True wants known spatial sizes, received {tuple(inner)}")
    counts = window_sizes(inner, window, strides, padding, dilations, True)
    return [
        max(0, (o - 1) * s + d * (k - 1) + 1 - n - b - a)
        for o, s, k, d, n, (b, a) in zip(counts, strides, window, dilations, inner, pairs, strict=True)
    ]


def _pad_window(pairs, over):
    return pairs if pairs == "same" else tuple((b, a + o) for (b, a), o in zip(pairs, over, strict=True))


def _largest(x, window, strides, dilations, pairs, over):
    """The kernels ignore NaN, and make the lowest number of a window of minus infinities."""
    rank, dtype = len(window), x.dtype
    x, border = padded(x, _pad_window(pairs, over), rank, -math.inf if max(dilations) > 1 else dtype.min)
    if max(dilations) > 1:
        return _dilated_pool(x, window, strides, dilations)
    return _MAX_POOL[rank](x, window, strides, border)


def _dilated_pool(x, window, strides, dilations):
    """By slices, one for each place in a window: TensorFlow's dilated pooling knows stride 1 only."""
    counts = [
        (n - d * (k - 1) - 1) // s + 1 for n, k, d, s in zip(sizes(x)[1:-1], window, dilations, strides, strict=True)
    ]
    result = None
    for at in itertools.product(*map(range, window)):
        places = (
            slice(a * d, a * d + (m - 1) * s + 1, s) for a, d, m, s in zip(at, dilations, counts, strides, strict=True)
        )
        part = x[(slice(None), *places)]
        result = part if result is None else tf.maximum(result, part)
    return result


def _average(x, window, strides, dilations, pairs, over, count_include_pad=True):
    rank = len(window)
    pool = _AVG_POOL[rank](x.dtype)
    inner = sizes(x)[1:-1]
    x, border = padded(x, _pad_window(pairs, over), rank)
    y = pool(x, window, strides, border)  # "SAME" leaves its border out of the mean
    left_out = pairs != "same" and not count_include_pad and [p for p in pairs if p != (0, 0)]
    if any(over) or left_out:  # and so must be what hangs over, and the border where it does not count
        counted = tf.ones([1, *inner, 1], x.dtype)
        counted = tf.pad(counted, [(0, 0), *pairs, (0, 0)], constant_values=0 if left_out else 1)
        counted = tf.pad(counted, [(0, 0), *((0, o) for o in over), (0, 0)])
        y = y / pool(counted, window, strides, border)
    return y


max_pool1d, max_pool2d, max_pool3d = (_pool(rank, _largest) for rank in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_pool(rank, _average) for rank in (1, 2, 3))


def _max_unpool(rank):
    def call(x, indices, kernel_size, *, stride=None, padding=0, size=None):
        """Not in TensorFlow."""
        count, channels, *inner = sizes(x)
        window, pads = per_axis(kernel_size, rank, "kernel_size"), per_axis(padding, rank, "padding", 0)
        strides = window if stride is None else per_axis(stride, rank, "stride")
        wanted = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(inner, strides, pads, window, strict=True)]
        wanted = wanted if size is None else list(per_axis(size, rank, "size"))
        area, planes = tf.cast(math.prod(wanted), tf.int64), tf.cast(count * channels, tf.int64)
        places = tf.reshape(tf.cast(indices, tf.int64), [planes, math.prod(inner)])
        places = tf.reshape(places + (tf.range(planes) * area)[:, None], (-1, 1))
        flat = tf.scatter_nd(places, tf.reshape(x, (-1,)), tf.reshape(planes * area, (1,)))
        return tf.reshape(flat, [count, channels, *wanted])

    return call


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))
