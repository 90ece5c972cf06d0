"""Vectors of integers that a model computes, and tensors of the sizes that they say."""

from __future__ import annotations

import math

import numpy as np

from labdl.saving.onnx.importer.dynamic_shapes import sizes_of
from labdl.saving.onnx.importer.known_values import KnownValue


def is_known(value) -> bool:
    """True for integers that are constants of the file."""
    return isinstance(value, KnownValue) and not value.open


def constant(numbers) -> KnownValue:
    return KnownValue(np.array(numbers, "int64"))


def vector(r, node, value, what: str, any_length: bool = False):
    """Computed integers as a vector of int64, of known length if not any will do."""
    if len(value.shape) > 1 or (None in value.shape and not any_length):
        raise r.needs(node, value, what)
    value = r.tensor(value) if isinstance(value, KnownValue) and value.open else value
    value = value if value.dtype == "int64" else r.call("astype", value, "int64")
    return value if len(value.shape) else r.call("reshape", value, (1,))


def scalar(r, value):
    """A computed number as a tensor without axes."""
    return value if len(value.shape) == 0 else r.call("reshape", value, ())


def integer(r, value):
    """A computed number as int64 without axes."""
    value = r.tensor(value) if isinstance(value, KnownValue) and value.open else value
    return scalar(r, value if value.dtype == "int64" else r.call("astype", value, "int64"))


def either(r, condition, yes, no):
    """One of two integers, by a truth that the model computes."""
    return r.call("where", condition, *(constant(v) if isinstance(v, int) else v for v in (yes, no)))


def size(r, x, axis: int):
    """The size of an axis: a number, or a tensor if it is unknown."""
    n = x.shape[axis]
    return sizes_of(x)[axis].value() if n is None else constant(n)


def shape_vector(r, x):
    """The sizes of all axes as a vector."""
    found = KnownValue(sizes_of(x))
    return r.tensor(found) if found.open else found


def count_up(r, count):
    """The numbers from 0 to below a computed one."""
    one = r.call("repeat", constant([1]), r.call("reshape", count, (1,)), axis=0)
    return r.call("subtract", r.call("cumulative_sum", one, axis=0), 1)


def along(r, line, axis: int, rank: int):
    """A vector as a tensor of several axes that differs along one of them."""
    return r.call("reshape", line, tuple(-1 if a == axis else 1 for a in range(rank)))


def with_sizes(r, x, sizes):
    """The elements of a tensor in the shape that a vector says."""
    rank = sizes.shape[0]
    if rank == 0:
        return r.call("reshape", x, ())
    if rank == 1:
        return r.call("reshape", x, (-1,))
    lines = [r.call("repeat", constant([0]), r.call("getitem", sizes, slice(a, a + 1)), axis=0) for a in range(rank)]
    return r.call("reshape_with", [x, *lines], tuple((1 + a, 0) for a in range(rank)))


def elements(r, x):
    """The number of elements of a tensor."""
    if None not in x.shape:
        return constant(math.prod(x.shape))
    return r.call("prod", shape_vector(r, x))
