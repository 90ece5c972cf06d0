"""MindSpore's spelling of linear layers, convolution, pooling, normalisation, dropout and losses, on its fastest CPU kernels.

Measured on CPU: the primitives of mindspore.ops.operations beat the functions of mindspore.ops around them, and most
kernels of mindspore.mint (Conv2DExt, BatchNormExt, LayerNormExt, LogSoftmaxExt, ...) do not exist there.
"""

from functools import lru_cache

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.spec import pad_pairs, per_axis, window_sizes

_add, _matmul, _batch_matmul, _transpose, _expand = P.Add(), P.MatMul(), P.BatchMatMul(), P.Transpose(), P.ExpandDims()
_float32 = mindspore.float32


def in_float32(function):
    """The kernels below know float32 only: other dtypes go through it and come back in that of the first tensor."""

    def call(x, *args, **options):
        kind = x.dtype
        if kind is _float32 or kind == _float32:  # the comparison alone takes 4 µs
            return function(x, *args, **options)
        args = [a.astype(_float32) if isinstance(a, Tensor) and a.dtype == kind else a for a in args]
        result = function(x.astype(_float32), *args, **options)
        return tuple(r.astype(kind) for r in result) if isinstance(result, tuple) else result.astype(kind)

    return call


def matmul(x, y):
    left, right = x.ndim, y.ndim
    if left == right == 2:
        return _matmul(x, y)
    if left == right > 2 and x.shape[:-2] == y.shape[:-2]:
        return _batch_matmul(x, y)
    return ops.matmul(x, y)


def linear(x, kernel, bias=None):
    if x.ndim == 2:
        y = _matmul(x, kernel)
    else:
        y = _matmul(x.reshape(-1, x.shape[-1]), kernel).reshape(*x.shape[:-1], kernel.shape[1])
    return y if bias is None else _add(y, bias)


@lru_cache(None)
def _moves(ndim: int, axis: int):
    """Orders of axes that bring the channels to axis 1, where the CPU kernels want them, and back."""
    rest = [a for a in range(ndim) if a != axis % ndim]
    forth = (rest[0], axis % ndim, *rest[1:])
    return forth, tuple(map(forth.index, range(ndim)))


def _spatial(rank: int):
    """Run a channels-first function of ``rank`` spatial axes on either format."""

    def wrap(function):
        def call(x, *args, data_format="channels_first", **options):
            if data_format == "channels_first":
                return function(x, *args, **options)
            forth, back = _moves(rank + 2, -1)
            return _transpose(function(_transpose(x, forth), *args, **options), back)

        return in_float32(call)

    return wrap


@lru_cache(None)
def _convolution(rank, channels, window, pairs, stride, dilation, groups):
    pads = tuple(n for pair in pairs for n in pair)
    if rank == 3:
        return P.Conv3D(channels, window, 1, "pad", pads, stride, dilation, groups), P.BiasAdd("NCDHW")
    return P.Conv2D(channels, window, 1, "pad", pads, stride, dilation, groups), P.BiasAdd()


def _conv(rank):
    @_spatial(rank)
    def call(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
        channels, _, *window = kernel.shape
        stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        pairs = pad_pairs(padding, x.shape[2:], window, stride, dilation)
        if rank == 1:
            run, shift = _convolution(2, channels, (1, *window), ((0, 0), *pairs), (1, *stride), (1, *dilation), groups)
            y = run(_expand(x, 2), _expand(kernel, 2))
            return (y if bias is None else shift(y, bias)).squeeze(2)
        run, shift = _convolution(rank, channels, tuple(window), pairs, stride, dilation, groups)
        y = run(x, kernel)
        return y if bias is None else shift(y, bias)

    return call


conv1d, conv2d, conv3d = map(_conv, (1, 2, 3))


@lru_cache(None)
def _window_plan(sizes, kernel_size, stride, padding, ceil_mode):
    """Window, stride, (before, after) padding and the part of it that only completes the last window."""
    rank = len(sizes)
    window = per_axis(kernel_size, rank, "kernel_size")
    strides = window if stride is None else per_axis(stride, rank, "stride")
    pairs = pad_pairs(padding, sizes, window, strides, (1,) * rank)
    out = window_sizes(sizes, window, strides, padding, (1,) * rank, ceil_mode)
    over = tuple(max(0, (o - 1) * s + k - n - b - a)
                 for o, s, k, n, (b, a) in zip(out, strides, window, sizes, pairs, strict=True))  # fmt: skip
    return window, strides, pairs, over


def _bordered(x, pairs, value):
    border = [n for pair in reversed(pairs) for n in pair]
    return ops.pad(x, border, value=value) if max(border) else x


@lru_cache(None)
def _pooling(kind: str, window, stride):
    """MaxPool and AvgPool know "same" and "valid" padding; the border is made by hand."""
    if len(window) == 3:
        return {"max": P.MaxPool3D, "avg": P.AvgPool3D}[kind](window, stride, "valid")
    # the gradient of the MaxPool primitive takes 33 ms where that of ops.max_pool2d takes 445
    return {"max": P.MaxPool, "avg": P.AvgPool}[kind](window, stride, "valid")


@lru_cache(None)
def _share(sizes, window, stride, pairs, over, same):
    """What each mean must be multiplied by where a part of the border does not count."""
    size = tuple(n + b + a + e for n, (b, a), e in zip(sizes, pairs, over, strict=True))
    counted = np.zeros(size, "float32")
    ends = [(b, b + n) if same else (0, n + b + a) for n, (b, a) in zip(sizes, pairs, strict=True)]
    counted[tuple(slice(*e) for e in ends)] = 1
    view = np.lib.stride_tricks.sliding_window_view(counted, window)[tuple(slice(None, None, s) for s in stride)]
    return Tensor((1 / view.mean(tuple(range(-len(window), 0)))).astype("float32"))


def _pool(kind: str, rank: int):
    @_spatial(rank)
    def call(x, kernel_size, *, stride=None, padding=0, ceil_mode=False):
        sizes = x.shape[2:]
        settings = _hashable((kernel_size, stride, padding))
        window, stride, pairs, over = _window_plan(sizes, *settings, ceil_mode)
        full = tuple((b, a + e) for (b, a), e in zip(pairs, over, strict=True))
        x = _bordered(x, full, -float("inf") if kind == "max" else 0.0)
        if rank == 1:
            y = _pooling(kind, (1, *window), (1, *stride))(_expand(x, 2)).squeeze(2)
        else:
            y = _pooling(kind, window, stride)(x)
        if kind == "avg" and (any(over) or (padding == "same" and any(map(any, pairs)))):
            y = y * _share(sizes, window, stride, pairs, over, padding == "same")
        return y

    return call


def _hashable(value):
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


max_pool1d, max_pool2d, max_pool3d = (_pool("max", rank) for rank in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_pool("avg", rank) for rank in (1, 2, 3))


@lru_cache(None)
def _batch_normalisation(training, epsilon, momentum):
    # in training the kernel moves mean and variance in place, the variance already with the unbiased estimate
    return P.BatchNorm(training, epsilon, momentum)


@in_float32
def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    run, shape = _batch_normalisation(training, epsilon, momentum), x.shape
    if axis not in (1, 1 - x.ndim):
        forth, back = _moves(x.ndim, axis)
        return _transpose(batch_norm(_transpose(x, forth), scale, offset, mean, variance, training=training,
                                     momentum=momentum, epsilon=epsilon), back)  # fmt: skip
    if x.ndim == 5:  # the kernel wants 2 to 4 axes
        x = x.reshape(shape[0], shape[1], shape[2], -1)
        return run(x, scale, offset, mean, variance)[0].reshape(shape)
    return run(x, scale, offset, mean, variance)[0]


@lru_cache(None)
def _layer_normalisation(first_axis, epsilon):
    return P.LayerNorm(first_axis, first_axis, epsilon)


@in_float32
def layer_norm(x, scale, offset, epsilon=1e-5):
    return _layer_normalisation(x.ndim - scale.ndim, epsilon)(x, scale, offset)[0]


@lru_cache(None)
def _softmax(axis):
    return P.Softmax(axis), P.LogSoftmax(axis)


def softmax(x, axis=-1):
    return _softmax(axis)[0](x)


def log_softmax(x, axis=-1):
    return _softmax(axis)[1](x)


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return ops.gelu(x, "tanh")
    return 0.5 * x * (1 + ops.erf(x * 0.7071067811865476))  # GeluExt has no CPU kernel


def dropout(x, rate, training=False):
    return ops.dropout(x, float(rate)) if training and rate else x


def embedding(indices, table):
    return ops.gather(table, indices, 0)


def causal_mask(scores):
    later = np.triu(np.ones(scores.shape[-2:], "bool"), 1)
    return ops.masked_fill(scores, Tensor(later), -float("inf"))


_sparse_cross_entropy = P.SparseSoftmaxCrossEntropyWithLogits()


@in_float32
def cross_entropy(logits, target, label_smoothing=0.0):
    # 4.5 ms with this kernel, 94 with ops.cross_entropy
    classes = logits.shape[-1]
    if logits.ndim != 2:
        logits, target = logits.reshape(-1, classes), target.reshape(-1)
    loss = _sparse_cross_entropy(logits, target)
    if label_smoothing:
        uniform = -ops.mean(log_softmax(logits))
        loss = loss * (1 - label_smoothing) + uniform * label_smoothing
    return loss


@lru_cache(None)
def _lstm(features, size):
    return P.LSTM(features, size, 1, True, False, 0.0)


@in_float32
def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None):
    batch, _, features = x.shape
    size = recurrent_kernel.shape[0]
    parts = [w.reshape(-1, 1, 1) for w in (kernel.T, recurrent_kernel.T, bias)]
    zeros = ops.zeros((1, batch, size), _float32) if hidden is None or cell is None else None
    hidden, cell = (zeros if state is None else _expand(state, 0) for state in (hidden, cell))
    y, hidden, cell, _, _ = _lstm(features, size)(_transpose(x, (1, 0, 2)), hidden, cell, ops.cat(parts))
    return _transpose(y, (1, 0, 2)), hidden.squeeze(0), cell.squeeze(0)
