"""Shape rules of convolutions, and functions for operators over spatial axes."""

from __future__ import annotations

from labdl.ops.rules.elementwise import common_dtype, promoting
from labdl.spec import Spec, per_axis, show, transposed_sizes, window_sizes


def spatial(x, rank: int, data_format: str, what: str):
    """Number of channels and sizes of the spatial axes."""
    first = first_format(data_format)
    axes = ("D", "H", "W")[3 - rank :]
    names = ("N", "C", *axes) if first else ("N", *axes, "C")
    if x.ndim != rank + 2:
        raise ValueError(f"{what} wants {rank + 2} axes ({', '.join(names)}), received {show(x.shape)}")
    return (x.shape[1], x.shape[2:]) if first else (x.shape[-1], x.shape[1:-1])


def first_format(data_format: str) -> bool:
    """True when the channels come before the spatial axes."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f'data_format must be "channels_first" or "channels_last", received {data_format!r}')
    return data_format == "channels_first"


def assemble(x, channels, sizes, data_format: str) -> Spec:
    inner = (channels, *sizes) if data_format == "channels_first" else (*sizes, channels)
    return x.with_shape([x.shape[0], *inner])


def _check_kernel(kernel, bias, rank: int, out, what: str) -> None:
    if kernel.ndim != rank + 2:
        raise ValueError(f"{what} wants a kernel of {rank + 2} axes, received {show(kernel.shape)}")
    if 0 in (out, *kernel.shape[2:]):
        raise ValueError(
            f"{what} wants a kernel of at least one output channel and one element, received {show(kernel.shape)}"
        )
    if bias is not None and bias.shape not in ((out,), (None,)) and out is not None:
        raise ValueError(f"{what} wants a bias of shape ({out},), received {show(bias.shape)}")


def conv(rank: int):
    what = f"conv{rank}d"

    @promoting
    def rule(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        channels, sizes = spatial(x, rank, data_format, what)
        _check_kernel(kernel, bias, rank, kernel.shape[0], what)
        out, per_group, *window = kernel.shape
        if channels is not None and channels != per_group * groups:
            raise ValueError(
                f"{what} with {groups} group(s) and a kernel for {per_group} channels each wants "
                f"{per_group * groups} input channels, received {channels}"
            )
        if groups < 1 or out % groups:
            raise ValueError(f"{what} cannot share {out} output channels among {groups} groups")
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        result = assemble(x, out, window_sizes(sizes, window, strides, padding, dilations), data_format)
        return Spec(result.shape, common_dtype(x, kernel))

    return rule


def conv_transpose(rank: int):
    what = f"conv_transpose{rank}d"

    @promoting
    def rule(
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
        channels, sizes = spatial(x, rank, data_format, what)
        _check_kernel(kernel, bias, rank, kernel.shape[1] * groups, what)
        into, per_group, *window = kernel.shape
        if channels is not None and channels != into:
            raise ValueError(
                f"{what} with a kernel of shape {show(kernel.shape)} (in, out / groups, ...) wants {into} "
                f"input channels, received {channels}"
            )
        if into % groups:
            raise ValueError(f"{what} cannot share {into} input channels among {groups} groups")
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        sizes = transposed_sizes(sizes, window, strides, padding, dilations, output_padding)
        return Spec(assemble(x, per_group * groups, sizes, data_format).shape, common_dtype(x, kernel))

    return rule


def depthwise(rank: int):
    @promoting
    def rule(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, data_format="channels_first"):
        channels, _ = spatial(x, rank, data_format, f"depthwise_conv{rank}d")
        if channels is None:
            raise ValueError(f"depthwise_conv{rank}d wants a known number of channels, received {show(x.shape)}")
        if kernel.ndim != rank + 2 or kernel.shape[1] != 1:
            raise ValueError(
                f"depthwise_conv{rank}d wants a kernel (channels * multiplier, 1, ...), received {show(kernel.shape)}"
            )
        return conv(rank)(
            x, kernel, bias, stride=stride, padding=padding, dilation=dilation, groups=channels, data_format=data_format
        )

    return rule


def separable(rank: int):
    @promoting
    def rule(
        x,
        depthwise_kernel,
        pointwise_kernel,
        bias=None,
        *,
        stride=1,
        padding=0,
        dilation=1,
        data_format="channels_first",
    ):
        inner = depthwise(rank)(
            x, depthwise_kernel, stride=stride, padding=padding, dilation=dilation, data_format=data_format
        )
        return conv(rank)(inner, pointwise_kernel, bias, data_format=data_format)

    return rule


def unfold(x, kernel_size, *, stride=1, padding=0, dilation=1) -> Spec:
    window, strides, dilations = _patches(x.ndim - 2, kernel_size, stride, dilation, "unfold", x)
    counts = window_sizes(x.shape[2:], window, strides, padding, dilations)
    return x.with_shape([x.shape[0], _product([x.shape[1], *window]), _product(counts)])


def fold(x, size, kernel_size, *, stride=1, padding=0, dilation=1) -> Spec:
    if x.ndim != 3:
        raise ValueError(f"fold wants 3 axes (N, C * window, windows), received {show(x.shape)}")
    sizes = (size, size) if isinstance(size, int) else tuple(size)
    window, strides, dilations = _patches(len(sizes), kernel_size, stride, dilation, "fold", x)
    counts = window_sizes(sizes, window, strides, padding, dilations)
    area, wanted = _product(window), _product(counts)
    if x.shape[2] not in (None, wanted) or (x.shape[1] is not None and x.shape[1] % area):
        raise ValueError(f"fold to {show(sizes)} wants (N, C * {area}, {wanted}), received {show(x.shape)}")
    return x.with_shape([x.shape[0], None if x.shape[1] is None else x.shape[1] // area, *sizes])


def _patches(rank: int, kernel_size, stride, dilation, what: str, x):
    if rank not in (1, 2, 3):
        raise ValueError(f"{what} wants 1 to 3 spatial axes, received {show(x.shape)}")
    names = (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation))
    return [per_axis(value, rank, name) for name, value in names]


def _product(sizes):
    total = 1
    for n in sizes:
        if n is None:
            return None
        total *= n
    return total
