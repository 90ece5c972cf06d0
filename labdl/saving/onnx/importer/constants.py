"""ONNX readers of constants and computed shapes."""

from __future__ import annotations

import math

import numpy as np

from labdl.saving.onnx.importer.at_run_time import places
from labdl.saving.onnx.importer.dynamic_shapes import Size, sizes_of
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import reads
from labdl.spec import broadcast


def derive_value(r, array, like=None):
    """A value computed from others; it counts as a weight if ``like`` is one."""
    return KnownValue(array, like.weight and f"{like.weight}/part" if isinstance(like, KnownValue) else "")


@reads("Constant")
def constant(r, node):
    value = next((v for k, v in node.attributes.items() if k.startswith("value")), None)
    if value is None:
        raise r.refuse(node, "holds no numbers")
    if not isinstance(value, np.ndarray):
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, str):
            raise r.refuse(node, "holds texts")
        value = np.array(value, "int64" if isinstance(first, int) else "float32")
    return derive_value(r, value)


@reads("Shape")
def shape(r, node, x):
    sizes = sizes_of(x)
    return derive_value(r, sizes[node.attributes.get("start", 0) : node.attributes.get("end", len(sizes))])


@reads("Size")
def size(r, node, x):
    found = sizes_of(x)
    return derive_value(r, np.array(math.prod(found.tolist()), found.dtype))


def full(r, node, sizes, value: np.ndarray):
    """A tensor of one number; some sizes of the shape may be unknown."""
    if not isinstance(sizes, KnownValue):
        return places.fill(r, node, sizes, value, derive_value(r, value).dtype)
    wanted = list(sizes.array)
    unknown = {a: n for a, n in enumerate(wanted) if isinstance(n, Size)}
    if not unknown:
        r.spend(wanted)
        return derive_value(r, np.full([int(n) for n in wanted], value.item(), value.dtype))
    dtype, tensor = derive_value(r, value).dtype, next(iter(unknown.values())).tensor
    if (
        tensor is not None
        and len(tensor.shape) == len(wanted)
        and all(
            isinstance(n, Size) and n.tensor is tensor and n.axis == a if a in unknown else n == tensor.shape[a]
            for a, n in enumerate(wanted)
        )
    ):
        return r.call("full_like", tensor, value.item(), dtype=dtype)
    r.spend([1 if isinstance(n, Size) else n for n in wanted])
    whole = derive_value(r, np.zeros([1 if isinstance(n, Size) else int(n) for n in wanted], "int64"))
    for axis, n in unknown.items():
        line = r.call("reshape", n.line(0), tuple(-1 if a == axis else 1 for a in range(len(wanted))))
        whole = r.call("add", whole, line)
    return r.call("full_like", whole, value.item(), dtype=dtype)


@reads("ConstantOfShape")
def constant_of_shape(r, node, sizes):
    return full(r, node, sizes, np.asarray(node.attributes.get("value", np.zeros(1, "float32"))).reshape(-1)[:1])


@reads("Expand")
def expand(r, node, x, sizes):
    if not isinstance(sizes, KnownValue):
        return places.expand(r, node, x, sizes)
    if not any(isinstance(n, Size) for n in sizes.array):
        target = tuple(int(n) for n in sizes.array)
        if None not in x.shape:
            r.spend(broadcast(x.shape, target))
            return r.call("broadcast_to", x, broadcast(x.shape, target))
        if all(n == 1 for n in target) and len(target) <= len(x.shape):
            return x
    whole = full(r, node, sizes, np.ones(1, "bool" if x.dtype == "bool" else x.dtype))
    return r.call("logical_and" if x.dtype == "bool" else "multiply", x, whole)  # adding 0 would change -0.0


@reads("Range")
def range_(r, node, start, limit, delta):
    """Range: evenly spaced numbers."""
    if all(isinstance(v, KnownValue) and not v.open for v in (start, limit, delta)):
        first, last, step = (v.array.item() for v in (start, limit, delta))
        r.spend((max(math.ceil((last - first) / step), 0),))
        return derive_value(r, np.arange(first, last, step, dtype=start.array.dtype))
    values = [r.tensor(v) if isinstance(v, KnownValue) and v.open else v for v in (start, limit, delta)]
    end = limit.array.item() if isinstance(limit, KnownValue) and limit.ndim == 0 else None
    plain = all(isinstance(v, KnownValue) and not v.open for v in (start, delta))
    if not isinstance(end, Size) or not plain or (start.array.item(), delta.array.item()) != (0, 1):
        return places.numbers_between(r, *values)
    try:
        return r.call("subtract", r.call("cumulative_sum", end.line(1), axis=0), 1)
    except ValueError:  # a size that is computed otherwise than a vector of this size
        return places.numbers_between(r, *values)
