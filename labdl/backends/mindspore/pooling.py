"""MindSpore implementations of pooling, on its fastest CPU kernels."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false

import math
from functools import lru_cache

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.convolution import pad_spatial, windows
from labdl.backends.mindspore.dtypes import FRACTIONS, HALF, as_tensor, float64, through
from labdl.backends.mindspore.indexing import refuse_positions
from labdl.backends.mindspore.kernel_operands import either_format, hashable
from labdl.spec import pad_pairs, per_axis, window_sizes

_expand = P.ExpandDims()


@lru_cache(None)
def _plan(sizes, kernel_size, stride, padding, dilation, ceil_mode):
    """Window, stride, dilation, (before, after) padding, its part that only completes the last window, sizes."""
    rank = len(sizes)
    window, dilation = per_axis(kernel_size, rank, "kernel_size"), per_axis(dilation, rank, "dilation")
    stride = window if stride is None else per_axis(stride, rank, "stride")
    pairs = pad_pairs(padding, sizes, window, stride, dilation)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, window, strict=True)]
    if padding != "same" and any(max(pair) > r // 2 for pair, r in zip(pairs, reach, strict=True)):
        raise ValueError(f"padding of a pooling window may be at most half of it, received {padding!r}")
    out = window_sizes(sizes, window, stride, padding, dilation, ceil_mode)
    over = tuple(
        max(0, (o - 1) * s + r - n - b - a) for o, s, r, n, (b, a) in zip(out, stride, reach, sizes, pairs, strict=True)
    )
    return window, stride, dilation, pairs, over, out


@lru_cache(None)
def _kernel(kind: str, window, stride):
    """MaxPool and AvgPool support "same" and "valid" padding only; other padding is explicit."""
    if len(window) == 3:
        return {"max": P.MaxPool3D, "avg": P.AvgPool3D}[kind](window, stride, "valid")
    # the gradient of the MaxPool primitive takes 33 ms where that of ops.max_pool2d takes 445
    return {"max": P.MaxPool, "avg": P.AvgPool}[kind](window, stride, "valid")


@lru_cache(None)
def _share(sizes, window, stride, pairs, over, inside, name):
    """The factor of each mean if a part of the padding does not count."""
    size = tuple(n + b + a + e for n, (b, a), e in zip(sizes, pairs, over, strict=True))
    counted = np.zeros(size)
    ends = [(b, b + n) if inside else (0, n + b + a) for n, (b, a) in zip(sizes, pairs, strict=True)]
    counted[tuple(slice(*e) for e in ends)] = 1
    view = np.lib.stride_tricks.sliding_window_view(counted, window)[tuple(slice(None, None, s) for s in stride)]
    return as_tensor(1 / view.mean(tuple(range(-len(window), 0))), name)


@lru_cache(64)
def _spread(count: int, k: int, stride: int, dilation: int):
    """The positions of the elements of each window of an axis, one window after the other."""
    return Tensor((np.arange(count)[:, None] * stride + np.arange(k) * dilation).reshape(-1))


def _run(kind, x, window, stride):
    if len(window) == 1:
        return _kernel(kind, (1, *window), (1, *stride))(_expand(x, 2)).squeeze(2)
    return _kernel(kind, window, stride)(x)


def _largest_in_windows(x, window, stride, out):
    """The first largest element: the kernels compare float64 with the least float32, and ignore NaN."""
    spread = windows(x, window, stride, (1,) * len(window), out)
    at = ops.expand_dims(_first_largest(ops.stop_gradient(spread)), 2)
    y = _gather_along(spread, 2, at).reshape(*x.shape[:2], *out)
    missing = _any_of(ops.not_equal(spread, spread), 2).reshape(y.shape)
    return ops.where(missing, as_tensor(math.nan, x.dtype), y)


_first_largest, _gather_along, _any_of = P.Argmax(2), P.GatherD(), P.ReduceAny()


def _run_max(x, window, stride):
    """The kernels give the least number for a window of -infinity, and ignore NaN."""
    y = _run("max", x, window, stride)
    least = as_tensor(np.finfo(mindspore.dtype_to_nptype(x.dtype)).min, x.dtype)
    return ops.where(ops.equal(y, least), as_tensor(-math.inf, x.dtype), y)


def _pool(kind: str, rank: int):
    @either_format(rank)
    def pool(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False, count_include_pad=True):
        settings = hashable((kernel_size, stride, padding, dilation))
        sizes = x.shape[2:]
        window, stride, dilation, pairs, over, out = _plan(sizes, *settings, ceil_mode)
        if not x.size:
            return ops.zeros((*x.shape[:2], *out), x.dtype)
        full = tuple((b, a + e) for (b, a), e in zip(pairs, over, strict=True))
        x = pad_spatial(x, full, -float("inf") if kind == "max" else 0.0)
        if max(dilation) > 1:  # not supported by the kernels: unfold the windows
            for axis, (o, k, s, d) in enumerate(zip(out, window, stride, dilation, strict=True), 2):
                x = ops.gather(x, _spread(o, k, s, d), axis)
            stride = window
        if kind == "avg" and x.dtype is float64:  # the kernels compute in float32, or have no gradient
            y = ops.mean(windows(x, window, stride, dilation, out), 2).reshape(*x.shape[:2], *out)
        elif kind == "max" and x.dtype is float64:
            y = _largest_in_windows(x, window, stride, out)
        else:
            y = _run_max(x, window, stride) if kind == "max" else _run(kind, x, window, stride)
        inside = padding == "same" or not count_include_pad
        if kind == "avg" and (any(over) or (inside and any(map(any, pairs)))):
            y = y * _share(sizes, window, stride, pairs, over, inside, x.dtype)
        return y

    return through(pool, FRACTIONS, HALF)


def _max_pool(rank: int):
    run = _pool("max", rank)

    def max_pool(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False, data_format="channels_first"):
        return run(
            x,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            data_format=data_format,
        )

    return max_pool


def _avg_pool(rank: int):
    run = _pool("avg", rank)

    def avg_pool(
        x, kernel_size, *, stride=None, padding=0, ceil_mode=False, count_include_pad=True, data_format="channels_first"
    ):
        return run(
            x,
            kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            data_format=data_format,
        )

    return avg_pool


max_pool1d, max_pool2d, max_pool3d = map(_max_pool, (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = map(_avg_pool, (1, 2, 3))

_scatter = P.ScatterNd()


def _max_unpool(rank: int):
    def unpool(x, indices, kernel_size, stride, padding, size):
        if x.ndim != rank + 2 or indices.shape != x.shape:
            raise ValueError(f"one index for each element of {x.shape} expected, received {indices.shape}")
        sizes = _unpool(x.shape[2:], *hashable((kernel_size, stride, padding, size)))
        channels, area = x.shape[0] * x.shape[1], math.prod(sizes)
        if not x.size:
            return ops.zeros((*x.shape[:2], *sizes), x.dtype)
        refuse_positions("max_unpool", indices, 0, area)
        starts = Tensor(np.arange(channels)[:, None] * area)
        places = indices.astype(mindspore.int64).reshape(channels, -1) + starts
        y = _scatter(places.reshape(-1, 1), x.reshape(-1), (channels * area,))
        return y.reshape(*x.shape[:2], *sizes)

    run = through(unpool, FRACTIONS, HALF)

    def max_unpool(x, indices, kernel_size, *, stride=None, padding=0, size=None):
        return run(x, indices, kernel_size, stride, padding, size)

    return max_unpool


@lru_cache(None)
def _unpool(sizes, kernel_size, stride, padding, size):
    rank = len(sizes)
    if size is not None:
        return per_axis(size, rank, "size")
    window, pads = per_axis(kernel_size, rank, "kernel_size"), per_axis(padding, rank, "padding", 0)
    stride = window if stride is None else per_axis(stride, rank, "stride")
    return tuple((n - 1) * s - 2 * p + k for n, k, s, p in zip(sizes, window, stride, pads, strict=True))


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))
