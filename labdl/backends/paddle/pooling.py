"""PaddlePaddle's pooling."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false

import math

import numpy as np
import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import isnan, where
from labdl.backends.paddle.arrays import take
from labdl.backends.paddle.call_recorder import reads_values, refuse_negative
from labdl.backends.paddle.convolution import FORMATS, check_fit, flat, pads_of_all_axes, spatial_sizes
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.backends.paddle.dtypes import FLOAT32, INT64, cast, full_tensor, in_dtype
from labdl.backends.paddle.reductions import max as largest
from labdl.backends.paddle.tensors import dtype_name
from labdl.spec import pad_pairs, per_axis, window_sizes


def _plan(x, rank, kernel_size, stride, padding, dilations, ceil_mode, data_format):
    """Window, stride, padding, and how far the last window of ``ceil_mode`` extends beyond the end."""
    sizes = spatial_sizes(x, data_format)
    window = per_axis(kernel_size, rank, "kernel_size")
    strides = window if stride is None else per_axis(stride, rank, "stride")
    pairs = pad_pairs(padding, sizes, window, strides, dilations)
    check_fit(sizes, window, dilations, pairs)
    if any(2 * max(pair) > d * (k - 1) + 1 for pair, k, d in zip(pairs, window, dilations, strict=True)):
        raise ValueError("padding above half a window")  # the shape rule gives the message
    over = (0,) * rank
    if ceil_mode and padding != "same":
        # Paddle keeps windows that begin beyond the input: pad to get PyTorch's sizes
        wanted = window_sizes(sizes, window, strides, padding, dilations, True)
        over = [
            (o - 1) * s + d * (k - 1) + 1 - n - b - a
            for o, s, d, k, n, (b, a) in zip(wanted, strides, dilations, window, sizes, pairs, strict=True)
        ]
        over = [n if n > 0 else 0 for n in over]
    return window, strides, pairs, over


def _reaching(pairs, over):
    return tuple((b, a + e) for (b, a), e in zip(pairs, over, strict=True)) if any(over) else pairs


def _in_plane(x, rank, data_format, *sizes):
    """Add a spatial axis of size 1 before the only one."""
    if rank > 1:
        return x, *sizes
    rows = [(1,) if isinstance(s[0], int) else ((0, 0),) for s in sizes]
    return x.unsqueeze(2 if data_format == "channels_first" else 1), *(
        (*r, *s) for r, s in zip(rows, sizes, strict=True)
    )


def _max_pool(rank):
    plane = rank if rank > 1 else 2
    native = kernels.pool2d if plane == 2 else kernels.pool3d
    remembering = kernels.max_pool2d_with_index if plane == 2 else kernels.max_pool3d_with_index

    @any_precision
    def call(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False, data_format="channels_first"):
        """Paddle skips NaN and -inf, and its gradient of a window without other numbers ends the process."""
        first = data_format == "channels_first"
        dilations = per_axis(dilation, rank, "dilation")
        window, strides, pairs, over = _plan(x, rank, kernel_size, stride, padding, dilations, ceil_mode, data_format)
        pairs = _reaching(pairs, over)
        if dilation != 1 and max(dilations) > 1:
            return _dilated_pool(x, window, strides, dilations, pairs, data_format)
        if not (reads_values(x) and _is_usual(x.detach())):
            return _pool_by_positions(x, rank, remembering, window, strides, pairs, first)
        x, window, strides, pairs = _in_plane(x, rank, data_format, window, strides, pairs)
        if first and all(b == a for b, a in pairs):
            # its gradient uses stored positions; that of pool2d searches again and takes twice the time
            y = remembering(x, window, strides, [b for b, _ in pairs], False, False, False)[0]
        else:
            y = native(
                x,
                window,
                strides,
                flat(pairs),
                False,
                True,
                FORMATS[data_format, plane],
                "max",
                False,
                False,
                "EXPLICIT",
            )
        return y if rank > 1 else y.squeeze(2 if first else 1)

    return call


_LEAST = -1e38  # in float64 the kernels look for elements above the least number of float32


def _is_usual(x):
    """True where the kernels find the largest element of each window."""
    finite = math.isfinite(paddle.sum(x).item())
    return finite and (x.dtype is FLOAT32 or float(paddle.amin(x).item()) > _LEAST)


def _pool_by_positions(x, rank, remembering, window, strides, pairs, first):
    """The elements at the positions of the largest ones, NaN being the largest of all."""
    x = x if first else kernels.transpose(x, [0, rank + 1, *range(1, rank + 1)])
    if any(b != a for b, a in pairs):
        x = kernels.pad(x, flat(pads_of_all_axes(pairs, "channels_first")), -math.inf)
        pairs = ((0, 0),) * rank
    x, window, strides, pairs = _in_plane(x, rank, "channels_first", window, strides, pairs)
    most = float(np.finfo(dtype_name(x)).max)
    ordered = kernels.clip(x.detach(), -0.9 * most, most)  # the kernel looks for elements above -most
    ordered = where(isnan(ordered), full_tensor([], math.inf, x.dtype), ordered)
    pads = [b for b, _ in pairs]
    tops, places = remembering(ordered, window, strides, pads, False, False, False)
    if x.dtype == paddle.float64:  # windows of numbers that are beyond float32 are searched in smaller ones
        small = kernels.scale(ordered, 2.0**-900, 0.0, True)
        beyond = remembering(small, window, strides, pads, False, False, False)[1]
        places = where(kernels.less_than(tops, full_tensor([], _LEAST, x.dtype)), beyond, places)
    found = kernels.take_along_axis(
        kernels.reshape(x, [0, 0, -1]), cast(kernels.reshape(places, [0, 0, -1]), INT64), 2
    )  # 0 keeps a size
    y = kernels.reshape(found, [0, 0, *places.shape[2:]])
    y = y if rank > 1 else y.squeeze(2)
    return y if first else kernels.transpose(y, [0, *range(2, rank + 2), 1])


def _dilated_pool(x, window, strides, dilations, pairs, data_format):
    """Axis by axis, with the elements of windows on a new axis: Paddle has no such kernel."""
    x = kernels.pad(x, flat(pads_of_all_axes(pairs, data_format)), -math.inf)
    begin = 2 if data_format == "channels_first" else 1
    for axis, (k, s, d) in enumerate(zip(window, strides, dilations, strict=True), begin):
        count = (x.shape[axis] - d * (k - 1) - 1) // s + 1
        x = largest(take(x, np.arange(count)[:, None] * s + np.arange(k) * d, axis), axis=axis + 1)
    return x


def _avg_pool(rank):
    plane = rank if rank > 1 else 2
    native = kernels.pool2d if plane == 2 else kernels.pool3d

    @any_precision
    def call(
        x, kernel_size, *, stride=None, padding=0, ceil_mode=False, count_include_pad=True, data_format="channels_first"
    ):
        ones = (1,) * rank
        window, strides, pairs, over = _plan(x, rank, kernel_size, stride, padding, ones, ceil_mode, data_format)
        exclusive = padding == "same" or not count_include_pad  # True if padding does not count
        if not exclusive and (any(over) or [b for b, a in pairs if a != b]):
            # explicit padding counts as zeros, elements beyond the end do not count; Paddle miscounts asymmetric padding
            if any(map(any, pairs)):
                x, pairs = kernels.pad(x, flat(pads_of_all_axes(pairs, data_format)), 0.0), ((0, 0),) * rank
            exclusive = True
        x, window, strides, pairs = _in_plane(x, rank, data_format, window, strides, _reaching(pairs, over))
        y = native(
            x,
            window,
            strides,
            flat(pairs),
            False,
            exclusive,
            FORMATS[data_format, plane],
            "avg",
            False,
            False,
            "EXPLICIT",
        )
        return y if rank > 1 else y.squeeze(2 if data_format == "channels_first" else 1)

    return call


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)
avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1), _avg_pool(2), _avg_pool(3)


def _max_unpool(rank):
    @any_precision
    def call(x, indices, kernel_size, *, stride=None, padding=0, size=None):
        """Paddle needs the size with batch and channels, within a stride of the default."""
        if size is None:
            window = per_axis(kernel_size, rank, "kernel_size")
            strides = window if stride is None else per_axis(stride, rank, "stride")
            pads = per_axis(padding, rank, "padding", 0)
            size = [(n - 1) * s - 2 * p + k for n, k, s, p in zip(x.shape[2:], window, strides, pads, strict=True)]
        size, lead = per_axis(size, rank, "size"), x.shape[:2]
        rows = [*lead, math.prod(x.shape[2:])]
        zeros = paddle.zeros([*lead, math.prod(size)], x.dtype)
        if 0 in x.shape:
            return zeros.reshape([*lead, *size])
        places = kernels.reshape(in_dtype(indices, INT64), rows)
        refuse_negative(places, f"max_unpool{rank}d")
        y = kernels.put_along_axis(zeros, places, kernels.reshape(x, rows), 2, "assign", True)
        return kernels.reshape(y, [*lead, *size])

    return call


max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)
