"""Readers of nodes whose sizes or positions a model computes: along each axis, elements are taken by their places."""

from __future__ import annotations

import numpy as np

from labdl.saving.onnx.importer.at_run_time.vectors import (
    along,
    constant,
    count_up,
    either,
    elements,
    integer,
    shape_vector,
    size,
    vector,
    with_sizes,
)
from labdl.saving.onnx.importer.known_values import KnownValue


def reshape(r, node, x, target):
    """A shape that the model computes, with 0 for a size as before and -1 for what remains."""
    x, target = r.tensor(x), vector(r, node, target, "shape")
    rank = target.shape[0]
    if not node.attributes.get("allowzero") and x.shape:
        own = r.call("take", shape_vector(r, x), constant(np.minimum(np.arange(rank), len(x.shape) - 1)), axis=0)
        target = r.call("where", r.call("equal", target, 0), own, target)
    rest = r.call("less", target, 0)
    others = r.call("prod", r.call("where", rest, 1, target))
    missing = r.call("floor_divide", elements(r, x), r.call("maximum", others, 1))
    return with_sizes(r, x, r.call("where", rest, missing, target))


def expand(r, node, x, target):
    """A tensor broadcast to computed sizes: axes of size 1 are repeated."""
    x, target = r.tensor(x), vector(r, node, target, "shape")
    while len(x.shape) < target.shape[0]:
        x = r.call("expand_dims", x, 0)
    ahead = len(x.shape) - target.shape[0]
    for at in range(target.shape[0]):
        axis = ahead + at
        if x.shape[axis] in (1, None):
            times = r.call("getitem", target, slice(at, at + 1))
            if x.shape[axis] is None:
                times = either(r, r.call("equal", size(r, x, axis), 1), times, 1)
            x = r.call("repeat", x, times, axis=axis)
    return x


def fill(r, node, sizes, value: np.ndarray, dtype: str):
    """A tensor of one number and of computed sizes."""
    sizes = vector(r, node, sizes, "sizes")
    line = r.call("repeat", constant([0]), r.call("reshape", r.call("prod", sizes), (1,)), axis=0)
    return r.call("full_like", with_sizes(r, line, sizes), value.item(), dtype=dtype)


def tile(r, node, x, times):
    times = vector(r, node, times, "repetitions")
    for axis in range(len(x.shape)):
        n = size(r, x, axis)
        count = r.call("multiply", n, r.call("getitem", times, axis))
        x = r.call("take", x, r.call("remainder", count_up(r, count), r.call("maximum", n, 1)), axis=axis)
    return x


def numbers_between(r, start, limit, step):
    """Evenly spaced numbers of computed ends."""
    start, limit, step = (r.call("reshape", v, ()) if len(v.shape) else v for v in (start, limit, step))
    distance = r.call("subtract", limit, start)
    if start.dtype in ("int16", "int32", "int64"):
        sign = either(r, r.call("less", step, 0), -1, 1)
        sign = sign if sign.dtype == start.dtype else r.call("astype", sign, start.dtype)
        count = r.call("floor_divide", r.call("subtract", r.call("add", distance, step), sign), step)
    else:
        count = r.call("ceil", r.call("divide", distance, step))
    count = count if count.dtype == "int64" else r.call("astype", count, "int64")
    places = count_up(r, r.call("maximum", count, 0))
    places = places if start.dtype == "int64" else r.call("astype", places, start.dtype)
    return r.call("add", start, r.call("multiply", places, step))


def slices(r, node, x, starts, ends, axes=None, steps=None):
    """Slices from, to, along and by computed numbers."""
    rank = len(x.shape)
    starts, ends = (vector(r, node, v, what) for v, what in ((starts, "starts"), (ends, "ends")))
    count = starts.shape[0]
    axes = constant(range(count)) if axes is None else vector(r, node, axes, "axes")
    steps = constant([1] * count) if steps is None else vector(r, node, steps, "steps")
    axes = r.call("remainder", axes, rank)
    fixed = {int(a) for a in axes.array} if isinstance(axes, KnownValue) else range(rank)
    for axis in fixed:
        own = r.call("equal", axes, axis)
        here = r.call("any", own, axis=0)
        start, end, step = (r.call("sum", r.call("where", own, v, 0)) for v in (starts, ends, steps))
        n = size(r, x, axis)
        index = _sliced_places(r, n, start, either(r, here, end, n), either(r, here, step, 1))
        x = r.call("take", x, index, axis=axis)
    return x


def _sliced_places(r, n, start, end, step):
    """The positions of a slice with computed numbers on an axis of n elements."""
    back = r.call("less", step, 0)
    last = r.call("subtract", n, 1)
    from_end = [either(r, r.call("less", v, 0), r.call("add", v, n), v) for v in (start, end)]
    start = r.call("clip", from_end[0], 0, None)
    start = r.call("minimum", start, either(r, back, last, n))
    end = r.call("maximum", from_end[1], either(r, back, -1, 0))
    end = r.call("minimum", end, either(r, back, last, n))
    one = either(r, back, -1, 1)
    count = r.call("floor_divide", r.call("subtract", r.call("add", r.call("subtract", end, start), step), one), step)
    return r.call("add", start, r.call("multiply", count_up(r, r.call("maximum", count, 0)), step))


def pad(r, node, x, pads, value, axes, mode: str):
    """Computed numbers of elements before and after those of an axis, which may be negative."""
    rank = len(x.shape)
    pads = vector(r, node, pads, "pads")
    count = pads.shape[0] // 2
    axes = r.call("remainder", constant(range(count)) if axes is None else vector(r, node, axes, "axes"), rank)
    fixed = {int(a) for a in axes.array} if isinstance(axes, KnownValue) else range(rank)
    value = constant(0) if value is None else value
    number = r.call("astype", r.call("reshape", value, ()), x.dtype)
    for axis in fixed:
        own = r.call("equal", axes, axis)
        before, after = (
            r.call("sum", r.call("where", own, r.call("getitem", pads, part), 0))
            for part in (slice(count), slice(count, None))
        )
        cut, before, cut_after, after = (
            r.call("maximum", v, 0) for v in (r.call("negative", before), before, r.call("negative", after), after)
        )
        n = r.call("subtract", r.call("subtract", size(r, x, axis), cut), cut_after)  # what is cut off comes first
        length = r.call("add", r.call("add", before, n), after)
        places = r.call("subtract", count_up(r, length), before)
        last = r.call("subtract", n, 1)
        inside = r.call("maximum", r.call("minimum", places, last), 0)
        if mode == "reflect":
            period = r.call("maximum", r.call("multiply", last, 2), 1)
            around = r.call("remainder", places, period)
            index = r.call("minimum", around, r.call("subtract", period, around))
            index = r.call("where", r.call("equal", n, 1), 0, index)
        elif mode == "circular":
            index = r.call("remainder", places, r.call("maximum", n, 1))
        else:
            index = inside
        x = r.call("take", x, r.call("add", index, cut), axis=axis)
        if mode == "constant":
            x = r.call("where", along(r, r.call("equal", places, inside), axis, rank), x, number)
    return x


def split(r, node, x, sizes, axis: int):
    """Parts of computed sizes."""
    sizes = vector(r, node, sizes, "sizes")
    ends = r.call("cumulative_sum", sizes, axis=0)
    parts = []
    for at in range(sizes.shape[0]):
        own = r.call("getitem", sizes, at)
        start = r.call("subtract", r.call("getitem", ends, at), own)
        parts.append(r.call("take", x, r.call("add", count_up(r, own), start), axis=axis))
    return parts


def first(r, x, count, axis: int):
    """As many of the first elements of an axis as computed."""
    return r.call("take", x, count_up(r, integer(r, count)), axis=axis)
