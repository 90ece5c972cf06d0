"""PyTorch implementations of convolution, pooling and resampling."""

import math

import torch
import torch.nn.functional as F

from labdl.spec import crop_pairs, pad_pairs, per_axis, window_sizes


def _padding(x, padding, window, stride, dilation):
    """The padding torch's kernel takes itself, or the input padded where it is not the same at both ends."""
    if padding == "valid":
        return x, 0
    if isinstance(padding, int):
        return x, padding
    pairs = pad_pairs(padding, x.shape[2:], window, stride, dilation)
    if [p for p in pairs if p[0] != p[1]]:
        return F.pad(x, _flat(pairs)), 0
    return x, tuple(before for before, _ in pairs)


def _channels_first(x, data_format):
    # a view in which channels come first, while the memory stays as it is: oneDNN computes on it directly
    return x.movedim(-1, 1) if data_format == "channels_last" else x


def _channels_as(y, data_format):
    return y.movedim(1, -1) if data_format == "channels_last" else y


def _conv(rank, function):
    def call(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        x = _channels_first(x, data_format)
        if not isinstance(padding, int):
            strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
            x, padding = _padding(x, padding, kernel.shape[2:], strides, dilations)
        return _channels_as(function(x, kernel, bias, stride, padding, dilation, groups), data_format)

    return call


conv1d, conv2d, conv3d = _conv(1, F.conv1d), _conv(2, F.conv2d), _conv(3, F.conv3d)


def _conv_transpose(rank, function):
    def call(
        x,
        kernel,
        bias=None,
        *,
        stride=1,
        padding=0,
        output_padding=0,
        dilation=1,
        groups=1,
        data_format="channels_first",
    ):
        """torch supports neither "same" nor different padding at both ends: the full result is cut."""
        x = _channels_first(x, data_format)
        if isinstance(padding, int):
            y = function(x, kernel, bias, stride, padding, output_padding, groups, dilation)
            return _channels_as(y, data_format)
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        extra = per_axis(output_padding, rank, "output_padding", 0)
        pairs = crop_pairs(padding, kernel.shape[2:], strides, dilations, extra)
        y = function(x, kernel, None, strides, 0, 0, groups, dilations)
        y = F.pad(y, [-n for pair in reversed(pairs) for n in pair])
        if bias is not None:
            y = y + bias.reshape(-1, *(1,) * rank)
        return _channels_as(y, data_format)

    return call


conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    _conv_transpose(1, F.conv_transpose1d),
    _conv_transpose(2, F.conv_transpose2d),
    _conv_transpose(3, F.conv_transpose3d),
)


def _borders(sizes, window, strides, dilations, padding, ceil_mode):
    """Padding before and after each axis, and how far the last window of ``ceil_mode`` reaches beyond it.

    torch's ceil_mode would count an explicit border as a part of the input, and start windows in it.
    """
    pairs = pad_pairs(padding, sizes, window, strides, dilations)
    counts = window_sizes(sizes, window, strides, padding, dilations, ceil_mode)
    over = [
        max(0, (o - 1) * s + d * (k - 1) + 1 - n - b - a)
        for o, s, k, d, n, (b, a) in zip(counts, strides, window, dilations, sizes, pairs, strict=True)
    ]
    return pairs, over


def _flat(pairs):
    """Pairs as F.pad takes them: the last axis first."""
    return [n for pair in reversed(pairs) for n in pair]


def _max_pool(rank, function):
    def call(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False, data_format="channels_first"):
        x = _channels_first(x, data_format)
        if not isinstance(padding, int):
            window, dilations = per_axis(kernel_size, rank, "kernel_size"), per_axis(dilation, rank, "dilation")
            strides = window if stride is None else per_axis(stride, rank, "stride")
            pairs, over = _borders(x.shape[2:], window, strides, dilations, padding, ceil_mode)
            pairs = [(b, a + e) for (b, a), e in zip(pairs, over, strict=True)]
            x, padding, ceil_mode = F.pad(x, _flat(pairs), value=-math.inf), 0, False
        return _channels_as(function(x, kernel_size, stride, padding, dilation, ceil_mode), data_format)

    return call


max_pool1d, max_pool2d, max_pool3d = _max_pool(1, F.max_pool1d), _max_pool(2, F.max_pool2d), _max_pool(3, F.max_pool3d)


def _avg_pool(rank, function):
    def call(
        x, kernel_size, *, stride=None, padding=0, ceil_mode=False, count_include_pad=True, data_format="channels_first"
    ):
        if x.dtype in (torch.float16, torch.bfloat16) and rank == 3:  # no kernel
            wide = call(
                x.float(),
                kernel_size,
                stride=stride,
                padding=padding,
                ceil_mode=ceil_mode,
                count_include_pad=count_include_pad,
                data_format=data_format,
            )
            return wide.to(x.dtype)
        x = _channels_first(x, data_format)
        # with three axes torch refuses a window larger than the input without its border
        narrow = rank == 3 and min(x.shape[2:]) < max(per_axis(kernel_size, rank, "kernel_size"))
        if padding == "valid" or (isinstance(padding, int) and not narrow):
            y = function(x, kernel_size, stride, 0 if padding == "valid" else padding, ceil_mode, count_include_pad)
            return _channels_as(y, data_format)
        window = per_axis(kernel_size, rank, "kernel_size")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        pairs, over = _borders(x.shape[2:], window, strides, (1,) * rank, padding, ceil_mode)
        border, beyond = _flat(pairs), _flat([(0, e) for e in over])
        y = function(F.pad(x, _flat([(b, a + e) for (b, a), e in zip(pairs, over, strict=True)])), window, strides)
        border_counts = count_include_pad and padding != "same"
        if any(over) or not border_counts:  # divide by the share of each window that counts
            inside = torch.ones((1, 1, *x.shape[2:]), dtype=x.dtype, device=x.device)
            inside = F.pad(F.pad(inside, border, value=float(border_counts)), beyond)
            y = y / function(inside, window, strides)
        return _channels_as(y, data_format)

    return call


avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1, F.avg_pool1d), _avg_pool(2, F.avg_pool2d), _avg_pool(3, F.avg_pool3d)


def _max_unpool(rank):
    def call(x, indices, kernel_size, *, stride=None, padding=0, size=None):
        """torch allows sizes only near the usual one."""
        window = per_axis(kernel_size, rank, "kernel_size")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        edges = per_axis(padding, rank, "padding", 0)
        usual = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[2:], strides, edges, window, strict=True)]
        sizes = usual if size is None else per_axis(size, rank, "size")
        y = x.new_zeros(*x.shape[:2], math.prod(sizes))
        return y.scatter(2, indices.long().flatten(2), x.flatten(2)).reshape(*x.shape[:2], *sizes)

    return call


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))


def grid_sample(x, grid, *, mode="bilinear", padding="zeros", align_corners=False, data_format="channels_first"):
    if data_format != "channels_first" or x.dtype is not grid.dtype or not x.numel() or not grid.numel():
        return NotImplemented
    return F.grid_sample(x, grid, mode, padding, align_corners)
