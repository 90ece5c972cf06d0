"""ONNX readers of image operators: resizing and grid sampling."""

from __future__ import annotations

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
        settings = _interpolation_options(a, mode, where, (None,) * (rank - 2), (None,) * (rank - 2))
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
    unchanged = ratios[:2] == [1.0, 1.0] and all(n in (m, None) for n, m in zip(x.shape[:2], wanted[:2], strict=True))
    settings = _interpolation_options(a, mode, where, x.shape[2:], wanted[2:])
    if (
        settings is None
        or not unchanged
        or a.get("antialias")
        or a.get("keep_aspect_ratio_policy", "stretch") != "stretch"
    ):
        raise r.refuse(node, f"resizes in a way that LabDL does not support (mode {mode}, {where})")
    return r.call("interpolate", x, **options, **settings)


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


def _interpolation_options(a, mode: str, where: str, sizes, wanted):
    """LabDL's options for a resize mode, None if unsupported."""
    whole = all(None not in (n, m) and m % n == 0 for n, m in zip(sizes, wanted, strict=True))
    if mode == "nearest":
        rounding = a.get("nearest_mode", "round_prefer_floor")
        if (where, rounding) == ("asymmetric", "floor") or (where == "half_pixel" and whole):
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
