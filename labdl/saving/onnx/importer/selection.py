"""ONNX readers of operators that choose, order and place elements."""

from __future__ import annotations

import math

import numpy as np

from labdl.saving.onnx.importer.constants import derive_value
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.reductions import numbers
from labdl.saving.onnx.importer.registry import reads
from labdl.saving.onnx.standard import NAMES


@reads("Compress")
def compress(r, node, x, condition):
    axis = node.attributes.get("axis")
    if axis is None:
        x, axis = r.call("reshape", x, (-1,)), 0
    if isinstance(condition, KnownValue):
        return r.call("take", x, KnownValue(np.flatnonzero(condition.array)), axis=axis)
    return r.call("take", x, r.call("reshape", r.call("argwhere", condition), (-1,)), axis=axis)


@reads("Hardmax")
def hardmax(r, node, x):
    axis = node.attributes.get("axis", -1) % len(x.shape)
    if x.shape[axis] is None:
        raise r.refuse(node, "has an axis of unknown size")
    return r.call("one_hot", r.call("argmax", x, axis=axis), x.shape[axis], axis=axis, dtype=x.dtype)


@reads("LpNormalization")
def lp_normalization(r, node, x):
    axis, power = node.attributes.get("axis", -1), node.attributes.get("p", 2)
    norm = r.call("vector_norm", x, axis=axis, keepdims=True, ord=power)
    zero = r.call("equal", norm, 0)
    return r.call("where", zero, 0.0, r.call("divide", x, r.call("where", zero, 1.0, norm)))


@reads("EyeLike")
def eye_like(r, node, x):
    number = node.attributes.get("dtype", 0)
    dtype = NAMES.get(number) if number else x.dtype
    if None in x.shape or dtype is None:
        raise r.refuse(node, "is of unknown sizes, or of a dtype that LabDL does not support")
    r.spend(x.shape)
    return derive_value(r, np.eye(*x.shape, k=node.attributes.get("k", 0), dtype=dtype))


@reads("ReverseSequence")
def reverse_sequence(r, node, x, lengths):
    """Reverse the first elements of each sequence, as many as its length says."""
    batch, time = node.attributes.get("batch_axis", 1), node.attributes.get("time_axis", 0)
    if {batch, time} != {0, 1}:
        raise r.refuse(node, f"has batch_axis={batch} and time_axis={time}: one of them is 0 and the other 1")
    steps = x.shape[time]
    if None in x.shape:
        raise r.refuse(node, "reverses sequences of unknown sizes")
    shape = [1] * len(x.shape)
    places = KnownValue(np.arange(steps, dtype="int64").reshape([steps if a == time else 1 for a in range(len(shape))]))
    shape[batch] = x.shape[batch]
    lengths = r.call("reshape", r.call("astype", lengths, "int64"), tuple(shape))
    backward = r.call("subtract", r.call("subtract", lengths, 1), places)
    index = r.call("where", r.call("less", places, lengths), backward, places)
    return r.call("take_along_axis", x, r.call("broadcast_to", index, tuple(x.shape)), axis=time)


@reads("TensorScatter")
def tensor_scatter(r, node, past, update, starts=None):
    """A cache with the steps of an update at places that differ between samples."""
    axis, circular = node.attributes.get("axis", -2) % len(past.shape), node.attributes.get("mode") == "circular"
    if None in (*past.shape, *update.shape):
        raise r.refuse(node, "updates a cache of unknown sizes")
    rank, steps = len(past.shape), update.shape[axis]
    places = KnownValue(np.arange(steps, dtype="int64").reshape([steps if a == axis else 1 for a in range(rank)]))
    index = places
    if starts is not None:
        index = r.call("add", r.call("reshape", starts, (-1, *(1,) * (rank - 1))), places)
    if circular:
        index = r.call("remainder", index, past.shape[axis])
    return r.call("put_along_axis", past, r.call("broadcast_to", index, tuple(update.shape)), update, axis=axis)


@reads("Unique")
def unique(r, node, x):
    """The different elements in order, with the places of the first of each, those of all among them, and counts."""
    if "axis" in node.attributes or not node.attributes.get("sorted", 1):
        raise r.refuse(node, "has axis or sorted=0, and LabDL finds different elements of a whole tensor, in order")
    values, indices, inverse, counts = r.call("unique_all", r.call("reshape", x, (-1,)))
    places = [r.call("astype", v, "int64") for v in (indices, r.call("reshape", inverse, (-1,)), counts)]
    return [values, *places]


@reads("GatherND")
def gather_nd(r, node, x, indices):
    shared = node.attributes.get("batch_dims", 0)
    if not shared:
        return r.call("gather_nd", x, indices)
    sizes = indices.shape[:-1]
    if None in sizes:
        raise r.refuse(node, "has batch_dims and indices of unknown sizes")
    r.spend((*sizes, shared))
    grid = np.moveaxis(np.indices(sizes)[:shared], 0, -1).astype("int64")
    return r.call("gather_nd", x, r.call("concat", [KnownValue(grid), r.call("astype", indices, "int64")], axis=-1))


_REDUCE = {"none": None, "add": "add", "mul": "multiply", "max": "max", "min": "min"}


@reads("ScatterND")
def scatter_nd(r, node, x, indices, updates):
    """Slices of a tensor replaced by others, or combined with them."""
    depth, way = indices.shape[-1], node.attributes.get("reduction", "none")
    if depth is None or None in x.shape[:depth]:
        raise r.refuse(node, "places slices along axes of unknown size")
    ahead = tuple(x.shape[:depth])
    indices = indices if indices.dtype == "int64" else r.call("astype", indices, "int64")
    sizes, steps = (np.array(v, "int64") for v in (ahead, [math.prod(ahead[i + 1 :]) for i in range(depth)]))
    indices = r.call("where", r.call("less", indices, 0), r.call("add", indices, KnownValue(sizes)), indices)
    if way == "add" and isinstance(x, KnownValue) and not x.array.any() and None not in x.shape:
        return r.call("scatter_nd", indices, updates, tuple(x.shape))
    rows = r.call("sum", r.call("multiply", indices, KnownValue(steps)), axis=-1)  # among all slices
    if None in x.shape:
        raise r.refuse(node, "places slices of unknown size")
    inner = math.prod(x.shape[depth:])
    table, places = r.call("reshape", x, (math.prod(ahead), inner)), r.call("reshape", rows, (-1, 1))
    parts = r.call("reshape", updates, (-1, inner))
    count = math.prod(n or 1 for n in indices.shape[:-1]) if None not in indices.shape else None
    if count is None:
        raise r.refuse(node, "places a number of slices that is known only at run time")
    places = r.call("broadcast_to", places, (count, inner))
    placed = r.call("scatter", table, places, parts, 0, reduce=_REDUCE[way])
    return r.call("reshape", placed, tuple(x.shape))


@reads("NonMaxSuppression")
def non_max_suppression(r, node, boxes, scores, most=None, overlap=None, least=None):
    """Boxes that overlap no better box of their class, as rows of sample, class and place."""
    if most is None:
        limit = 0
    else:
        (limit,) = numbers(r, node, most, "number of boxes")
    for value, what in ((overlap, "largest overlap"), (least, "smallest score")):
        if value is not None and not isinstance(value, KnownValue):
            raise r.needs(node, value, what)
    limits = [0.0 if v is None else float(v.array.reshape(-1)[0]) for v in (overlap, least)]
    samples, classes = scores.shape[:2]
    if None in (samples, classes):
        raise r.refuse(node, "has an unknown number of samples or classes")
    columns = [r.call("getitem", boxes, (..., i)) for i in range(4)]
    if node.attributes.get("center_point_box"):
        x, y, wide, high = columns
        half = [r.call("divide", v, 2.0) for v in (wide, high)]
        ends = [(r.call("subtract", c, h), r.call("add", c, h)) for c, h in zip((x, y), half, strict=True)]
    else:
        ends = [(r.call("minimum", a, b), r.call("maximum", a, b)) for a, b in (columns[::2], columns[1::2])]
    boxes = r.call("stack", [ends[0][0], ends[1][0], ends[0][1], ends[1][1]], axis=-1)
    rows = []
    for sample in range(samples):
        for kind in range(classes):
            own = r.call("getitem", scores, (sample, kind))
            survivors = r.call("nms", r.call("getitem", boxes, sample), own, limits[0])
            if least is not None:
                high = r.call("greater", r.call("take", own, survivors, axis=0), limits[1])
                survivors = r.call("masked_select", survivors, high)
            survivors = r.call("astype", r.call("getitem", survivors, slice(limit)), "int64")
            labels = [r.call("full_like", survivors, n) for n in (sample, kind)]
            rows.append(r.call("stack", [*labels, survivors], axis=-1))
    return r.call("concat", rows, axis=0)


@reads("RoiAlign")
def roi_align(r, node, x, boxes, samples):
    a = node.attributes
    if a.get("mode", "avg") != "avg":
        raise r.refuse(node, "takes the largest of its samples (mode max), and LabDL their mean")
    size = a.get("output_height", 1), a.get("output_width", 1)
    aligned = a.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    options = {"spatial_scale": a.get("spatial_scale", 1.0), "sampling_ratio": a.get("sampling_ratio", 0) or -1}
    return r.call("roi_align", x, boxes, samples, size, aligned=aligned, **options)


@reads("Col2Im")
def col2im(r, node, x, image, block):
    size, window = (tuple(numbers(r, node, v, what)) for v, what in ((image, "image_shape"), (block, "block_shape")))
    rank, a = len(size), node.attributes
    pads = a.get("pads", [0] * 2 * rank)
    if rank != 2 or pads[:rank] != pads[rank:]:
        raise r.refuse(node, "is of other than 2 axes of space, or has unequal pads")
    stride, dilation = (tuple(a.get(word, [1] * rank)) for word in ("strides", "dilations"))
    return r.call("fold", x, size, window, stride=stride, padding=tuple(pads[:rank]), dilation=dilation)
