"""Convolutions over one to three spatial axes (PyTorch's semantics)."""

import numpy as np

from labdl.ops import costs, rules
from labdl.ops.array.shape import pad, reshape, take
from labdl.ops.neural.linear import tensor_like
from labdl.ops.neural.windows import positions, sizes_of, windows
from labdl.ops.operator import case, floats, operator
from labdl.spec import crop_pairs, pad_pairs, per_axis, window_sizes

_AXES = {1: "L", 2: "H, W", 3: "D, H, W"}


def _set_name(function, name: str, doc: str):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _conv(rank: int, *samples):
    def conv(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        if data_format == "channels_last":
            x = np.moveaxis(x, -1, 1)
        window = kernel.shape[2:]
        stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        pairs = pad_pairs(padding, x.shape[2:], window, stride, dilation)
        view = windows(np.pad(x, ((0, 0), (0, 0), *pairs)), window, stride, dilation)
        out = kernel.shape[0] // groups
        parts = []
        for g, part in enumerate(np.split(view, groups, axis=1)):
            axes = [1, *range(2 + rank, 2 + 2 * rank)]
            parts.append(np.tensordot(part, kernel[g * out : (g + 1) * out], (axes, [1, *range(2, 2 + rank)])))
        y = np.concatenate(parts, axis=-1)
        if bias is not None:
            y = y + bias
        return y if data_format == "channels_last" else np.moveaxis(y, -1, 1)

    axes, name = _AXES[rank], f"conv{rank}d"
    return operator(rules.conv(rank), *samples, cost=costs.conv, precision="half")(
        _set_name(
            conv,
            name,
            f"""\
{rank}-d convolution (cross-correlation) of x (N, C, {axes}) with kernel (out, in / groups, {axes}).

    ``padding`` is "same", "valid", an integer, one integer per axis, or a pair (before, after) per axis.
    ``data_format="channels_last"`` takes and gives (N, {axes}, C). Semantics: torch.nn.functional.{name}.""",
        )
    )


conv1d = _conv(
    1,
    case(floats(2, 3, 8), floats(4, 3, 3), floats(4), stride=2, padding=1),
    case(floats(2, 8, 4), floats(4, 2, 3), dilation=2, groups=2, data_format="channels_last"),
)
conv2d = _conv(
    2,
    case(floats(2, 3, 6, 7), floats(4, 3, 3, 3), floats(4), padding="same"),
    case(floats(2, 3, 6, 7), floats(4, 3, 3, 2), stride=2, padding="same"),
    case(floats(2, 4, 6, 7), floats(4, 1, 3, 3), groups=4, padding=((1, 0), (2, 1))),
    case(
        floats(2, 6, 7, 4), floats(6, 2, 3, 3), floats(6), groups=2, dilation=2, padding=2, data_format="channels_last"
    ),
    case(floats(1, 3, 9, 9), floats(2, 3, 3, 3), stride=(2, 3), padding=(1, 0)),
)
conv3d = _conv(
    3,
    case(floats(2, 3, 4, 5, 4), floats(4, 3, 2, 3, 2), floats(4), padding="same"),
    case(floats(1, 4, 5, 4, 2), floats(2, 2, 3, 3, 2), stride=2, padding=1, data_format="channels_last"),
)


def _conv_transpose(rank: int, *samples):
    def conv_transpose(
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
        if data_format == "channels_last":
            x = np.moveaxis(x, -1, 1)
        sizes, window = x.shape[2:], kernel.shape[2:]
        stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        crops = crop_pairs(padding, window, stride, dilation, output_padding)
        full = [(n - 1) * s + d * (k - 1) + 1 for n, s, k, d in zip(sizes, stride, window, dilation, strict=True)]
        channels = kernel.shape[1] * groups
        extents = [n + max(0, -after) for n, (_, after) in zip(full, crops, strict=True)]
        y = np.zeros((x.shape[0], channels, *extents), np.result_type(x, kernel))
        inputs = x.reshape(x.shape[0], groups, kernel.shape[0] // groups, *sizes)
        weights = kernel.reshape(groups, kernel.shape[0] // groups, *kernel.shape[1:])
        for at in np.ndindex(*window):  # each element of the kernel contributes to every stride-th position
            share = np.einsum("ngi...,gio->ngo...", inputs, weights[(..., *at)]).reshape(x.shape[0], channels, *sizes)
            places = (
                slice(a * d, a * d + (n - 1) * s + 1, s) for a, d, n, s in zip(at, dilation, sizes, stride, strict=True)
            )
            y[(slice(None), slice(None), *places)] += share
        y = y[(..., *(slice(before, n - after) for n, (before, after) in zip(full, crops, strict=True)))]
        if bias is not None:
            y = y + np.reshape(bias, (-1,) + (1,) * rank)
        return np.moveaxis(y, 1, -1) if data_format == "channels_last" else y

    axes, name = _AXES[rank], f"conv_transpose{rank}d"
    return operator(rules.conv_transpose(rank), *samples, cost=costs.conv_transpose, precision="half")(
        _set_name(
            conv_transpose,
            name,
            f"""\
{rank}-d transposed convolution of x (N, C, {axes}) with kernel (in, out / groups, {axes}): the gradient of `conv{rank}d`.

    The size becomes (n - 1) * stride + dilation * (k - 1) + 1 - padding before and after + output_padding.
    ``padding`` as in `conv{rank}d`; "same" gives n * stride, "valid" is 0; ``output_padding`` is less than stride or
    dilation. Semantics: torch.nn.functional.{name}.""",
        )
    )


conv_transpose1d = _conv_transpose(
    1,
    case(floats(2, 3, 5), floats(3, 4, 3), floats(4), stride=2, padding=1, output_padding=1),
    case(floats(2, 5, 4), floats(4, 3, 3), dilation=2, groups=2, data_format="channels_last"),
    case(floats(2, 3, 4), floats(3, 2, 2), floats(2), stride=3, padding="same"),
)
conv_transpose2d = _conv_transpose(
    2,
    case(floats(2, 3, 4, 5), floats(3, 4, 3, 3), floats(4), stride=2, padding="same"),
    case(floats(2, 4, 3, 4), floats(4, 2, 3, 2), floats(4), stride=(2, 1), padding=(1, 0), groups=2),
    case(
        floats(1, 3, 3, 4), floats(4, 2, 3, 3), stride=2, padding=1, output_padding=(1, 0), data_format="channels_last"
    ),
    case(floats(1, 2, 4, 4), floats(2, 3, 3, 3), stride=2, padding=((0, 1), (2, 0)), output_padding=1),
    case(floats(1, 2, 3, 3), floats(2, 1, 2, 2), dilation=2, padding="valid"),
)
conv_transpose3d = _conv_transpose(
    3,
    case(floats(1, 2, 3, 2, 2), floats(2, 3, 2, 3, 2), floats(3), stride=2, padding="same"),
    case(floats(1, 2, 3, 2, 2), floats(2, 1, 3, 2, 2), stride=2, padding=1, groups=2, data_format="channels_last"),
)


def _depthwise(rank: int, conv, *samples):
    def depthwise_conv(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, data_format="channels_first"):
        channels = sizes_of(x)[1 if data_format == "channels_first" else -1]
        return conv(
            x, kernel, bias, stride=stride, padding=padding, dilation=dilation, groups=channels, data_format=data_format
        )

    axes, name = _AXES[rank], f"depthwise_conv{rank}d"
    return operator(rules.depthwise(rank), *samples, composite=True, cost=costs.conv, precision="half")(
        _set_name(
            depthwise_conv,
            name,
            f"""\
{rank}-d convolution of each channel of x (N, C, {axes}) separately; kernel (C * multiplier, 1, {axes}).

    Channel c gives the outputs c * multiplier and following. `conv{rank}d` with as many groups as channels.""",
        )
    )


depthwise_conv1d = _depthwise(
    1,
    conv1d,
    case(floats(2, 3, 6), floats(6, 1, 3), floats(6), padding="same"),
    case(floats(2, 6, 3), floats(3, 1, 3), stride=2, data_format="channels_last"),
)
depthwise_conv2d = _depthwise(
    2,
    conv2d,
    case(floats(2, 3, 5, 4), floats(6, 1, 3, 3), floats(6), padding="same"),
    case(floats(2, 5, 5, 3), floats(3, 1, 3, 3), stride=2, data_format="channels_last"),
)


def _separable(rank: int, depthwise, conv, *samples):
    def separable_conv(
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
        y = depthwise(x, depthwise_kernel, stride=stride, padding=padding, dilation=dilation, data_format=data_format)
        return conv(y, pointwise_kernel, bias, data_format=data_format)

    axes, name = _AXES[rank], f"separable_conv{rank}d"
    return operator(rules.separable(rank), *samples, composite=True, cost=costs.separable, precision="half")(
        _set_name(
            separable_conv,
            name,
            f"""\
`depthwise_conv{rank}d` over space, then a convolution over the channels (Chollet, 2017).

    depthwise_kernel (C * multiplier, 1, {axes}), pointwise_kernel (out, C * multiplier{", 1" * rank}), bias (out,).""",
        )
    )


separable_conv1d = _separable(
    1, depthwise_conv1d, conv1d, case(floats(2, 3, 6), floats(6, 1, 3), floats(4, 6, 1), floats(4), padding=1)
)
separable_conv2d = _separable(
    2,
    depthwise_conv2d,
    conv2d,
    case(floats(2, 3, 5, 4), floats(6, 1, 3, 3), floats(4, 6, 1, 1), floats(4), padding="same"),
    case(floats(1, 5, 5, 3), floats(3, 1, 2, 2), floats(2, 3, 1, 1), stride=2, data_format="channels_last"),
)


@operator(
    rules.unfold,
    case(floats(2, 3, 4, 5), 2),
    case(floats(2, 2, 5, 4), (3, 2), stride=2, padding=(1, 0), dilation=(1, 2)),
    case(floats(2, 3, 6), 3, padding=1),
    composite=True,
)
def unfold(x, kernel_size, *, stride=1, padding=0, dilation=1):
    """The windows of x (N, C, ...) as columns: (N, C * window, number of windows), also called im2col.

    Semantics: torch.nn.functional.unfold, over one to three spatial axes.
    """
    shape = sizes_of(x)
    rank, channels = len(shape) - 2, shape[1]
    window, steps = per_axis(kernel_size, rank, "kernel_size"), per_axis(stride, rank, "stride")
    spread = per_axis(dilation, rank, "dilation")
    pairs = pad_pairs(padding, shape[2:], window, steps, spread)
    counts = window_sizes(shape[2:], window, steps, padding, spread)
    sizes = [n + before + after for n, (before, after) in zip(shape[2:], pairs, strict=True)]
    place = positions(counts, window, sizes, steps, spread).T
    flat = reshape(pad(x, ((0, 0), (0, 0), *pairs)), (-1, channels, int(np.prod(sizes))))
    columns = take(flat, tensor_like(x, place, "int64"), axis=2)
    return reshape(columns, (-1, channels * place.shape[0], place.shape[1]))


_TRANSPOSED = {1: conv_transpose1d, 2: conv_transpose2d, 3: conv_transpose3d}


@operator(
    rules.fold,
    case(floats(2, 8, 6), (3, 4), 2),
    case(floats(2, 6, 6), (5, 4), (3, 2), stride=2, padding=(1, 0)),
    case(floats(2, 6, 4), (4,), 3, padding=1),
    composite=True,
)
def fold(x, size, kernel_size, *, stride=1, padding=0, dilation=1):
    """Columns (N, C * window, number of windows) summed at their positions: (N, C, *size), also called col2im.

    The gradient of `unfold`: where windows overlap, their elements are summed. Semantics: torch.nn.functional.fold.
    """
    sizes = (size, size) if isinstance(size, int) else tuple(size)
    rank = len(sizes)
    window, steps = per_axis(kernel_size, rank, "kernel_size"), per_axis(stride, rank, "stride")
    spread = per_axis(dilation, rank, "dilation")
    counts = window_sizes(sizes, window, steps, padding, spread)
    pairs = pad_pairs(padding, sizes, window, steps, spread)
    area = int(np.prod(window))
    scatter = tensor_like(x, np.eye(area).reshape(area, 1, *window))  # one kernel for each element of a window
    rest = [
        n + b + a - (m - 1) * s - d * (k - 1) - 1
        for n, (b, a), m, s, d, k in zip(sizes, pairs, counts, steps, spread, window, strict=True)
    ]
    y = _TRANSPOSED[rank](
        reshape(x, (-1, area, *counts)),
        scatter,
        stride=steps,
        padding=pairs,
        dilation=spread,
        output_padding=tuple(rest),
    )
    return reshape(y, (-1, sizes_of(x)[1] // area, *sizes))
