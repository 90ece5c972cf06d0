"""Resize to sizes that a model computes: along each axis by neighbors, or by a matrix of the weights of all elements."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from labdl.saving.onnx.importer.at_run_time.vectors import along, count_up, integer, size, vector
from labdl.saving.onnx.importer.known_values import KnownValue

_SNAP = 2.0**16  # positions closer than this to the middle between two elements are there: scales are in float32


class _Axis(NamedTuple):
    """Sizes of an axis before and after, as integers and as float64, the ratio, and the region of a crop or None."""

    n: Any
    m: Any
    width: Any
    length: Any
    ratio: Any
    region: tuple[Any, Any] | None


def resize(r, node, x, roi, scales, sizes):
    """Resize with computed sizes, scales or regions, as the specification has it."""
    a, rank, dtype = node.attributes, len(x.shape), x.dtype
    axes = [axis % rank for axis in a.get("axes", range(rank))]
    mode, where = _modes(node)
    crops, outside = where == "tf_crop_and_resize", None
    described = _describe(r, node, x, axes, roi if crops else None, scales, sizes)
    if mode != "nearest" and dtype not in ("float32", "float64"):
        x = r.call("astype", x, "float32")
    for axis, line in zip(axes, described, strict=True):
        at = _positions(r, node, line)
        last = r.call("subtract", line.n, 1)
        if mode == "nearest":
            x = r.call("take", x, r.call("clip", _round(r, node, at), 0, last), axis=axis)
        else:
            x = _multiply(r, x, _weights(r, node, at, line), axis)
        if crops:
            end = r.call("subtract", line.width, 1.0)
            off = along(r, r.call("logical_or", r.call("less", at, 0.0), r.call("greater", at, end)), axis, rank)
            outside = off if outside is None else r.call("logical_or", outside, off)
    if outside is not None:
        x = r.call("where", outside, float(a.get("extrapolation_value", 0.0)), x)
    return x if x.dtype == dtype else r.call("astype", x, dtype)


def _modes(node) -> tuple[str, str]:
    """How elements are combined, and where those of the result are."""
    a = node.attributes
    return a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")


def _float(r, value):
    return r.call("astype", value, "float64")


def _describe(r, node, x, axes, roi, scales, sizes) -> list[_Axis]:
    """Each resized axis. Scales count where they are given."""
    widths = [size(r, x, axis) for axis in axes]
    by_scale = scales is not None and (scales.shape != (0,) or sizes is None)
    regions: list[Any] = [None] * len(axes)
    if roi is not None:
        edges = [_float(r, r.call("getitem", roi, i)) for i in range(2 * len(axes))]
        regions = [*zip(edges[: len(axes)], edges[len(axes) :], strict=True)]
    if by_scale:
        ratios = [_float(r, r.call("getitem", scales, at)) for at in range(len(axes))]
        products = [
            r.call("multiply", r.call("astype", n, "float32"), r.call("astype", ratio, "float32"))
            for n, ratio in zip(widths, ratios, strict=True)
        ]
        targets = [r.call("astype", r.call("floor", product), "int64") for product in products]
    else:
        if sizes is None:
            raise r.needs(node, sizes, "sizes")
        wanted = vector(r, node, sizes, "sizes")
        targets = [r.call("getitem", wanted, at) for at in range(len(axes))]
        ratios = [r.call("divide", _float(r, m), _float(r, n)) for n, m in zip(widths, targets, strict=True)]
        policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            ratio = ratios[0]
            for other in ratios[1:]:
                ratio = r.call("minimum" if policy == "not_larger" else "maximum", ratio, other)
            ratios = [ratio] * len(axes)
            grown = [r.call("floor", r.call("add", r.call("multiply", ratio, _float(r, n)), 0.5)) for n in widths]
            targets = [r.call("astype", v, "int64") for v in grown]
    return [
        _Axis(n, integer(r, m), _float(r, n), r.call("multiply", _float(r, n), ratio), ratio, region)
        for n, m, ratio, region in zip(widths, targets, ratios, regions, strict=True)
    ]


def _positions(r, node, line: _Axis):
    """Where the elements of the result are among those of the input."""
    call = r.call
    mode, where = _modes(node)
    places = _float(r, count_up(r, line.m))
    end, whole = call("subtract", line.width, 1.0), call("subtract", line.length, 1.0)
    one = call("less_equal", line.length, 1.0)
    if line.region is not None:
        start, stop = line.region
        middle = call("multiply", call("multiply", call("add", start, stop), 0.5), end)
        step = call("divide", call("multiply", call("subtract", stop, start), end), call("where", one, 1.0, whole))
        spread = call("add", call("multiply", start, end), call("multiply", places, step))
        return call("where", call("equal", line.m, 1), middle, spread)
    if where == "align_corners":
        step = call("divide", end, call("where", one, 1.0, whole))
        return call("where", one, 0.0, call("multiply", places, step))
    if where == "asymmetric":
        return call("divide", places, line.ratio)
    half = call("subtract", call("divide", call("add", places, 0.5), line.ratio), 0.5)
    if where == "half_pixel":
        return half
    if where == "pytorch_half_pixel":
        return call("where", one, 0.0, half)
    if where == "half_pixel_symmetric":
        share = call("subtract", 1.0, call("divide", _float(r, line.m), line.length))
        return call("add", half, call("multiply", call("multiply", line.width, 0.5), share))
    raise r.refuse(node, f"resizes in a way that LabDL does not support (mode {mode}, {where})")


def _round(r, node, at):
    """The nearest of the elements."""
    at = r.call("divide", r.call("round", r.call("multiply", at, _SNAP)), _SNAP)
    way = node.attributes.get("nearest_mode", "round_prefer_floor")
    if way.startswith("round"):
        at = r.call("subtract" if way == "round_prefer_floor" else "add", at, 0.5)
    return r.call("astype", r.call("ceil" if way in ("round_prefer_floor", "ceil") else "floor", at), "int64")


def _weights(r, node, at, line: _Axis):
    """The weights of the elements (columns) in those of the result (rows): beyond the ends, the last ones count again."""
    call, a = r.call, node.attributes
    mode, where = _modes(node)
    smooth = bool(a.get("antialias"))
    beyond = call("add", call("multiply", line.n, 2), 2) if smooth else KnownValue(np.array(3, "int64"))
    count = call("add", line.n, call("multiply", beyond, 2))
    places = call("subtract", count_up(r, count), beyond)
    distance = call("abs", call("subtract", _float(r, along(r, places, 1, 2)), along(r, at, 0, 2)))
    distance = call("multiply", distance, call("minimum", line.ratio, 1.0)) if smooth else distance
    if mode == "linear":
        weights = call("maximum", call("subtract", 1.0, distance), 0.0)
    elif mode == "cubic":
        weights = _cubic(r, distance, float(a.get("cubic_coeff_a", -0.75)))
    else:
        raise r.refuse(node, f"resizes in a way that LabDL does not support (mode {mode}, {where})")
    inside = call("clip", places, 0, call("subtract", line.n, 1))
    if a.get("exclude_outside"):
        weights = call("where", along(r, call("equal", places, inside), 1, 2), weights, 0.0)
    if a.get("exclude_outside") or smooth:
        weights = call("divide", weights, call("sum", weights, axis=1, keepdims=True))
    folded = call("equal", along(r, inside, 0, 2), along(r, count_up(r, line.n), 1, 2))
    return call("matmul", weights, _float(r, folded))


def _cubic(r, d, a: float):
    """Keys' kernel of cubic convolution."""

    def polynomial(*coefficients: float):
        value: Any = coefficients[0]
        for coefficient in coefficients[1:]:
            value = r.call("add", r.call("multiply", value, d), coefficient)
        return value

    near, far = polynomial(a + 2, -(a + 3), 0.0, 1.0), polynomial(a, -5 * a, 8 * a, -4 * a)
    return r.call("where", r.call("less_equal", d, 1.0), near, r.call("where", r.call("less", d, 2.0), far, 0.0))


def _multiply(r, x, weights, axis: int):
    """The elements along an axis, combined by a matrix."""
    rank = len(x.shape)
    order = (*(a for a in range(rank) if a != axis), axis)
    x = r.call("permute_dims", x, order)
    x = r.call("matmul", x, r.call("permute_dims", r.call("astype", weights, x.dtype), (1, 0)))
    return r.call("permute_dims", x, tuple(order.index(a) for a in range(rank)))
