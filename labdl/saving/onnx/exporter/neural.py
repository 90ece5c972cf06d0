"""ONNX writers of products, normalization, convolution, pooling and resizing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from labdl import ops
from labdl.ops import rules
from labdl.saving.onnx.exporter.registry import writes
from labdl.spec import crop_pairs, pad_pairs, per_axis, window_sizes

# -- products


@writes("linear")
def linear(e, x, kernel, bias):
    if x.ndim == 2:
        return e("Gemm", x, kernel, bias)
    product = e("MatMul", x, kernel)
    return product if bias is None else e("Add", product, bias)


@writes("einsum")
def einsum(e, equation, *operands):
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    if len({x.ndim - sum(c.isalpha() for c in t) for x, t in zip(operands, terms, strict=True) if "..." in t}) > 1:
        return NotImplemented  # ONNX does not broadcast the axes of "..."
    return e("Einsum", *(e.cast(x, e.spec.dtype) for x in operands), equation=equation.replace(" ", ""))


# -- normalization


@writes("batch_norm")
def batch_norm(e, x, scale, offset, mean, variance, training, momentum, epsilon, axis):
    if training:
        raise e.lacks("only evaluation mode can be exported")
    x, back = _channels_second(x, axis)
    return back(e, e("BatchNormalization", x, scale, offset, mean, variance, epsilon=float(epsilon)), x.shape)


def _channels_second(x, axis):
    """Move the channels to axis 1; also returns the inverse."""
    axis = axis % x.ndim
    if axis == 1 or x.ndim == 1:
        return x, lambda e, name, shape: name
    forth = (0, axis, *(a for a in range(1, x.ndim) if a != axis))
    back = tuple(map(forth.index, range(x.ndim)))
    return ops.permute_dims(x, forth), lambda e, name, shape: ops.permute_dims(e.value(name, shape, x.dtype), back)


@writes("layer_norm")
def layer_norm(e, x, scale, offset, epsilon):
    return e("LayerNormalization", x, scale, offset, axis=-scale.ndim, epsilon=float(epsilon))


@writes("instance_norm")
def instance_norm(e, x, scale, offset, epsilon, axis):
    if scale is None or offset is None or axis % x.ndim != 1 or x.ndim < 3:
        return NotImplemented
    return e("InstanceNormalization", x, scale, offset, epsilon=float(epsilon))


@writes("local_response_norm")
def local_response_norm(e, x, size, alpha, beta, k, axis):
    if size % 2 == 0 or axis % x.ndim != 1 or x.ndim != 4:
        return NotImplemented  # ONNX centers an even window on the other side, and ONNX Runtime supports images only
    return e("LRN", x, size=size, alpha=float(alpha), beta=float(beta), bias=float(k))


@writes("causal_mask")
def causal_mask(e, scores):
    queries, keys = scores.shape[-2:]
    if None in (queries, keys):
        seen = ops.astype(ops.tril(ops.ones_like(scores)), "bool")
    else:
        seen = e.constant(np.tril(np.ones((queries, keys), "bool")))
    return e("Where", seen, scores, -math.inf)


# -- convolution


def _pads(pairs) -> list[int]:
    return [before for before, _ in pairs] + [after for _, after in pairs]


def _first(x, data_format: str):
    """Move the channels before the spatial axes, the only order that ONNX has."""
    if data_format == "channels_first":
        return x
    return ops.permute_dims(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def _back(e, name: str, data_format: str):
    if data_format == "channels_first":
        return name
    shape = (e.spec.shape[0], e.spec.shape[-1], *e.spec.shape[1:-1])
    return ops.permute_dims(e.value(name, shape, e.spec.dtype), (0, *range(2, len(shape)), 1))


def convolution(rank: int):
    def write(e, x, kernel, bias, stride, padding, dilation, groups, data_format):
        x = _first(x, data_format)
        window = kernel.shape[2:]
        stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        pads = _pads(pad_pairs(padding, x.shape[2:], window, stride, dilation))
        y = e(
            "Conv",
            x,
            kernel,
            bias,
            kernel_shape=list(window),
            strides=list(stride),
            dilations=list(dilation),
            pads=pads,
            group=groups,
        )
        return _back(e, y, data_format)

    return write


@writes("deform_conv2d")
def deform_conv2d(e, x, offset, kernel, bias, mask, stride, padding, dilation):
    window = kernel.shape[2:]
    stride, dilation = per_axis(stride, 2, "stride"), per_axis(dilation, 2, "dilation")
    return e(
        "DeformConv",
        x,
        kernel,
        offset,
        bias,
        mask,
        kernel_shape=list(window),
        strides=list(stride),
        dilations=list(dilation),
        pads=_pads(pad_pairs(padding, x.shape[2:], window, stride, dilation)),
        group=x.shape[1] // kernel.shape[1],
        offset_group=offset.shape[1] // (2 * window[0] * window[1]),
    )


def transposed_convolution(rank: int):
    def write(e, x, kernel, bias, stride, padding, output_padding, dilation, groups, data_format):
        x = _first(x, data_format)
        window = kernel.shape[2:]
        stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        crops = crop_pairs(padding, window, stride, dilation, output_padding)
        y = e(
            "ConvTranspose",
            x,
            kernel,
            bias,
            kernel_shape=list(window),
            strides=list(stride),
            dilations=list(dilation),
            pads=_pads([(before, max(after, 0)) for before, after in crops]),
            group=groups,
            output_padding=[max(-after, 0) for _, after in crops],
        )
        return _back(e, y, data_format)

    return write


# -- pooling


def _windows(x, kernel_size, stride, padding, dilation, ceil_mode):
    """Window, stride, dilation, padding, and how far the last window extends beyond the end."""
    rank = x.ndim - 2
    window, dilation = per_axis(kernel_size, rank, "kernel_size"), per_axis(dilation, rank, "dilation")
    stride = window if stride is None else per_axis(stride, rank, "stride")
    sizes = x.shape[2:]
    pairs = pad_pairs(padding, sizes, window, stride, dilation)
    over = [0] * rank
    if ceil_mode and None not in sizes:
        counts: Any = window_sizes(sizes, window, stride, padding, dilation, ceil_mode)
        over = [
            max(0, (o - 1) * s + d * (k - 1) + 1 - n - b - a)
            for o, s, d, k, n, (b, a) in zip(counts, stride, dilation, window, sizes, pairs, strict=True)
        ]
    return window, stride, dilation, pairs, over


def max_pool(e, x, kernel_size, stride, padding, dilation, ceil_mode, data_format):
    x = _first(x, data_format)
    window, stride, dilation, pairs, over = _windows(x, kernel_size, stride, padding, dilation, ceil_mode)
    # values beyond the border count as minus infinity; runtimes disagree about ceil_mode, so the padding is explicit
    pairs = [(before, after + more) for (before, after), more in zip(pairs, over, strict=True)]
    if any(max(pair) >= k for pair, k in zip(pairs, window, strict=True)):
        x = ops.pad(x, ((0, 0), (0, 0), *pairs), value=-math.inf)
        pairs = [(0, 0)] * len(pairs)
    y = e(
        "MaxPool",
        x,
        kernel_shape=list(window),
        strides=list(stride),
        dilations=list(dilation),
        pads=_pads(pairs),
        ceil_mode=int(ceil_mode and None in x.shape[2:]),
    )
    return _back(e, y, data_format)


def avg_pool(e, x, kernel_size, stride, padding, ceil_mode, count_include_pad, data_format):
    x = _first(x, data_format)
    window, stride, _, pairs, over = _windows(x, kernel_size, stride, padding, 1, ceil_mode)
    if ceil_mode and None in x.shape[2:]:
        raise e.lacks("ceil_mode wants known spatial sizes")
    counted = count_include_pad and padding != "same"
    attributes = {"kernel_shape": list(window), "strides": list(stride)}
    if not any(over):
        y = e("AveragePool", x, **attributes, pads=_pads(pairs), count_include_pad=int(counted))
        return _back(e, y, data_format)
    border = [(before, after + more) for (before, after), more in zip(pairs, over, strict=True)]
    sums = e("AveragePool", ops.pad(x, ((0, 0), (0, 0), *border)), **attributes)
    share = np.ones(())
    for n, k, s, (before, after), more in zip(x.shape[2:], window, stride, pairs, over, strict=True):
        line = np.pad(np.pad(np.ones(n), (before, after), constant_values=float(counted)), (0, more))
        line = np.lib.stride_tricks.sliding_window_view(line, k)[::s].sum(-1)
        share = share[..., None] * (k / line)
    return _back(e, e("Mul", sums, e.constant(share, x.dtype)), data_format)


# -- images


def _resize_attributes(mode: str, align_corners: bool, antialias: bool):
    """ONNX's attributes for a mode, None where no attributes mean the same."""
    if antialias or mode == "area":
        return None
    if mode in ("nearest", "nearest_exact"):
        return {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    corners = "align_corners" if align_corners else "half_pixel"
    if mode in ("cubic", "bicubic"):
        return {"mode": "cubic", "coordinate_transformation_mode": corners, "cubic_coeff_a": -0.75}
    return {"mode": "linear", "coordinate_transformation_mode": corners}


@writes("interpolate")
def interpolate(e, x, size, scale, mode, align_corners, antialias, data_format):
    first = _first(x, data_format)
    sizes, attributes = first.shape[2:], _resize_attributes(mode, align_corners, antialias)
    if attributes is None or (attributes["mode"] == "cubic" and len(sizes) != 2):
        return NotImplemented
    if None in sizes:
        return _resize_by_scale(e, x, first, scale, align_corners, attributes, data_format)
    wanted: Any = rules.interpolated_sizes(sizes, size, scale)
    exact = all(m % n == 0 for n, m in zip(sizes, wanted, strict=True))
    if attributes["mode"] == "nearest" and not exact:
        return NotImplemented  # rounding may select the other neighbor
    if align_corners or scale is None:
        ratios = [_ratio(n, m) for n, m in zip(sizes, wanted, strict=True)]
    else:
        ratios = [np.float32(Fraction(r).limit_denominator(10**6)) for r in rules.factors(scale, sizes)]
    if [int(n * float(r)) for n, r in zip(sizes, ratios, strict=True)] != list(wanted):
        return NotImplemented
    # not by sizes, which would need the batch size
    y = e("Resize", first, None, e.constant(np.array([1, 1, *ratios], "float32")), **attributes)
    return _back(e, y, data_format)


def _resize_by_scale(e, x, first, scale, align_corners, attributes, data_format):
    """A resize of unknown sizes, where a scale is all that it needs."""
    exact = () if scale is None else rules.factors(scale, first.shape[2:])
    whole = all(float(np.float32(q)) == float(q) and (q == int(q) or attributes["mode"] != "nearest") for q in exact)
    if not exact or not whole or align_corners:
        raise e.lacks("a size, or a scale that is not a whole number, needs an input of known spatial sizes")
    y = e("Resize", first, None, e.constant(np.array([1, 1, *exact], "float32")), **attributes)
    return _back(e, y, data_format)


@writes("interpolate_like")
def interpolate_like(e, x, like, mode, align_corners, antialias):
    if None not in (*x.shape[2:], *like.shape[2:]):
        return ops.interpolate(x, like.shape[2:], mode=mode, align_corners=align_corners, antialias=antialias)
    attributes = _resize_attributes(mode, align_corners, antialias)
    if attributes is None or mode == "nearest_exact" or (attributes["mode"] == "cubic" and x.ndim != 4):
        raise e.lacks(f"mode {mode!r} needs an input of known spatial sizes")
    sizes = e("Concat", e("Shape", x, start=0, end=2), e("Shape", like, start=2), axis=0)
    return e("Resize", x, None, None, sizes, **attributes)


def _ratio(n: int, m: int):
    """The factor from one size to another, rounded so that it does not give one less."""
    ratio = np.float32(m / n)
    return ratio if n * float(ratio) >= m else np.nextafter(ratio, np.float32(np.inf))


_SAMPLING = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}


@writes("grid_sample")
def grid_sample(e, x, grid, mode, padding, align_corners, data_format):
    y = e(
        "GridSample",
        _first(x, data_format),
        grid,
        mode=_SAMPLING[mode],
        padding_mode=padding,
        align_corners=int(align_corners),
    )
    return _back(e, y, data_format)


for rank in (1, 2, 3):
    writes(f"conv{rank}d")(convolution(rank))
for rank in (1, 2, 3):
    writes(f"conv_transpose{rank}d")(transposed_convolution(rank))
for rank in (1, 2, 3):
    writes(f"max_pool{rank}d")(max_pool)
for rank in (1, 2, 3):
    writes(f"avg_pool{rank}d")(avg_pool)
