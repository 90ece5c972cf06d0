"""Readers of nodes whose axes a model computes: what may happen to each axis is computed, and chosen from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labdl.saving.onnx.importer.at_run_time.vectors import (
    along,
    count_up,
    either,
    integer,
    shape_vector,
    size,
    vector,
    with_sizes,
)
from labdl.saving.onnx.importer.known_values import KnownValue


def chosen_axes(r, axes, rank: int):
    """For each axis whether a vector of axes, some of them counted from the end, has it."""
    places = r.call("reshape", r.call("remainder", axes, rank), (-1, 1))
    hits = r.call("equal", places, KnownValue(np.arange(rank, dtype="int64")))
    return r.call("any", hits, axis=0)


def reduced_axes(r, node, axes, rank: int):
    """For each axis whether a reduction has it: without any, all or none."""
    chosen = chosen_axes(r, axes, rank)
    if axes.shape[0] is not None or node.attributes.get("noop_with_empty_axes"):
        return chosen
    return r.call("logical_or", chosen, r.call("logical_not", r.call("any", chosen)))


def reduce_axes(r, node, x, axes, reduce: Callable):
    """A reduction along computed axes, by ``reduce(x, axis)`` that keeps the axis.

    Each axis is followed by its reduction, and then either the axis or this remains.
    """
    kept = bool(node.attributes.get("keepdims", 1))
    axes = vector(r, node, axes, "axes", kept)
    rank = len(x.shape)
    chosen = reduced_axes(r, node, axes, rank)
    for axis in range(rank):
        flag = r.call("getitem", chosen, axis)
        n = size(r, x, axis)
        both = r.call("concat", [x, reduce(x, axis)], axis=axis)
        index = r.call("add", either(r, flag, n, 0), count_up(r, either(r, flag, 1, n)))
        x = r.call("take", both, index, axis=axis)
    return x if kept else _without(r, x, chosen, axes.shape[0])


def count_reduced(r, node, x, axes):
    """The number of elements that a reduction along computed axes makes one of."""
    chosen = reduced_axes(r, node, vector(r, node, axes, "axes", True), len(x.shape))
    return r.call("prod", r.call("where", chosen, shape_vector(r, x), 1))


def _without(r, x, chosen, count: int):
    """A tensor without some axes of size 1."""
    order = r.call("argsort", r.call("astype", chosen, "int64"), stable=True)
    left = r.call("getitem", order, slice(len(x.shape) - count))
    return with_sizes(r, x, r.call("take", shape_vector(r, x), left, axis=0))


def squeeze(r, node, x, axes):
    axes = vector(r, node, axes, "axes")
    return _without(r, x, chosen_axes(r, axes, len(x.shape)), axes.shape[0])


def unsqueeze(r, node, x, axes):
    axes = vector(r, node, axes, "axes")
    added = chosen_axes(r, axes, len(x.shape) + axes.shape[0])
    if not x.shape:
        return with_sizes(r, x, r.call("astype", added, "int64"))
    old = r.call("cumulative_sum", r.call("astype", r.call("logical_not", added), "int64"), axis=0)
    own = r.call("take", shape_vector(r, x), r.call("maximum", r.call("subtract", old, 1), 0), axis=0)
    return with_sizes(r, x, r.call("where", added, 1, own))


def along_one_axis(r, x, axis, compute: Callable):
    """The result of ``compute(axis)``, of the shape of x, for a computed axis."""
    rank = len(x.shape)
    at = r.call("remainder", integer(r, axis), rank)
    result = compute(0)
    for a in range(1, rank):
        result = r.call("where", r.call("equal", at, a), compute(a), result)
    return result


def triangle(r, x, diagonal, upper: bool):
    """The part of matrices above or below a diagonal of a computed number."""
    rank = len(x.shape)
    rows, columns = (along(r, count_up(r, size(r, x, a)), a, rank) for a in (rank - 2, rank - 1))
    edge = r.call("add", rows, integer(r, diagonal))
    inside = r.call("greater_equal" if upper else "less_equal", columns, edge)
    return r.call("where", inside, x, r.call("zeros_like", x))


def one_hot(r, indices, depth, values, axis: int):
    """Vectors of a computed length with one value at an index and another elsewhere."""
    depth, rank = integer(r, depth), len(indices.shape) + 1
    wanted = r.call("where", r.call("less", indices, 0), r.call("add", indices, depth), indices)
    hot = r.call("equal", r.call("expand_dims", wanted, axis), along(r, count_up(r, depth), axis, rank))
    off, on = (r.call("getitem", values, i) for i in (0, 1))
    return r.call("where", hot, on, off)
