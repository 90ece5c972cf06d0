"""Image operators: resizing, grid sampling, rearranging of channels (PyTorch's semantics)."""

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from labdl.ops import rules
from labdl.ops.array.indexing import getitem
from labdl.ops.array.shape import astype, expand_dims, pad, permute_dims, reshape, take, take_along_axis
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import add, clip, divide, floor, multiply, round, subtract
from labdl.ops.math.comparison import greater_equal, less_equal, logical_and, where
from labdl.ops.math.products import matmul
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.activation import hardtanh
from labdl.ops.neural.linear import tensor_like
from labdl.ops.neural.windows import adaptive, sizes_of, table
from labdl.ops.operator import Choice, case, floats, operator


def _first(x, data_format: str):
    """Move the channels before the spatial axes."""
    rank = len(x.shape)
    return x if data_format == "channels_first" else permute_dims(x, (0, rank - 1, *range(1, rank - 1)))


def _like(y, data_format: str):
    """Convert a channels-first result to ``data_format``."""
    return y if data_format == "channels_first" else permute_dims(y, (0, *range(2, len(y.shape)), 1))


def _linear(t):
    return np.maximum(1 - np.abs(t), 0)


def _cubic(t, a: float):
    """The cubic convolution kernel (Keys, 1981)."""
    t = np.abs(t)
    near, far = ((a + 2) * t - (a + 3)) * t * t + 1, ((t - 5) * t + 8) * t * a - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


@functools.lru_cache(256)
def _taps(n: int, m: int, mode: str, step: Fraction, align_corners: bool, antialias: bool):
    """For each of ``m`` output positions: positions among ``n`` elements and their weights, as two tables."""
    if mode == "area":
        return table(adaptive(n, m))
    at = np.arange(m)
    if mode.startswith("nearest"):
        # in integers: rounding could select the wrong neighbor
        half = int(mode == "nearest_exact")
        places = [min((2 * i + half) * step.numerator // (2 * step.denominator), n - 1) for i in range(m)]
        return np.array(places)[:, None], np.ones((m, 1))
    if antialias:
        return _wide_taps(n, at, mode, float(step))
    places = at * float(step) if align_corners else (at + 0.5) * float(step) - 0.5
    if mode == "linear":
        places = np.maximum(places, 0)
        offsets = np.arange(2)
    else:
        offsets = np.arange(-1, 3)
    low = np.floor(places).astype("int64")[:, None]
    distances = places[:, None] - low - offsets
    weights = _linear(distances) if mode == "linear" else _cubic(distances, -0.75)
    return np.clip(low + offsets, 0, n - 1), weights


def _wide_taps(n: int, at, mode: str, step: float):
    """Taps that widen with the step, so that no element is skipped."""
    reach, stretch = (1 if mode == "linear" else 2) * max(step, 1.0), max(step, 1.0)
    parts, weights = [], []
    for center in step * (at + 0.5):
        part = range(max(int(center - reach + 0.5), 0), min(int(center + reach + 0.5), n))
        distances = (np.array(part) - center + 0.5) / stretch
        shares = _linear(distances) if mode == "linear" else _cubic(distances, -0.5)
        parts.append(part)
        weights.append(shares / shares.sum())
    return table(parts, weights)


_KIND = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


@operator(
    rules.interpolate,
    case(floats(2, 3, 3, 4), 5),
    case(floats(2, 3, 4), scale=2.0, mode="linear"),
    case(floats(1, 2, 3, 4), (5, 3), mode="nearest_exact"),
    case(floats(1, 2, 3, 4), (5, 7), mode="bilinear"),
    case(floats(1, 3, 4, 2), (5, 6), mode="bilinear", align_corners=True, data_format="channels_last"),
    case(floats(1, 1, 5, 6), (3, 2), mode="bilinear", antialias=True),
    case(floats(1, 1, 4, 5), scale=(1.5, 0.5), mode="bicubic"),
    case(floats(1, 1, 6, 5), (3, 7), mode="bicubic", antialias=True),
    case(floats(1, 1, 4, 3), (6, 5), mode="bicubic", align_corners=True),
    case(floats(1, 2, 5, 4), (3, 2), mode="area"),
    case(floats(1, 1, 2, 3, 3), (3, 2, 5), mode="trilinear"),
    composite=True,
    options={"mode": Choice(*rules.MODES)},
)
def interpolate(
    x, size=None, scale=None, *, mode="nearest", align_corners=False, antialias=False, data_format="channels_first"
):
    """x (N, C, ...) resized over one to three spatial axes, to a ``size`` or by a ``scale`` (a number, or one per axis).

    Modes: "nearest", "nearest_exact", "area", "linear" (also "bilinear", "trilinear"), "cubic" (also "bicubic").
    ``align_corners`` aligns the centers of the corners, else the outer edges; ``antialias`` averages over all elements
    when shrinking, in linear and cubic modes. Spatial sizes must be known. Semantics:
    torch.nn.functional.interpolate (nearest_exact is its nearest-exact; both are computed exactly here, while PyTorch's
    rounding selects the other neighbor for some sizes).
    """
    kind = _KIND.get(mode, mode)
    shape = sizes_of(x)
    begin = 2 if data_format == "channels_first" else 1
    sizes = shape[begin : len(shape) - 2 + begin]
    if None in sizes:
        raise ValueError(f"interpolate wants known spatial sizes, received {sizes}")
    wanted = rules.interpolated_sizes(sizes, size, scale)
    ratios = (None,) * len(sizes) if scale is None else rules.factors(scale, sizes)
    for axis, (n, m, ratio) in enumerate(zip(sizes, wanted, ratios, strict=True), begin):
        if kind in ("linear", "cubic") and align_corners:
            step = Fraction(n - 1, m - 1) if m > 1 else Fraction(0)
        else:
            step = Fraction(n, m) if ratio is None else 1 / Fraction(ratio).limit_denominator(10**6)
        if n == m and (step in (0, 1) or kind == "area"):
            continue
        x = _resample(x, axis, *_taps(n, m, kind, step, align_corners, antialias))
    return x


def _resample(x, axis: int, places, weights):
    """Weighted sums of the elements at positions (out, taps) along an axis."""
    if places.shape[1] == 1:
        return take(x, tensor_like(x, places[:, 0], "int64"), axis=axis)
    picked = take(x, tensor_like(x, places, "int64"), axis=axis)  # the axis has become two: places and taps
    wide = weights.reshape(*weights.shape, *(1,) * (len(x.shape) - axis - 1))
    return total(multiply(picked, tensor_like(x, wide)), axis=axis + 1)


@operator(
    rules.affine_grid,
    case(floats(2, 2, 3), (3, 4)),
    case(floats(1, 2, 3), (2, 3), align_corners=True),
    case(floats(2, 3, 4), (2, 3, 2)),
    composite=True,
)
def affine_grid(theta, size, *, align_corners=False):
    """Source coordinates of each point of an image of ``size`` (H, W) or (D, H, W): (N, *size, 2 or 3), for `grid_sample`.

    theta (N, 2, 3) or (N, 3, 4) maps (x, y, [z,] 1); coordinates run from -1 to 1, between the centers of the corners
    with ``align_corners``, else between the outer edges. Semantics: torch.nn.functional.affine_grid.
    """
    sizes = tuple(size)
    lines = [
        np.zeros(n) if n == 1 and align_corners else np.linspace(-1, 1, n) * (1 if align_corners else (n - 1) / n)
        for n in sizes
    ]
    points = [*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(sizes)]
    base = np.stack(points, axis=-1).reshape(-1, len(sizes) + 1)
    return reshape(matmul(tensor_like(theta, base), permute_dims(theta, (0, 2, 1))), (-1, *sizes, len(sizes)))


_INSIDE: Any = {"low": -1.2, "high": 1.2}


@operator(
    rules.interpolate_like,
    case(floats(1, 2, 3, 4), floats(1, 1, 6, 5)),
    case(floats(1, 2, 4), floats(1, 3, 7), mode="linear"),
    composite=True,
    options={"mode": Choice(*rules.MODES)},
)
def interpolate_like(x, like, *, mode="nearest", align_corners=False, antialias=False):
    """x (N, C, ...) resized to the spatial sizes of another tensor, as `interpolate` does: a decoder to its skip connection."""
    return interpolate(x, sizes_of(like)[2:], mode=mode, align_corners=align_corners, antialias=antialias)


@operator(
    rules.crop_or_pad_like,
    case(floats(1, 2, 3, 6), floats(1, 1, 6, 3)),
    case(floats(1, 2, 4), floats(1, 3, 4)),
    case(floats(1, 1, 2, 5, 4), floats(1, 2, 4, 2, 5)),
    composite=True,
)
def crop_or_pad_like(x, like):
    """x (N, C, ...) cropped, or padded with zeros, to the spatial sizes of another tensor: a decoder to its skip connection.

    Half of the difference is at each end, of an odd one the larger half at the last. Spatial sizes must be known.
    Semantics: tf.image.resize_with_crop_or_pad.
    """
    sizes, target_sizes = sizes_of(x)[2:], sizes_of(like)[2:]
    if None in (*sizes, *target_sizes):
        raise ValueError(f"crop_or_pad_like wants known spatial sizes, received {sizes} and {target_sizes}")
    for axis, (n, m) in enumerate(zip(sizes, target_sizes, strict=True), 2):
        before = abs(n - m) // 2
        if n > m:
            x = getitem(x, (*(slice(None),) * axis, slice(before, before + m)))
        elif n < m:
            x = pad(x, [(before, m - n - before) if at == axis else (0, 0) for at in range(len(sizes) + 2)])
    return x


@operator(
    rules.grid_sample,
    case(floats(2, 3, 4, 5), floats(2, 3, 2, 2, **_INSIDE)),
    case(floats(1, 2, 4, 5), floats(1, 3, 2, 2, **_INSIDE), padding="border", align_corners=True),
    case(floats(1, 2, 4, 5), floats(1, 3, 2, 2), padding="reflection"),
    case(floats(1, 2, 4, 5), floats(1, 3, 2, 2), padding="reflection", align_corners=True, mode="bicubic"),
    case(floats(1, 4, 5, 2), floats(1, 3, 2, 2, **_INSIDE), mode="bicubic", data_format="channels_last"),
    case(floats(1, 2, 4, 5), floats(1, 3, 2, 2, **_INSIDE), mode="nearest"),
    case(floats(1, 2, 3, 4, 2), floats(1, 2, 1, 3, 3, **_INSIDE)),
    composite=True,
    precision="float32",
    options={"mode": Choice("bilinear", "nearest", "bicubic"), "padding": Choice("zeros", "border", "reflection")},
)
def grid_sample(x, grid, *, mode="bilinear", padding="zeros", align_corners=False, data_format="channels_first"):
    """x (N, C, H, W) or (N, C, D, H, W) at the coordinates ``grid`` (N, ..., 2 or 3), which run from -1 to 1 as (x, y, [z]).

    mode: "bilinear" (over all axes), "nearest", "bicubic". ``padding`` outside: "zeros", "border", or
    "reflection". ``align_corners`` as in `affine_grid`. Semantics: torch.nn.functional.grid_sample (Jaderberg et al., 2015).
    """
    x = _first(x, data_format)
    channels, *sizes = sizes_of(x)[1:]
    points = sizes_of(grid)[1:-1]
    flat = reshape(x, (-1, channels, math.prod(sizes)))
    places = reshape(grid, (-1, math.prod(points), len(sizes)))
    axes = [_axis_taps(places[..., len(sizes) - 1 - a], n, mode, padding, align_corners) for a, n in enumerate(sizes)]
    spread = tensor_like(x, np.zeros((1, channels, 1)), "int64")
    result = None
    for corner in itertools.product(*axes):
        place, weight, inside = None, None, None
        for n, (at, share, within) in zip(sizes, corner, strict=True):
            place = at if place is None else add(multiply(place, n), at)
            weight = share if weight is None or share is None else multiply(weight, share)
            inside = within if inside is None else logical_and(inside, within)
        found = take_along_axis(flat, add(expand_dims(place, 1), spread), axis=2)
        found = where(expand_dims(inside, 1), found, 0.0)
        part = found if weight is None else multiply(found, expand_dims(weight, 1))
        result = part if result is None else add(result, part)
    return _like(reshape(result, (-1, channels, *points)), data_format)


def _axis_taps(at, n: int, mode: str, padding: str, align_corners: bool):
    """The elements of one axis for coordinates from -1 to 1: (position, weight, inside) of each."""
    at = (
        multiply(add(at, 1.0), (n - 1) / 2)
        if align_corners
        else multiply(subtract(multiply(add(at, 1.0), n), 1.0), 0.5)
    )
    if mode == "bicubic":
        low = floor(at)
        shares = _cubic_shares(subtract(at, low))
        return [
            _tap(_apply_padding(add(low, k - 1.0), n, padding, align_corners), share, n)
            for k, share in enumerate(shares)
        ]
    at = _apply_padding(at, n, padding, align_corners)
    if mode == "nearest":
        return [_tap(round(at), None, n)]
    low = floor(at)
    high = add(low, 1.0)
    return [_tap(low, subtract(high, at), n), _tap(high, subtract(at, low), n)]


def _tap(place, share, n: int):
    inside = logical_and(greater_equal(place, 0.0), less_equal(place, n - 1.0))
    # NaN positions become valid positions, whose values are ignored
    return clip(astype(where(inside, place, 0.0), "int64"), 0, n - 1), share, inside


def _cubic_shares(t):
    """Weights of the four neighbors of a point at distance ``t`` after the second."""
    a = -0.75
    shares = []
    for distance in (add(t, 1.0), t, subtract(1.0, t), subtract(2.0, t)):
        if len(shares) in (1, 2):
            inner = subtract(multiply(distance, a + 2), a + 3)
            shares.append(add(multiply(multiply(inner, distance), distance), 1.0))
        else:
            outer = add(multiply(subtract(distance, 5.0), distance), 8.0)
            shares.append(multiply(subtract(multiply(outer, distance), 4.0), a))
    return shares


def _apply_padding(at, n: int, padding: str, align_corners: bool):
    """Map coordinates inside, by the padding mode."""
    if padding == "zeros":
        return at
    if padding == "reflection":
        start, span = (0.0, n - 1.0) if align_corners else (-0.5, float(n))
        if span == 0:
            return multiply(at, 0.0)
        at = subtract(at, start)
        rest = subtract(at, multiply(floor(divide(at, 2 * span)), 2 * span))  # from 0 to 2 * span
        at = subtract(start + span, absolute(subtract(rest, span)))
    return hardtanh(at, 0.0, n - 1.0)  # as a clip, with the slope 0 at its limits


@operator(
    rules.pixel_shuffle,
    case(floats(2, 8, 2, 3), 2),
    case(floats(1, 2, 3, 9), 3, data_format="channels_last"),
    composite=True,
    cost=0,
)
def pixel_shuffle(x, factor, *, data_format="channels_first"):
    """Channels rearranged to space: (N, C * factor², H, W) becomes (N, C, H * factor, W * factor) (Shi et al., 2016).

    Semantics: torch.nn.functional.pixel_shuffle.
    """
    x = _first(x, data_format)
    channels, height, width = sizes_of(x)[1:]
    y = reshape(x, (-1, channels // factor**2, factor, factor, height, width))
    y = reshape(permute_dims(y, (0, 1, 4, 2, 5, 3)), (-1, channels // factor**2, height * factor, width * factor))
    return _like(y, data_format)


@operator(
    rules.pixel_unshuffle,
    case(floats(2, 2, 4, 6), 2),
    case(floats(1, 6, 3, 1), 3, data_format="channels_last"),
    composite=True,
    cost=0,
)
def pixel_unshuffle(x, factor, *, data_format="channels_first"):
    """Space rearranged to channels: the inverse of `pixel_shuffle`. Semantics: torch.nn.functional.pixel_unshuffle."""
    x = _first(x, data_format)
    channels, height, width = sizes_of(x)[1:]
    y = reshape(x, (-1, channels, height // factor, factor, width // factor, factor))
    y = reshape(permute_dims(y, (0, 1, 3, 5, 2, 4)), (-1, channels * factor**2, height // factor, width // factor))
    return _like(y, data_format)


@operator(
    rules.channel_shuffle,
    case(floats(2, 6, 2, 2), 3),
    case(floats(2, 3, 4), 2, data_format="channels_last"),
    composite=True,
    cost=0,
)
def channel_shuffle(x, groups, *, data_format="channels_first"):
    """Channels shuffled, so that each group gets some of every other (Zhang et al., 2017).

    Semantics: torch.nn.functional.channel_shuffle.
    """
    at = 1 if data_format == "channels_first" else len(x.shape) - 1
    channels = sizes_of(x)[at]
    order = np.arange(channels).reshape(groups, -1).T.reshape(-1)
    return take(x, tensor_like(x, order, "int64"), axis=at)
