"""ONNX readers of image operators: resizing and grid sampling."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from labdl.saving.onnx.importer.at_run_time import resizing
from labdl.saving.onnx.importer.dynamic_shapes import Size
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import reads
from labdl.spec import FLOATS


@reads("Resize")
def resize(r, node, x, roi=None, scales=None, sizes=None):
    a = node.attributes
    if _are_computed(a, roi, scales, sizes):
        return resizing.resize(r, node, x, roi, scales, sizes)
    rank = len(x.shape)
    mode, where = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
    along = [axis % rank for axis in a.get("axes", range(rank))]
    policy = a.get("keep_aspect_ratio_policy", "stretch")
    file_ratios: list[Any] = [None] * rank  # the ratios of the file
    target = list(x.shape)
    if isinstance(scales, KnownValue) and scales.array.size:
        for axis, ratio in zip(along, scales.array.tolist(), strict=True):
            n, file_ratios[axis] = x.shape[axis], ratio
            # in float32, as ONNX Runtime and PyTorch do: 5 * 1.4 is 7
            target[axis] = None if n is None else int(np.float32(n) * np.float32(ratio))
    elif not isinstance(sizes, KnownValue):
        raise r.needs(node, scales if sizes is None else sizes, "sizes")
    elif (like := _tensor_of_sizes(sizes.array, along, rank)) is not None:
        settings = _interpolation_options(a, mode, where, (None,) * (rank - 2))
        if settings is None or a.get("antialias") or policy != "stretch":
            raise r.refuse(node, f"resizes to unknown sizes in a way that LabDL does not support ({mode}, {where})")
        return r.call("interpolate_like", x, like, **settings)
    else:
        for axis, n in zip(along, sizes.array.tolist(), strict=True):  # unknown sizes stay unknown
            target[axis] = n if isinstance(n, int) else x.shape[axis]
        if policy != "stretch":
            target, file_ratios = _keep_aspect(r, node, x.shape, target, along, policy)
    changed = [axis for axis in along if file_ratios[axis] not in (None, 1.0) or target[axis] != x.shape[axis]]
    if where == "tf_crop_and_resize":
        changed = list(along)
    elif (result := _interpolate(r, node, x, target, file_ratios, changed, mode, where)) is not None:
        return result
    if any(x.shape[axis] is None or target[axis] is None for axis in changed):
        raise r.refuse(node, f"resizes axes of unknown size in a way that LabDL does not support ({mode}, {where})")
    regions = {axis: None for axis in along}
    if where == "tf_crop_and_resize":
        if not isinstance(roi, KnownValue):
            raise r.needs(node, roi, "region")
        edges = roi.array.astype("float64").tolist()
        regions = {axis: (edges[at], edges[at + len(along)]) for at, axis in enumerate(along)}
    return resize_axes(r, node, x, [AxisSizes(a, x.shape[a], target[a], file_ratios[a], regions[a]) for a in changed])


def _are_computed(a, roi, scales, sizes) -> bool:
    """Whether the model computes sizes, scales or the region of a crop, and not only from sizes."""
    region = roi if a.get("coordinate_transformation_mode") == "tf_crop_and_resize" else None
    return any(v is not None and not isinstance(v, KnownValue) for v in (region, scales, sizes))


def _keep_aspect(r, node, shape, wanted, along, policy: str):
    """Sizes and ratios where all axes are scaled by one ratio."""
    if None in [shape[axis] for axis in along] or policy not in ("not_larger", "not_smaller"):
        raise r.refuse(node, f"keeps the ratio of unknown sizes, or has the unknown policy {policy!r}")
    ratios = [wanted[axis] / shape[axis] for axis in along]
    ratio = (min if policy == "not_larger" else max)(ratios)
    sizes, given = list(shape), [None] * len(shape)
    for axis in along:
        sizes[axis], given[axis] = math.floor(ratio * shape[axis] + 0.5), ratio
    return sizes, given


def _interpolate(r, node, x, wanted, given, changed, mode: str, where: str):
    """The result of LabDL's own interpolation, None where that computes something else."""
    a = node.attributes
    spatial = range(2, len(x.shape))
    whole = all(given[v] is None or x.shape[v] is None or x.shape[v] * given[v] == wanted[v] for v in changed)
    if a.get("antialias") or a.get("exclude_outside") or any(axis < 2 for axis in changed) or not whole or not spatial:
        return None
    if mode == "nearest" and None not in [*x.shape[2:], *wanted[2:]]:
        return None  # its neighbors are looked up by their places
    settings = _interpolation_options(a, mode, where, wanted[2:])
    if settings is None:
        return None
    if None in wanted[2:] and any(given[v] is None for v in changed):
        raise r.refuse(node, "resizes to sizes that are computed at run time, and not to those of another tensor")
    if any(given[v] is not None for v in changed):
        return r.call("interpolate", x, scale=tuple(given[v] or 1.0 for v in spatial), **settings)
    return r.call("interpolate", x, size=tuple(wanted[2:]), **settings)


class AxisSizes(NamedTuple):
    """An axis that is resized: sizes before and after, the file's ratio or None, and the region of a crop."""

    axis: int
    n: int
    m: int
    ratio: float | None
    region: tuple[float, float] | None


def resize_axes(r, node, x, axes: list[AxisSizes]):
    """Resize axis by axis: to neighbors by their places, or by a matrix of the weights of all elements."""
    a = node.attributes
    mode, where = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
    if mode == "nearest" and where != "tf_crop_and_resize":
        spatial = [(v.n, v.m, None if v.ratio is None else Fraction(v.ratio).limit_denominator(10**6)) for v in axes]
        places = [_nearest_places(*v, where, a.get("nearest_mode", "round_prefer_floor")) for v in spatial]
        if None in places:
            raise r.refuse(node, f"resizes in a way that LabDL does not support (mode {mode}, {where})")
        own = next((own for own in _NEAREST if places == [_NEAREST[own](n, m, None) for n, m, _ in spatial]), None)
        if own and [v.axis for v in axes] == [*range(2, len(x.shape))] and x.dtype in FLOATS:
            return r.call("interpolate", x, size=tuple(v.m for v in axes), mode=own)
        for v, listed in zip(axes, places, strict=True):
            x = r.call("take", x, KnownValue(np.array(listed, "int64")), axis=v.axis)
        return x
    dtype, outside = x.dtype, np.zeros([1] * len(x.shape), bool)
    x = x if dtype in ("float32", "float64") else r.call("astype", x, "float32")
    for v in axes:
        r.spend((v.n, v.m))
        at = positions(v, where)
        weights = interpolation_matrix(at, v, a)
        last = [i for i in range(len(x.shape)) if i != v.axis] + [v.axis]
        x = r.call("permute_dims", x, tuple(last))
        x = r.call("matmul", x, KnownValue(weights.T.astype(x.dtype)))
        x = r.call("permute_dims", x, tuple(last.index(i) for i in range(len(last))))
        if where == "tf_crop_and_resize":
            line = ((at < 0) | (at > v.n - 1)).reshape([-1 if i == v.axis else 1 for i in range(len(last))])
            outside = outside | line
    if outside.any():
        x = r.call("where", KnownValue(outside), float(a.get("extrapolation_value", 0.0)), x)
    return x if x.dtype == dtype else r.call("astype", x, dtype)


def positions(v: AxisSizes, where: str) -> np.ndarray:
    """Where the elements of the result are among those of the input, as the specification of Resize says."""
    i, ratio = np.arange(v.m, dtype="float64"), v.m / v.n if v.ratio is None else float(v.ratio)
    length = v.n * ratio
    if where == "tf_crop_and_resize":
        start, end = v.region or (0.0, 1.0)
        if v.m == 1:
            return np.full(1, 0.5 * (start + end) * (v.n - 1))
        return start * (v.n - 1) + i * (end - start) * (v.n - 1) / (length - 1)
    if where == "align_corners":
        return np.zeros(v.m) if length == 1 else i * (v.n - 1) / (length - 1)
    if where == "asymmetric":
        return i / ratio
    if where == "pytorch_half_pixel" and length <= 1:
        return np.zeros(v.m)
    at = (i + 0.5) / ratio - 0.5
    if where == "half_pixel_symmetric":
        return at + v.n / 2 * (1 - v.m / length)
    if where not in ("half_pixel", "pytorch_half_pixel"):
        raise ValueError(f"coordinate_transformation_mode {where!r} is unknown")
    return at


def interpolation_matrix(at: np.ndarray, v: AxisSizes, attributes: dict[str, Any]) -> np.ndarray:
    """The weights of the elements of an axis (columns) in those of its resized axis (rows)."""
    mode, a = attributes.get("mode", "nearest"), float(attributes.get("cubic_coeff_a", -0.75))
    ratio = v.m / v.n if v.ratio is None else float(v.ratio)
    narrow = min(ratio, 1.0) if attributes.get("antialias") else 1.0
    kernel, reach = {
        "linear": (lambda d: np.clip(1 - d, 0, None), 1),
        "cubic": (lambda d: _cubic(d, a), 2),
        "nearest": (lambda d: (d <= 0.5).astype("float64"), 1),
    }[mode]
    if mode == "nearest":
        round_ = _ROUNDING[attributes.get("nearest_mode", "round_prefer_floor")]
        at = np.array([float(round_(Fraction(place))) for place in at.tolist()])
    reach = math.ceil(reach / narrow)
    first = np.floor(at).astype("int64") - reach + 1
    places = first[:, None] + np.arange(2 * reach)
    weights = kernel(np.abs(places - at[:, None]) * narrow)
    if attributes.get("exclude_outside"):
        weights = np.where((places < 0) | (places >= v.n), 0.0, weights)
    if attributes.get("exclude_outside") or narrow < 1:
        weights /= weights.sum(1, keepdims=True)
    matrix = np.zeros((len(at), v.n))
    np.add.at(matrix, (np.arange(len(at))[:, None], np.clip(places, 0, v.n - 1)), weights)
    return matrix


def _cubic(d: np.ndarray, a: float) -> np.ndarray:
    """Keys' kernel of cubic convolution."""
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


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
