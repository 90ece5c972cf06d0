"""ONNX readers of operators on shape, order and position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from labdl import nn
from labdl.saving.onnx.importer.at_run_time import axes as computed_axes
from labdl.saving.onnx.importer.at_run_time import places
from labdl.saving.onnx.importer.at_run_time.vectors import is_known
from labdl.saving.onnx.importer.constants import derive_value
from labdl.saving.onnx.importer.dynamic_shapes import Size
from labdl.saving.onnx.importer.file import MOST_AXES
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.neural import are_weights
from labdl.saving.onnx.importer.reductions import numbers
from labdl.saving.onnx.importer.registry import reads
from labdl.spec import Spec

_FAR = 2**31 - 1  # positions from here on mean the end, their negatives the beginning


@reads("Reshape")
def reshape(r, node, x, target):
    if not isinstance(target, KnownValue):
        return places.reshape(r, node, x, target)
    wanted = list(target.array.ravel())
    allow_zero = node.attributes.get("allowzero")
    sizes: list = [n if isinstance(n, Size) or n or allow_zero else x.shape[at] for at, n in enumerate(wanted)]
    open_at = [at for at, n in enumerate(sizes) if isinstance(n, Size) or n is None]
    if -1 in sizes and open_at:
        # where one unknown size is the tensor's own, the other follows from the rest
        if len(open_at) > 1 or list(x.shape).count(None) != 1 or not _own(sizes[open_at[0]], x):
            return _reshape_with(r, node, x, sizes)
        factor = 1 if sizes[open_at[0]] is None else sizes[open_at[0]].factor
        known = factor * math.prod(int(n) for at, n in enumerate(sizes) if at not in open_at and n != -1)
        rest = math.prod(n for n in x.shape if n is not None) // known
        sizes = [rest if n == -1 else n for n in sizes]
    if len(open_at) > 1:
        return _reshape_with(r, node, x, sizes)
    shape = tuple(-1 if n is None or isinstance(n, Size) else int(n) for n in sizes)
    return (
        derive_value(r, x.array.reshape(shape)) if isinstance(x, KnownValue) and x.open else r.call("reshape", x, shape)
    )


def _reshape_with(r, node, x, sizes):
    """A reshape of several unknown sizes: axes of this tensor and of others.

    The first size that was computed from sizes is inferred from the rest, and the others are those of vectors made for it.
    """
    if isinstance(x, KnownValue):
        raise r.refuse(node, "spreads constants over sizes that are known only at run time")
    tensors, shape = [x], []
    for at, n in enumerate(sizes):
        if n is None:
            shape.append((0, at))
        elif not isinstance(n, Size):
            shape.append(int(n))
        elif n.tensor is None and -1 not in [*shape, *sizes]:
            shape.append(-1)
        else:
            like, axis = (n.line(0), 0) if n.tensor is None else (n.tensor, n.axis)
            if not any(like is t for t in tensors):
                tensors.append(like)
            shape.append((next(i for i, t in enumerate(tensors) if like is t), axis))
    if -1 not in shape and len(tensors) == 2 and sum(isinstance(n, tuple) and n[0] == 1 for n in shape) == 1:
        tensors, shape = [x], [-1 if isinstance(n, tuple) and n[0] == 1 else n for n in shape]
    return r.call("reshape_with", tensors, tuple(shape))


def _own(size, x) -> bool:
    """True when an unknown size is that of the only unknown axis of a tensor, or a multiple: its own, or the batch axis."""
    if size is None:
        return True
    base = size.base
    return (
        base is not None and x.shape[base.axis] is None and (base.tensor is x or (base.axis == 0 and size.factor == 1))
    )


@reads("Flatten")
def flatten(r, node, x):
    axis = node.attributes.get("axis", 1)
    axis = axis + len(x.shape) if axis < 0 else axis
    if axis == 1 and isinstance(x, Spec) and len(x.shape) > 1:
        return r.layer(node.outputs[0], node.name or "flatten", nn.Flatten, {}, x)
    sizes = x.shape[:axis], x.shape[axis:]
    joined = [None if None in part else math.prod(n or 0 for n in part) for part in sizes]
    if joined.count(None) > 1:
        raise r.refuse(node, "joins unknown sizes on both sides")
    return r.call("reshape", x, tuple(-1 if n is None else n for n in joined))


@reads("Transpose")
def transpose(r, node, x):
    order = tuple(node.attributes.get("perm") or reversed(range(len(x.shape))))
    return (
        derive_value(r, x.array.transpose(order), x) if isinstance(x, KnownValue) else r.call("permute_dims", x, order)
    )


@reads("Squeeze")
def squeeze(r, node, x, axes=None):
    if axes is not None and not is_known(axes):
        return computed_axes.squeeze(r, node, x, axes)
    given = node.attributes.get("axes") if axes is None else numbers(r, node, axes, "axes")
    if given is None and None in x.shape:
        raise r.refuse(node, "removes all axes of size 1, and some sizes are unknown")
    along = tuple(a for a, n in enumerate(x.shape) if n == 1) if given is None else tuple(given)
    if isinstance(x, KnownValue):
        return derive_value(r, np.squeeze(x.array, along), x)
    return r.call("squeeze", x, along) if along else x


@reads("Unsqueeze")
def unsqueeze(r, node, x, axes):
    if not is_known(axes):
        return computed_axes.unsqueeze(r, node, x, axes)
    along = numbers(r, node, axes, "axes")
    if isinstance(x, KnownValue):
        return derive_value(r, np.expand_dims(x.array, tuple(along)), x)
    rank = len(x.shape) + len(along)
    if rank > MOST_AXES:
        raise r.refuse(node, f"makes a tensor of {rank} axes")
    for axis in sorted(a % rank for a in along):
        x = r.call("expand_dims", x, axis)
    return x


@reads("Concat")
def concat(r, node, first, *others):
    xs, axis = [first, *others], node.attributes["axis"]
    if all(isinstance(x, KnownValue) for x in xs):
        r.spend(*(x.shape for x in xs))
        joined = np.concatenate([x.array.astype(object) if any(x.open for x in xs) else x.array for x in xs], axis)
        return derive_value(r, joined, next((x for x in xs if x.weight), None))
    return r.call("concat", xs, axis=axis) if others else first


@reads("Split")
def split(r, node, x, sizes=None):
    axis, count = node.attributes.get("axis", 0), len(node.outputs)
    if count == 1:
        return x
    n = x.shape[axis]
    if sizes is not None and not is_known(sizes):
        return places.split(r, node, x, sizes, axis)
    if sizes is not None:
        parts = tuple(numbers(r, node, sizes, "sizes"))
    elif n is None:
        if "num_outputs" in node.attributes:
            return _parts_of_open_axis(r, x, axis % len(x.shape), count)
        parts = count
    else:
        largest = -(-n // count)  # the last one is the smaller
        parts = tuple([largest] * (count - 1) + [n - largest * (count - 1)])
    return r.call("split", x, parts, axis)


def _parts_of_open_axis(r, x, axis: int, count: int):
    """As many parts of an axis of unknown size as wanted, of which the last may be smaller."""
    size = Size(x, axis)
    line = r.call("subtract", r.call("cumulative_sum", size.line(1), axis=0), 1)
    length = r.call("floor_divide", r.call("add", size.value(), count - 1), count)
    part = r.call("floor_divide", line, length)
    positions = [r.call("reshape", r.call("argwhere", r.call("equal", part, at)), (-1,)) for at in range(count)]
    return [r.call("take", x, v, axis=axis) for v in positions]


@reads("Slice")
def slices(r, node, x, starts, ends, axes=None, steps=None):
    if not is_known(starts) or not all(v is None or is_known(v) for v in (axes, steps)) or _far_end(x, ends, axes):
        return places.slices(r, node, x, starts, ends, axes, steps)
    first = numbers(r, node, starts, "starts")
    last = list(ends.array.ravel()) if isinstance(ends, KnownValue) else numbers(r, node, ends, "ends")
    along = list(range(len(first))) if axes is None else numbers(r, node, axes, "axes")
    by = [1] * len(first) if steps is None else numbers(r, node, steps, "steps")
    index = [slice(None)] * len(x.shape)
    for a, start, stop, step in zip(along, first, last, by, strict=True):
        if isinstance(stop, Size):
            stop = _FAR  # its own
        begin = _end(start, step > 0) or (None if step > 0 else start)
        index[a] = slice(begin, _end(int(stop), step < 0), None if step == 1 else step)
    if isinstance(x, KnownValue):
        return derive_value(r, x.array[tuple(index)], x)
    return r.call("getitem", x, tuple(index)) if any(i != slice(None) for i in index) else x


def _far_end(x, ends, axes) -> bool:
    """Whether slices end at numbers that are computed, and not at the ends of their axes."""
    if not isinstance(ends, KnownValue):
        return True
    along = range(ends.array.size) if axes is None else axes.array.ravel().tolist()
    return any(
        isinstance(n, Size) and (n.tensor is not x or n.axis != a % len(x.shape))
        for a, n in zip(along, ends.array.ravel(), strict=False)
    )


def _end(place: int, before: bool) -> int | None:
    """A position of a slice, None where it means everything up to an end of the axis."""
    return None if (place <= -_FAR if before else place >= _FAR) else place


@reads("Gather")
def gather(r, node, x, indices):
    axis = node.attributes.get("axis", 0)
    if isinstance(x, KnownValue) and isinstance(indices, KnownValue):
        r.spend((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))
        return derive_value(r, np.asarray(np.take(x.array, indices.array.astype("int64"), axis)), x)
    if isinstance(x, KnownValue) and are_weights(r, x) and x.ndim == 2 and axis == 0:
        if r.file.foreign:  # LabDL's own files have no negative positions
            behind = r.call("less", indices, 0)
            indices = r.call("where", behind, r.call("add", indices, x.shape[0]), indices)
        return r.program._modules[r.embedding(x)](r.tensor(indices))
    if isinstance(indices, KnownValue) and indices.ndim == 0:
        return r.call("getitem", x, (*(slice(None),) * (axis % len(x.shape)), int(indices.array)))
    return r.call("take", x, indices, axis=axis)


def _region(x, indices, axis: int) -> tuple[slice, ...] | None:
    """The part of a tensor that indices of fewer elements on other axes are about; None if it is the whole."""
    ends = [
        slice(m) if a != axis and m is not None and m != n else slice(None)
        for a, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True))
    ]
    return None if all(end == slice(None) for end in ends) else tuple(ends)


@reads("GatherElements")
def gather_elements(r, node, x, indices):
    axis = node.attributes.get("axis", 0) % len(x.shape)
    region = _region(x, indices, axis)
    x = x if region is None else r.call("getitem", x, region)
    return r.call("take_along_axis", x, indices, axis=axis)


_REDUCE = {"none": None, "add": "add", "mul": "multiply", "max": "max", "min": "min"}


@reads("ScatterElements")
def scatter(r, node, x, indices, updates):
    axis, reduce = node.attributes.get("axis", 0) % len(x.shape), _REDUCE[node.attributes.get("reduction", "none")]
    region = _region(x, indices, axis)
    if region is None:
        return r.call("scatter", x, indices, updates, axis, reduce=reduce)
    placed = r.call("scatter", r.call("getitem", x, region), indices, updates, axis, reduce=reduce)
    return r.call("setitem", x, region, placed)


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@reads("Pad")
def pad(r, node, x, pads, value=None, axes=None):
    mode = _MODES[node.attributes.get("mode", "constant")]
    if not is_known(pads) or not all(v is None or is_known(v) for v in (axes, value)):
        return places.pad(r, node, x, pads, value, axes, mode)
    rank = len(x.shape)
    given = numbers(r, node, pads, "pads")
    along = list(range(rank)) if axes is None else [a % rank for a in numbers(r, node, axes, "axes")]
    pairs = [(0, 0)] * rank
    for at, axis in enumerate(along):
        pairs[axis] = given[at], given[at + len(along)]
    number = 0.0 if value is None else value.array.item()
    cut = tuple(slice(max(-b, 0), -max(-a, 0) or None) for b, a in pairs)
    if any(n < 0 for pair in pairs for n in pair):
        x = r.call("getitem", x, cut)
    pairs = tuple((max(b, 0), max(a, 0)) for b, a in pairs)
    return r.call("pad", x, pairs, mode=mode, value=number)


@reads("Tile")
def tile(r, node, x, times):
    if not is_known(times):
        return places.tile(r, node, x, times)
    return r.call("tile", x, tuple(numbers(r, node, times, "repetitions")))


@reads("Trilu")
def triangle(r, node, x, k=None):
    if k is not None and not is_known(k):
        return computed_axes.triangle(r, x, k, bool(node.attributes.get("upper", 1)))
    offset = 0 if k is None else numbers(r, node, k, "diagonal")[0]
    return r.call("triu" if node.attributes.get("upper", 1) else "tril", x, k=offset)


@reads("OneHot")
def one_hot(r, node, indices, depth, values):
    indices = indices if indices.dtype == "int64" else r.call("astype", indices, "int64")
    axis, rank = node.attributes.get("axis", -1), len(indices.shape) + 1
    if not -rank <= axis < rank:
        raise r.refuse(node, f"has the axis {axis}, which a result of {rank} axes does not have")
    axis %= rank
    if not is_known(depth):
        return computed_axes.one_hot(r, indices, depth, values, axis)
    (classes,) = numbers(r, node, depth, "depth")
    indices = r.call("where", r.call("less", indices, 0), r.call("add", indices, classes), indices)
    hot = r.call("astype", r.call("one_hot", indices, classes, axis=axis), "bool")
    off, on = (r.call("getitem", values, i) for i in (0, 1))
    return r.call("where", hot, on, off)  # a product with them would be NaN for infinities


@reads("NonZero")
def nonzero(r, node, x):
    return r.call("permute_dims", r.call("argwhere", x), (1, 0))


@reads("DepthToSpace")
def depth_to_space(r, node, x):
    if node.attributes.get("mode", "DCR") != "CRD":
        raise r.refuse(node, "has mode DCR, and LabDL's operator orders channels as CRD")  # its definition is read
    return r.call("pixel_shuffle", x, node.attributes["blocksize"])


@reads("Identity")
def identity(r, node, x, *rest):
    return x


@reads("Dropout")
def dropout(r, node, x, rate=None, training=None):
    """Nothing, or with training_mode random zeros, whose place is the second result."""
    if training is None or (isinstance(training, KnownValue) and not training.array.any()):
        return [x, r.call("full_like", x, True, dtype="bool")][: len(node.outputs)]
    if isinstance(rate, KnownValue) or rate is None:
        share: Any = 0.5 if rate is None else float(rate.array.reshape(-1)[0])
        if not 0 <= share < 1:
            raise r.refuse(node, f"has the ratio {share}, and it must be at least 0 and below 1")
    else:
        share = r.call("astype", r.call("reshape", rate, ()), x.dtype)
    keep_mask = r.call("greater_equal", r.call("random_uniform_like", x), share)
    scaled = r.call("where", keep_mask, r.call("divide", x, r.call("subtract", 1.0, share)), 0.0)
    if isinstance(training, KnownValue):
        return [scaled, keep_mask]
    training = r.call("reshape", training, ())
    return [r.call("where", training, scaled, x), r.call("logical_or", keep_mask, r.call("logical_not", training))]


@reads("Einsum")
def einsum(r, node, *xs):
    return r.call("einsum", node.attributes["equation"], *xs)
