"""Pooling over one to three spatial axes (PyTorch's semantics)."""

import math
from typing import Any

import numpy as np

from labdl.ops import rules
from labdl.ops.array.shape import expand_dims, pad, reshape, squeeze, take, take_along_axis
from labdl.ops.math.arithmetic import add, multiply, pow
from labdl.ops.math.comparison import equal, where
from labdl.ops.math.reduction import argmax
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.linear import tensor_like
from labdl.ops.neural.windows import adaptive, positions, sizes_of, table, windows
from labdl.ops.operator import case, floats, ints, operator
from labdl.spec import pad_pairs, per_axis, window_sizes


def _set_name(function, name: str, doc: str):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _plan(sizes, kernel_size, stride, padding, dilation, ceil_mode):
    """Window, stride, dilation, padding, and how far the last window of ``ceil_mode`` extends beyond the end."""
    rank = len(sizes)
    window, dilation = per_axis(kernel_size, rank, "kernel_size"), per_axis(dilation, rank, "dilation")
    stride = window if stride is None else per_axis(stride, rank, "stride")
    pairs = pad_pairs(padding, sizes, window, stride, dilation)
    out: Any = window_sizes(sizes, window, stride, padding, dilation, ceil_mode)
    over = [
        max(0, (o - 1) * s + d * (k - 1) + 1 - n - b - a)
        for o, s, d, k, n, (b, a) in zip(out, stride, dilation, window, sizes, pairs, strict=True)
    ]
    return window, stride, dilation, pairs, over


def _full(pairs, over):
    return ((0, 0), (0, 0), *((b, a + e) for (b, a), e in zip(pairs, over, strict=True)))


def _max_pool(rank: int, *samples):
    def max_pool(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False, data_format="channels_first"):
        if data_format == "channels_last":
            x = np.moveaxis(x, -1, 1)
        window, stride, dilation, pairs, over = _plan(x.shape[2:], kernel_size, stride, padding, dilation, ceil_mode)
        padded = np.pad(x, _full(pairs, over), constant_values=-np.inf)
        y = windows(padded, window, stride, dilation).max(tuple(range(-rank, 0)))
        return np.moveaxis(y, 1, -1) if data_format == "channels_last" else y

    name = f"max_pool{rank}d"
    return operator(rules.pool(rank, "max"), *samples)(
        _set_name(
            max_pool,
            name,
            f"""\
Largest element of each window over the {rank} spatial axes of x (N, C, ...).

    ``stride`` is the window's size when left out; ``padding`` as in `conv{rank}d`, at most half a window.
    Padding counts as minus infinity. Semantics: torch.nn.functional.{name}.""",
        )
    )


max_pool1d = _max_pool(
    1,
    case(floats(2, 3, 8), 2),
    case(floats(2, 3, 7), 3, stride=2, padding=1),
    case(floats(2, 3, 7), 2, dilation=3, stride=1),
)
max_pool2d = _max_pool(
    2,
    case(floats(2, 3, 6, 8), 2),
    case(floats(2, 3, 7, 7), 3, stride=2, padding=1),
    case(floats(2, 7, 6, 3), (3, 2), stride=2, padding="same", data_format="channels_last"),
    case(floats(1, 2, 6, 6), 3, stride=2, ceil_mode=True),
    case(floats(1, 2, 7, 6), 2, stride=2, padding=1, dilation=2),
)
max_pool3d = _max_pool(
    3, case(floats(1, 2, 4, 4, 6), 2), case(floats(1, 4, 5, 4, 2), 3, stride=2, padding=1, data_format="channels_last")
)


def _avg_pool(rank: int, *samples):
    def avg_pool(
        x, kernel_size, *, stride=None, padding=0, ceil_mode=False, count_include_pad=True, data_format="channels_first"
    ):
        if data_format == "channels_last":
            x = np.moveaxis(x, -1, 1)
        window, stride, dilation, pairs, over = _plan(x.shape[2:], kernel_size, stride, padding, 1, ceil_mode)
        inner = tuple(range(-rank, 0))
        sums = windows(np.pad(x, _full(pairs, over)), window, stride, dilation).sum(inner)
        counted = np.pad(
            np.ones((1, 1, *x.shape[2:])),
            ((0, 0), (0, 0), *pairs),
            constant_values=1.0 if count_include_pad and padding != "same" else 0.0,
        )
        counted = np.pad(counted, ((0, 0), (0, 0), *((0, e) for e in over)))
        y = sums / windows(counted, window, stride, dilation).sum(inner)
        return np.moveaxis(y, 1, -1) if data_format == "channels_last" else y

    name = f"avg_pool{rank}d"
    return operator(rules.pool(rank, "avg"), *samples)(
        _set_name(
            avg_pool,
            name,
            f"""\
Mean of each window over the {rank} spatial axes of x (N, C, ...).

    ``stride`` is the window's size when left out; ``padding`` as in `conv{rank}d`, at most half a window.
    Explicit padding counts as zeros unless ``count_include_pad=False``, "same" padding and elements beyond the end in
    ``ceil_mode`` do not count. Semantics: torch.nn.functional.{name}.""",
        )
    )


avg_pool1d = _avg_pool(
    1, case(floats(2, 3, 8), 2), case(floats(2, 3, 7), 3, stride=2, padding=1, count_include_pad=False)
)
avg_pool2d = _avg_pool(
    2,
    case(floats(2, 3, 6, 8), 2),
    case(floats(2, 3, 7, 7), 3, stride=2, padding=1),
    case(floats(2, 7, 7, 3), 3, stride=2, padding="same", data_format="channels_last"),
    case(floats(1, 2, 6, 7), 3, stride=2, padding=1, ceil_mode=True),
    case(floats(1, 2, 6, 7), 3, stride=2, padding=((1, 0), (0, 1)), ceil_mode=True, count_include_pad=False),
)
avg_pool3d = _avg_pool(
    3,
    case(floats(1, 2, 4, 4, 6), 2),
    case(floats(1, 4, 5, 4, 2), 3, stride=2, padding=1, count_include_pad=False, data_format="channels_last"),
)


def _lp_pool(rank: int, avg_pool, *samples):
    def lp_pool(x, p, kernel_size, *, stride=None, ceil_mode=False, data_format="channels_first"):
        means = avg_pool(pow(x, p), kernel_size, stride=stride, ceil_mode=ceil_mode, data_format=data_format)
        sums = multiply(means, math.prod(per_axis(kernel_size, rank, "kernel_size")))
        if p == 1:
            return sums
        nothing = equal(sums, 0)  # where the slope of the root is infinite: 0 instead
        return where(nothing, 0.0, pow(where(nothing, 1.0, sums), 1 / p))

    name = f"lp_pool{rank}d"
    return operator(rules.lp_pool(rank), *samples, composite=True)(
        _set_name(
            lp_pool,
            name,
            f"""\
The ``p``-th root of the sum of x to the power of ``p`` in each window over the {rank} spatial axes of x (N, C, ...).

    ``p=1`` gives the sum. Semantics: torch.nn.functional.{name}; negative elements need an even ``p`` or 1.""",
        )
    )


lp_pool1d = _lp_pool(
    1, avg_pool1d, case(floats(2, 3, 8, low=0.2), 2.0, 2), case(floats(2, 3, 7, low=0.2), 3.0, 3, stride=2)
)
lp_pool2d = _lp_pool(
    2,
    avg_pool2d,
    case(floats(2, 3, 6, 8, low=0.2), 2.0, 2),
    case(floats(2, 6, 7, 3), 1.0, 3, stride=2, data_format="channels_last"),
)
lp_pool3d = _lp_pool(3, avg_pool3d, case(floats(1, 2, 4, 4, 6, low=0.2), 2.0, 2))


def _along(x, axis: int, n: int, m: int, mean: bool):
    """Mean or largest element of each of the ``m`` windows that cover an axis of ``n`` elements."""
    at, shares = table(adaptive(n, m))
    picked = take(x, tensor_like(x, at, "int64"), axis=axis)  # the axis has become two: windows and their elements
    if not mean:
        return largest(picked, axis=axis + 1)
    shape = (*at.shape, *(1,) * (len(sizes_of(x)) - axis - 1))
    return total(multiply(picked, tensor_like(x, shares.reshape(shape))), axis=axis + 1)


def _adaptive_pool(rank: int, kind: str, pool, *samples):
    def adaptive_pool(x, output_size, *, data_format="channels_first"):
        first = data_format == "channels_first"
        sizes = sizes_of(x)[2:] if first else sizes_of(x)[1:-1]
        wanted = rules.adaptive_sizes(sizes, output_size)
        if None in sizes:
            raise ValueError(f"adaptive pooling wants known spatial sizes, received {sizes}")
        if not [n for n, m in zip(sizes, wanted, strict=True) if n % m]:
            return pool(x, tuple(n // m for n, m in zip(sizes, wanted, strict=True)), data_format=data_format)
        for axis, (n, m) in enumerate(zip(sizes, wanted, strict=True), 2 if first else 1):
            x = x if n == m else _along(x, axis, n, m, kind == "avg")
        return x

    what = "Largest element" if kind == "max" else "Mean"
    name = f"adaptive_{kind}_pool{rank}d"
    return operator(rules.adaptive_pool(rank, kind), *samples, composite=True)(
        _set_name(
            adaptive_pool,
            name,
            f"""\
{what} of ``output_size`` windows, as equal as possible, over the {rank} spatial axes of x (N, C, ...).

    ``output_size`` is a number, or one for each axis; None keeps an axis. Window i of m reaches from i * n // m up to,
    but without, the ceiling of (i + 1) * n / m. Semantics: torch.nn.functional.{name}.""",
        )
    )


_ADAPTIVE_1 = (case(floats(2, 3, 7), 3), case(floats(2, 6, 3), 2, data_format="channels_last"))
_ADAPTIVE_2 = (
    case(floats(2, 3, 7, 5), (3, 2)),
    case(floats(2, 3, 6, 4), 2),
    case(floats(2, 5, 4, 3), (2, None), data_format="channels_last"),
    case(floats(1, 2, 3, 2), 5),
)
_ADAPTIVE_3 = (case(floats(1, 2, 4, 3, 5), (2, 2, 3)),)
adaptive_avg_pool1d = _adaptive_pool(1, "avg", avg_pool1d, *_ADAPTIVE_1)
adaptive_avg_pool2d = _adaptive_pool(2, "avg", avg_pool2d, *_ADAPTIVE_2)
adaptive_avg_pool3d = _adaptive_pool(3, "avg", avg_pool3d, *_ADAPTIVE_3)
adaptive_max_pool1d = _adaptive_pool(1, "max", max_pool1d, *_ADAPTIVE_1)
adaptive_max_pool2d = _adaptive_pool(2, "max", max_pool2d, *_ADAPTIVE_2)
adaptive_max_pool3d = _adaptive_pool(3, "max", max_pool3d, *_ADAPTIVE_3)


def _max_pool_with_indices(rank: int, *samples):
    def max_pool_with_indices(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False):
        channels, *sizes = sizes_of(x)[1:]
        window, steps, spread, pairs, over = _plan(sizes, kernel_size, stride, padding, dilation, ceil_mode)
        full = _full(pairs, over)
        wide = [n + b + a for n, (b, a) in zip(sizes, full[2:], strict=True)]
        counts = window_sizes(sizes, window, steps, padding, spread, ceil_mode)
        places = positions(counts, window, wide, steps, spread)
        inside = np.pad(np.arange(math.prod(sizes)).reshape(sizes), full[2:]).reshape(
            -1
        )  # positions without the padding
        flat = reshape(pad(x, full, value=-math.inf), (-1, channels, math.prod(wide)))
        parts = take(flat, tensor_like(x, places, "int64"), axis=2)
        best = argmax(parts, axis=-1)
        start = tensor_like(x, np.arange(len(places)) * places.shape[1], "int64")
        indices = take(tensor_like(x, inside[places].reshape(-1), "int64"), add(best, start), axis=0)
        values = squeeze(take_along_axis(parts, expand_dims(best, -1), axis=-1), -1)
        return tuple(reshape(t, (-1, channels, *counts)) for t in (values, indices))

    name = f"max_pool{rank}d_with_indices"
    return operator(rules.pool_with_indices(rank), *samples, composite=True)(
        _set_name(
            max_pool_with_indices,
            name,
            f"""\
Largest element of each window over the {rank} spatial axes of x (N, C, ...), and its position there (int64).

    A position counts the flattened spatial axes of x, as `max_unpool{rank}d` wants it; the first of equal elements counts.
    Semantics: torch.nn.functional.max_pool{rank}d with return_indices=True.""",
        )
    )


max_pool1d_with_indices = _max_pool_with_indices(1, case(floats(2, 3, 7), 3, stride=2, padding=1))
max_pool2d_with_indices = _max_pool_with_indices(
    2, case(floats(2, 3, 6, 7), 2), case(floats(1, 2, 6, 7), 3, stride=2, padding=1, ceil_mode=True)
)
max_pool3d_with_indices = _max_pool_with_indices(3, case(floats(1, 2, 4, 4, 6), 2))


def _max_unpool(rank: int, *samples):
    def max_unpool(x, indices, kernel_size, *, stride=None, padding=0, size=None):
        sizes = rules.unpooled_sizes(x.shape[2:], kernel_size, stride, padding, size)
        y = np.zeros((*x.shape[:2], math.prod(sizes)), x.dtype)
        flat = (*x.shape[:2], math.prod(x.shape[2:]))
        if (indices < 0).any():
            raise IndexError(f"max_unpool{rank}d wants positions of 0 or more, received {indices.min()}")
        np.put_along_axis(y, indices.reshape(flat), x.reshape(flat), axis=2)
        return y.reshape(*x.shape[:2], *sizes)

    name = f"max_unpool{rank}d"
    return operator(rules.max_unpool(rank), *samples)(
        _set_name(
            max_unpool,
            name,
            f"""\
Elements x (N, C, ...) put back to the positions of `max_pool{rank}d_with_indices`, zeros elsewhere.

    ``size`` gives the spatial sizes of the result, else they are (n - 1) * stride - 2 * padding + kernel_size. Positions
    are valid and unique within a channel. Semantics: torch.nn.functional.{name}.""",
        )
    )


max_unpool1d = _max_unpool(
    1, case(floats(2, 3, 1), ints(2, 3, 1, high=3), 3), case(floats(2, 3, 1), ints(2, 3, 1), 2, size=5)
)
max_unpool2d = _max_unpool(2, case(floats(2, 3, 1, 1), ints(2, 3, 1, 1, high=6), (2, 3)))
max_unpool3d = _max_unpool(3, case(floats(2, 3, 1, 1, 1), ints(2, 3, 1, 1, 1, high=8), 2))
