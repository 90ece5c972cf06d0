"""ONNX readers of image operators: resizing and grid sampling."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from labdl.saving.onnx.importer.dynamic_shapes import Size
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import reads


@reads("Resize")
def resize(r, node, x, roi=None, scales=None, sizes=None):
    a = node.attributes
    rank = len(x.shape)
    mode, where = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
    along = [axis % rank for axis in a.get("axes", range(rank))]
    if isinstance(scales, KnownValue) and scales.array.size:
        ratios = [1.0] * rank
        for axis, ratio in zip(along, scales.array.tolist(), strict=True):
            ratios[axis] = ratio
        options = {"scale": tuple(ratios[2:])}
        wanted = [None if n is None else int(n * q) for n, q in zip(x.shape, ratios, strict=True)]
    elif not isinstance(sizes, KnownValue):
        raise r.refuse(node, "computes its sizes at run time, and LabDL needs them at import")
    elif (like := _tensor_of_sizes(sizes.array, along, rank)) is not None:
        settings = _interpolation_options(a, mode, where, (None,) * (rank - 2))
        if settings is None or a.get("antialias") or a.get("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise r.refuse(node, f"resizes in a way that LabDL does not support (mode {mode}, {where})")
        return r.call("interpolate_like", x, like, **settings)
    else:
        wanted = list(x.shape)
        for axis, n in zip(along, sizes.array.tolist(), strict=True):  # unknown sizes stay unknown
            wanted[axis] = n if isinstance(n, int) else x.shape[axis]
        if None in wanted[2:]:
            raise r.refuse(node, "resizes to sizes that are computed at run time, and not to those of another tensor")
        options, ratios = {"size": tuple(wanted[2:])}, [1.0, 1.0]
    if mode == "nearest" and None not in (*x.shape[2:], *wanted[2:]):
        scales = [Fraction(q).limit_denominator(10**6) for q in options.get("scale", ())]
        spatial: list[Any] = [*zip(x.shape[2:], wanted[2:], scales or [None] * (rank - 2), strict=True)]
        places = [_nearest_places(n, m, q, where, a.get("nearest_mode", "round_prefer_floor")) for n, m, q in spatial]
    else:
        spatial, places = [], []
    unchanged = ratios[:2] == [1.0, 1.0] and all(n in (m, None) for n, m in zip(x.shape[:2], wanted[:2], strict=True))
    settings = _interpolation_options(a, mode, where, wanted[2:])
    has_places = bool(places) and None not in places
    if has_places:
        settings = next(({"mode": own} for own in _NEAREST if places == [_NEAREST[own](*s) for s in spatial]), None)
    if (
        (settings is None and not has_places)
        or not unchanged
        or a.get("antialias")
        or a.get("keep_aspect_ratio_policy", "stretch") != "stretch"
    ):
        raise r.refuse(node, f"resizes in a way that LabDL does not support (mode {mode}, {where})")
    if settings is None:  # neighbors that none of LabDL's modes has
        for axis, listed in enumerate(places, 2):
            x = r.call("take", x, KnownValue(np.array(listed, "int64")), axis=axis)
        return x
    return r.call("interpolate", x, **options, **settings)


def _nearest_places(n: int, m: int, scale: Fraction | None, where: str, rounding: str) -> list[int] | None:
    """The positions of the nearest neighbors along an axis, as the specification of Resize has them."""
    q = Fraction(m, n) if scale is None else scale
    half = Fraction(1, 2)
    if where == "half_pixel_symmetric":
        offset = Fraction(n, 2) * (1 - m / (q * n))
        exact = [offset + (i + half) / q - half for i in range(m)]
    elif where == "half_pixel" or (where == "pytorch_half_pixel" and m > 1):
        exact = [(i + half) / q - half for i in range(m)]
    elif where == "asymmetric":
        exact = [i / q for i in range(m)]
    elif where == "align_corners" and m > 1:
        exact = [Fraction(i * (n - 1), m - 1) for i in range(m)]
    elif where in ("pytorch_half_pixel", "align_corners"):
        exact = [Fraction(0)] * m
    else:
        return None
    return [min(max(_ROUNDING[rounding](x), 0), n - 1) for x in exact]


_ROUNDING: dict[str, Callable[[Fraction], int]] = {
    "round_prefer_floor": lambda x: math.ceil(x - Fraction(1, 2)),
    "round_prefer_ceil": lambda x: math.floor(x + Fraction(1, 2)),
    "floor": math.floor,
    "ceil": math.ceil,
}


def _own_places(n: int, m: int, scale: Fraction | None, shift: Fraction) -> list[int]:
    step = Fraction(n, m) if scale is None else 1 / scale
    return [min(math.floor((i + shift) * step), n - 1) for i in range(m)]


_NEAREST: dict[str, Callable[..., list[int]]] = {
    "nearest": functools.partial(_own_places, shift=Fraction(0)),
    "nearest_exact": functools.partial(_own_places, shift=Fraction(1, 2)),
}


def _tensor_of_sizes(sizes: np.ndarray, along: list[int], rank: int):
    """The tensor whose unknown spatial sizes these are, None unless all are those of one tensor."""
    spatial = {axis: n for axis, n in zip(along, sizes, strict=True) if axis > 1}
    first = next((n for n in spatial.values() if isinstance(n, Size)), None)
    like = None if first is None else first.tensor
    if like is None or len(like.shape) != rank or len(spatial) != rank - 2:
        return None
    same = (
        n.tensor is like and n.axis == axis if isinstance(n, Size) else n == like.shape[axis]
        for axis, n in spatial.items()
    )
    return like if all(same) else None


def _interpolation_options(a, mode: str, where: str, wanted):
    """LabDL's options for a resize mode, None if unsupported."""
    if mode == "nearest":  # of known sizes, the neighbors decide
        rounding = a.get("nearest_mode", "round_prefer_floor")
        if (where, rounding) == ("asymmetric", "floor"):
            return {"mode": "nearest"}
        return {"mode": "nearest_exact"} if (where, rounding) == ("half_pixel", "round_prefer_ceil") else None
    if where not in ("half_pixel", "pytorch_half_pixel", "align_corners") or (where[0] == "p" and 1 in wanted):
        return None
    if mode == "cubic" and not np.isclose(a.get("cubic_coeff_a", -0.75), -0.75):
        return None
    return {"mode": mode, "align_corners": where == "align_corners"} if mode in ("linear", "cubic") else None


_SAMPLING = {
    "linear": "bilinear",
    "bilinear": "bilinear",
    "nearest": "nearest",
    "cubic": "bicubic",
    "bicubic": "bicubic",
}


@reads("GridSample")
def grid_sample(r, node, x, grid):
    a = node.attributes
    return r.call(
        "grid_sample",
        x,
        grid,
        mode=_SAMPLING[a.get("mode", "linear")],
        padding=a.get("padding_mode", "zeros"),
        align_corners=bool(a.get("align_corners", 0)),
    )
