"""Deformable convolution (Dai et al., 2017; with a mask Zhu et al., 2019)."""

from typing import Any

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import costs, rules
from labdl.ops.array.shape import astype, reshape, take_along_axis
from labdl.ops.math.arithmetic import add, clip, floor, multiply, subtract
from labdl.ops.math.comparison import greater_equal, isfinite, less_equal, logical_and, where
from labdl.ops.math.products import matmul
from labdl.ops.neural.linear import tensor_like
from labdl.ops.neural.windows import sizes_of
from labdl.ops.operator import case, floats, operator
from labdl.ops.precision.float32 import _narrow, _wide
from labdl.spec import pad_pairs, per_axis

_OFFSETS: dict[str, Any] = {"low": -1.4, "high": 1.4}


@operator(
    rules.deform_conv2d,
    case(floats(2, 3, 5, 6), floats(2, 18, 5, 6, **_OFFSETS), floats(4, 3, 3, 3), floats(4), padding=1),
    case(
        floats(1, 4, 6, 5),
        floats(1, 24, 3, 3, **_OFFSETS),
        floats(4, 2, 3, 2),
        mask=floats(1, 12, 3, 3, low=0),
        stride=2,
        padding=((1, 0), (1, 1)),
        dilation=(1, 2),
    ),
    case(floats(2, 2, 4, 4), floats(2, 8, 3, 3, **_OFFSETS), floats(2, 2, 2, 2)),
    composite=True,
    checked=True,
    cost=costs.deform_conv,
    precision="float32",
)
def deform_conv2d(x, offset, kernel, bias=None, mask=None, *, stride=1, padding=0, dilation=1):
    """2-d convolution of x (N, C, H, W) whose elements are read at shifted positions, by bilinear interpolation.

    ``kernel`` (out, in / groups, KH, KW); ``offset`` (N, 2 * offset_groups * KH * KW, OH, OW) has a shift (y, x) in elements
    of x for each element of the window and each place of the result, ``mask`` (N, offset_groups * KH * KW, OH, OW) a factor.
    Groups, and groups of channels with shifts of their own, follow from the sizes. Outside of x there are zeros.
    ``padding`` as in `conv2d`. Semantics: torchvision.ops.deform_conv2d.
    """
    given = x, kernel, offset
    x, kernel, offset = _wide(x), _wide(kernel), _wide(offset)
    channels, *sizes = sizes_of(x)[1:]
    out, per_group, *window = sizes_of(kernel)
    places, elements = sizes_of(offset)[2:], window[0] * window[1]
    shared = sizes_of(offset)[1] // (2 * elements)
    points = elements * places[0] * places[1]
    bases = _convolution_positions(sizes, window, places, stride, padding, dilation)
    shifts = reshape(offset, (-1, shared, elements, 2, places[0] * places[1]))
    at = [
        reshape(add(shifts[:, :, :, axis], tensor_like(offset, base)), (-1, shared, 1, points))
        for axis, base in enumerate(bases)
    ]
    read = _bilinear(reshape(x, (-1, shared, channels // shared, sizes[0] * sizes[1])), at, sizes)
    if mask is not None:
        read = multiply(read, reshape(_wide(mask), (-1, shared, 1, points)))
    groups = channels // per_group
    columns = reshape(read, (-1, groups, per_group * elements, places[0] * places[1]))
    result = matmul(reshape(kernel, (groups, out // groups, per_group * elements)), columns)
    result = reshape(result, (-1, out, *places))
    return _narrow(result if bias is None else add(result, reshape(_wide(bias), (-1, 1, 1))), *given)


def _convolution_positions(sizes, window, places, stride, padding, dilation):
    """The rows and the columns that a convolution reads, (elements of the window, places), as floats."""
    stride, dilation = per_axis(stride, 2, "stride"), per_axis(dilation, 2, "dilation")
    pairs = pad_pairs(padding, sizes, window, stride, dilation)
    lines = [
        np.arange(k)[:, None] * d + np.arange(n) * s - before
        for k, d, n, s, (before, _) in zip(window, dilation, places, stride, pairs, strict=True)
    ]
    rows, columns = lines[0][:, None, :, None], lines[1][None, :, None, :]
    shape = (window[0], window[1], *places)
    return [np.broadcast_to(v, shape).reshape(window[0] * window[1], -1).astype("float64") for v in (rows, columns)]


def _bilinear(flat, at, sizes):
    """Elements of pictures (..., channels, H * W) at rows and columns (..., 1, points); zeros outside."""
    corners = []
    for place, size in zip(at, sizes, strict=True):
        low = floor(place)
        share = subtract(place, low)
        corners.append([(low, subtract(1.0, share), size), (add(low, 1.0), share, size)])
    spread = tensor_like(flat, np.zeros((spec_of(flat).shape[-2], 1)), "int64")  # type: ignore[arg-type]
    result = None
    for row, row_share, height in corners[0]:
        for column, column_share, width in corners[1]:
            inside = logical_and(_is_inside(row, height), _is_inside(column, width))
            position = add(multiply(_position(row, height), width), _position(column, width))
            found = where(inside, take_along_axis(flat, add(position, spread), axis=-1), 0.0)
            part = multiply(found, multiply(row_share, column_share))
            result = part if result is None else add(result, part)
    return result


def _is_inside(place, size: int):
    return logical_and(greater_equal(place, 0.0), less_equal(place, size - 1.0))


def _position(place, size: int):
    """A valid position also for what is outside or not finite."""
    return astype(clip(where(isfinite(place), place, 0.0), 0.0, size - 1.0), "int64")
