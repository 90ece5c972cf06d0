"""Neural operators: convolution, pooling, normalisation, dropout, embedding, attention, recurrence (PyTorch's semantics)."""

import math
from typing import Any

import numpy as np

from labdl.ops import rules
from labdl.ops.activation import sigmoid, softmax
from labdl.ops.array import permute, split, stack, zeros_like
from labdl.ops.linalg import matmul
from labdl.ops.math import rsqrt, square, tanh, where
from labdl.ops.operator import case, floats, ints, operator
from labdl.ops.reduction import mean
from labdl.spec import pad_pairs, per_axis


@operator(rules.linear, case(floats(2, 3), floats(3, 4), floats(4)), case(floats(2, 5, 3), floats(3, 4)))
def linear(x, kernel, bias=None):
    """x @ kernel + bias over the last axis; kernel (in, out), bias (out,)."""
    y = np.matmul(x, kernel)
    return y if bias is None else y + bias


def _windows(x, window, stride, dilation):
    """View (N, C, out..., window...) of a channels-first array that is padded already."""
    rank = len(window)
    reach = [d * (k - 1) + 1 for k, d in zip(window, dilation, strict=True)]
    axes: Any = tuple(range(2, 2 + rank))
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    steps = (slice(None), slice(None), *(slice(None, None, s) for s in stride))
    return view[(*steps, *(slice(None, None, d) for d in dilation))]


def _conv(rank: int, name: str, samples):
    def conv(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        if data_format == "channels_last":
            x = np.moveaxis(x, -1, 1)
        window = kernel.shape[2:]
        stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        pairs = pad_pairs(padding, x.shape[2:], window, stride, dilation)
        view = _windows(np.pad(x, ((0, 0), (0, 0), *pairs)), window, stride, dilation)
        out = kernel.shape[0] // groups
        parts = []
        for g, part in enumerate(np.split(view, groups, axis=1)):
            axes = [1, *range(2 + rank, 2 + 2 * rank)]
            parts.append(np.tensordot(part, kernel[g * out : (g + 1) * out], (axes, [1, *range(2, 2 + rank)])))
        y = np.concatenate(parts, axis=-1)
        if bias is not None:
            y = y + bias
        return y if data_format == "channels_last" else np.moveaxis(y, -1, 1)

    axes = ("L", "H, W", "D, H, W")[rank - 1]
    conv.__name__ = conv.__qualname__ = name
    conv.__doc__ = f"""{rank}-d convolution (cross-correlation) of x (N, C, {axes}) with kernel (out, in / groups, {axes}).

    ``padding`` is "same", "valid", an integer, one integer an axis, or a pair (before, after) an axis.
    ``data_format="channels_last"`` takes and gives (N, {axes}, C). Semantics: torch.nn.functional.{name}."""
    return operator(rules.conv(rank), *samples)(conv)


conv1d = _conv(1, "conv1d", [
    case(floats(2, 3, 8), floats(4, 3, 3), floats(4), stride=2, padding=1),
    case(floats(2, 8, 4), floats(4, 2, 3), dilation=2, groups=2, data_format="channels_last"),
])  # fmt: skip
conv2d = _conv(2, "conv2d", [
    case(floats(2, 3, 6, 7), floats(4, 3, 3, 3), floats(4), padding="same"),
    case(floats(2, 3, 6, 7), floats(4, 3, 3, 2), stride=2, padding="same"),
    case(floats(2, 4, 6, 7), floats(4, 1, 3, 3), groups=4, padding=((1, 0), (2, 1))),
    case(floats(2, 6, 7, 4), floats(6, 2, 3, 3), floats(6), groups=2, dilation=2, padding=2, data_format="channels_last"),
    case(floats(1, 3, 9, 9), floats(2, 3, 3, 3), stride=(2, 3), padding=(1, 0)),
])  # fmt: skip
conv3d = _conv(3, "conv3d", [
    case(floats(2, 3, 4, 5, 4), floats(4, 3, 2, 3, 2), floats(4), padding="same"),
    case(floats(1, 4, 5, 4, 2), floats(2, 2, 3, 3, 2), stride=2, padding=1, data_format="channels_last"),
])  # fmt: skip


def _pool(rank: int, kind: str, samples):
    name = f"{kind}_pool{rank}d"
    largest = kind == "max"

    def pool(x, kernel_size, *, stride=None, padding=0, ceil_mode=False, data_format="channels_first"):
        if data_format == "channels_last":
            x = np.moveaxis(x, -1, 1)
        window = per_axis(kernel_size, rank, "kernel_size")
        stride = window if stride is None else per_axis(stride, rank, "stride")
        pairs = pad_pairs(padding, x.shape[2:], window, stride, (1,) * rank)
        sizes: Any = rules.window_sizes(x.shape[2:], window, stride, padding, (1,) * rank, ceil_mode)
        # ceil_mode lets the last window hang over: fill what it misses
        over = [max(0, (o - 1) * s + k - n - b - a)
                for o, s, k, n, (b, a) in zip(sizes, stride, window, x.shape[2:], pairs, strict=True)]  # fmt: skip
        full = ((0, 0), (0, 0), *((b, a + e) for (b, a), e in zip(pairs, over, strict=True)))
        inner = tuple(range(-rank, 0))
        if largest:
            y = _windows(np.pad(x, full, constant_values=-np.inf), window, stride, (1,) * rank).max(inner)
        else:
            total = _windows(np.pad(x, full), window, stride, (1,) * rank).sum(inner)
            # the border of padding="same" does not count (TensorFlow), explicit padding does (PyTorch)
            counted = np.pad(np.ones((1, 1, *x.shape[2:])), ((0, 0), (0, 0), *pairs),
                             constant_values=0.0 if padding == "same" else 1.0)  # fmt: skip
            counted = np.pad(counted, ((0, 0), (0, 0), *((0, e) for e in over)))
            y = total / _windows(counted, window, stride, (1,) * rank).sum(inner)
        y = y.astype(x.dtype)
        return np.moveaxis(y, 1, -1) if data_format == "channels_last" else y

    pool.__name__ = pool.__qualname__ = name
    what = "Largest element" if largest else "Mean"
    pool.__doc__ = f"""{what} of each window over the {rank} spatial axes of x (N, C, ...).

    ``stride`` is the window's size when left out; ``padding`` as in `conv{rank}d`, at most half a window.
    {"Padding counts as minus infinity." if largest else 'Explicit padding counts as zeros, "same" padding does not count.'}
    Semantics: torch.nn.functional.{name}."""
    return operator(rules.pool(rank, f"{kind}_pool"), *samples)(pool)


max_pool1d = _pool(1, "max", [case(floats(2, 3, 8), 2), case(floats(2, 3, 7), 3, stride=2, padding=1)])
max_pool2d = _pool(2, "max", [
    case(floats(2, 3, 6, 8), 2),
    case(floats(2, 3, 7, 7), 3, stride=2, padding=1),
    case(floats(2, 7, 6, 3), (3, 2), stride=2, padding="same", data_format="channels_last"),
    case(floats(1, 2, 6, 6), 3, stride=2, ceil_mode=True),
])  # fmt: skip
max_pool3d = _pool(3, "max", [case(floats(1, 2, 4, 4, 6), 2)])
avg_pool1d = _pool(1, "avg", [case(floats(2, 3, 8), 2)])
avg_pool2d = _pool(2, "avg", [
    case(floats(2, 3, 6, 8), 2),
    case(floats(2, 3, 7, 7), 3, stride=2, padding=1),
    case(floats(2, 7, 7, 3), 3, stride=2, padding="same", data_format="channels_last"),
])  # fmt: skip
avg_pool3d = _pool(3, "avg", [case(floats(1, 2, 4, 4, 6), 2)])


@operator(rules.batch_norm,
          case(floats(6, 3), floats(3), floats(3), floats(3), floats(3, low=0.5)),
          case(floats(4, 3, 5), floats(3), floats(3), floats(3), floats(3, low=0.5), training=True),
          case(floats(4, 5, 2, 3), floats(3), floats(3), floats(3), floats(3, low=0.5), training=True, axis=-1),
          case(floats(4, 3, 5, 2), floats(3), floats(3), floats(3), floats(3, low=0.5), training=False))  # fmt: skip
def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    """Batch normalisation over all axes but ``axis`` (Ioffe & Szegedy, 2015).

    In training the batch's own statistics normalise, and ``mean`` and ``variance`` (variables of the backend) move
    towards them in place by ``momentum``, the variance with the unbiased estimate. Semantics: torch.nn.functional.batch_norm.
    """
    axes = tuple(a for a in range(x.ndim) if a != axis % x.ndim)
    wide = tuple(-1 if a == axis % x.ndim else 1 for a in range(x.ndim))
    m, v = mean, variance
    if training:
        m, v = np.mean(x, axis=axes), np.var(x, axis=axes)
        count = x.size // x.shape[axis]
        mean += momentum * (m - mean)
        variance += momentum * (v * count / max(count - 1, 1) - variance)
    factor = scale / np.sqrt(v + epsilon)
    return x * factor.reshape(wide) + (offset - m * factor).reshape(wide)


@operator(None, case(floats(2, 3, 4), floats(4), floats(4)), case(floats(2, 3, 4), floats(3, 4), floats(3, 4)))
def layer_norm(x, scale, offset, epsilon=1e-5):
    """Normalisation over the last axes, as many as ``scale`` has (Ba et al., 2016)."""
    axes = tuple(range(-len(scale.shape), 0))
    centred = x - mean(x, axis=axes, keepdims=True)
    return centred * rsqrt(mean(square(centred), axis=axes, keepdims=True) + epsilon) * scale + offset


@operator(None, case(floats(2, 3, 4), floats(4)))
def rms_norm(x, scale, epsilon=1e-6):
    """x divided by its root mean square over the last axis, times scale (Zhang & Sennrich, 2019)."""
    return x * rsqrt(mean(square(x), axis=-1, keepdims=True) + epsilon) * scale


@operator(rules.elementwise, case(floats(2, 3), 0.5), case(floats(2, 3), 0.0, training=True))
def dropout(x, rate, training=False):
    """In training, zero for a random share ``rate`` of the elements and x / (1 - rate) for the rest; else x."""
    if not training or rate == 0:
        return x
    return np.where(np.random.random_sample(np.shape(x)) >= rate, x / (1 - rate), np.zeros_like(x))


@operator(rules.embedding, case(ints(2, 3), floats(5, 4)))
def embedding(indices, table):
    """Rows of the table (size, features) at the given positions."""
    return np.take(table, indices, axis=0)


@operator(rules.elementwise, case(floats(2, 3, 4)), differentiable=False)
def causal_mask(scores, /):
    """Attention scores (..., queries, keys) with minus infinity where the key comes after the query."""
    return np.where(np.tril(np.ones(scores.shape[-2:], dtype="bool")), scores, -np.inf)


@operator(None, case(floats(2, 3, 4, 5), floats(2, 3, 6, 5), floats(2, 3, 6, 5)),
          case(floats(2, 4, 5), floats(2, 4, 5), floats(2, 4, 5), causal=True))  # fmt: skip
def scaled_dot_product_attention(query, key, value, mask=None, causal=False):
    """softmax(query · keyᵀ / sqrt(d)) · value over the last two axes (Vaswani et al., 2017).

    ``mask`` is true where attention is allowed and broadcasts to (..., queries, keys); ``causal`` allows keys up to the
    query's own position. Semantics: torch.nn.functional.scaled_dot_product_attention.
    """
    last = tuple(range(len(key.shape)))
    scores = matmul(query, permute(key, (*last[:-2], last[-1], last[-2]))) * (1 / math.sqrt(query.shape[-1]))
    if causal:
        scores = causal_mask(scores)
    if mask is not None:
        scores = where(mask, scores, -math.inf)
    return matmul(softmax(scores, axis=-1), value)


@operator(rules.lstm, case(floats(2, 4, 3), floats(3, 8), floats(2, 8), floats(8)),
          case(floats(2, 3, 3), floats(3, 8), floats(2, 8), floats(8), floats(2, 2), floats(2, 2)), composite=True)  # fmt: skip
def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None):
    """Long short-term memory over x (N, steps, in): (outputs (N, steps, H), last hidden (N, H), last cell (N, H)).

    kernel (in, 4H), recurrent_kernel (H, 4H) and bias (4H) hold the gates input, forget, candidate, output in this order,
    as in torch.nn.LSTM and Keras (Hochreiter & Schmidhuber, 1997). The initial states are zero when left out.
    """
    size = recurrent_kernel.shape[0]
    inputs = linear(x, kernel, bias)
    zeros = zeros_like(inputs[:, 0, :size])
    hidden, cell = zeros if hidden is None else hidden, zeros if cell is None else cell
    outputs = []
    for step in range(x.shape[1]):
        i, f, g, o = split(inputs[:, step] + matmul(hidden, recurrent_kernel), 4, axis=-1)
        cell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
        hidden = sigmoid(o) * tanh(cell)
        outputs.append(hidden)
    return stack(outputs, axis=1), hidden, cell
