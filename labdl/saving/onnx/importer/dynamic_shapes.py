"""Arithmetic on sizes that are unknown when a file is read: PyTorch's files compute shapes from shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labdl import ops

SIZING = (
    "sum",
    "full_like",
    "getitem",
    "stack",
    "add",
    "subtract",
    "multiply",
    "floor_divide",
    "maximum",
    "concat",
    "pad",
    "tile",
    "expand_dims",
    "reshape",
)  # operators used here
_LONGEST = 65_536  # numbers of which a vector of a computed size may be longer than the vectors it is made of


class Size:
    """An unknown size: the size of one axis of a tensor, or a value computed from it.

    Object arrays hold it beside known numbers and compute with it like with those. ``base`` is the size of a tensor of
    which this is ``factor`` times, or None. ``vector`` makes a vector of this size, filled with one number.
    """

    def __init__(
        self,
        tensor: Any = None,
        axis: int = 0,
        compute: Callable | None = None,
        base: Size | None = None,
        factor: int = 1,
        vector: Callable[[int], Any] | None = None,
    ):
        self.tensor, self.axis, self.compute = tensor, axis, compute
        self.base, self.factor = (self if compute is None else base), factor
        self.vector = vector
        self._lines: dict[int, Any] = {}

    def value(self):
        """The size as a scalar tensor, computed at run time."""
        return self.compute() if self.compute else ops.sum(self.line(1))

    def line(self, number: int):
        """A vector of this size filled with one number."""
        if number not in self._lines:
            if self.tensor is not None:
                index = tuple(slice(None) if a == self.axis else 0 for a in range(len(self.tensor.shape)))
                self._lines[number] = ops.full_like(ops.getitem(self.tensor, index), number, dtype="int64")
            elif self.vector is not None:
                self._lines[number] = self.vector(number)
            else:
                raise ValueError("a size computed from an unknown one is used where LabDL needs the size itself")
        return self._lines[number]

    def _with(self, other, operator: Callable, vector: Callable | None = None, swapped: bool = False) -> Size:
        def compute():
            mine, theirs = self.value(), other.value() if isinstance(other, Size) else int(other)
            return operator(theirs, mine) if swapped else operator(mine, theirs)

        return Size(compute=compute, vector=vector)

    def __add__(self, other):
        return self._with(other, ops.add, lambda number: _sum_of(self.line(number), other, number))

    def __radd__(self, other):
        return self._with(other, ops.add, lambda number: _sum_of(self.line(number), other, number), swapped=True)

    def __sub__(self, other):
        return self._with(
            other, ops.subtract, None if isinstance(other, Size) else lambda n: _sum_of(self.line(n), -other, n)
        )

    def __rsub__(self, other):
        return self._with(other, ops.subtract, swapped=True)

    def __mul__(self, other):
        def vector(number):
            if isinstance(other, Size):
                return ops.reshape(ops.multiply(ops.expand_dims(self.line(number), 1), other.line(1)), (-1,))
            return ops.tile(self.line(number), (_within(other),))

        if isinstance(other, Size):
            return self._with(other, ops.multiply, vector)
        found = self if other == 1 else self._with(other, ops.multiply)
        return found if other == 1 else Size(None, 0, found.compute, self.base, self.factor * int(other), vector)

    __rmul__ = __mul__

    def __floordiv__(self, other):
        def vector(number):
            return ops.getitem(self.line(number), slice(int(other) - 1, None, int(other)))

        if isinstance(other, Size):
            return self._with(other, ops.floor_divide)
        return self if other == 1 else self._with(other, ops.floor_divide, vector if other > 0 else None)


def _sum_of(line, more, number: int):
    """A vector that is longer by a size, or shorter by a known number."""
    if isinstance(more, Size):
        return ops.concat([line, more.line(number)], axis=0)
    if more < 0:
        return ops.getitem(line, slice(None, int(more)))
    return ops.pad(line, ((0, _within(more)),), value=number)


def _within(number) -> int:
    if not 0 <= number <= _LONGEST:
        raise ValueError(f"an unknown size is computed with {number}, and LabDL computes with 0 to {_LONGEST:,}")
    return int(number)


def larger(a, b):
    """The larger of two sizes, of which either may be unknown."""
    if a is b:
        return a
    if isinstance(a, Size):
        return a._with(b, ops.maximum)
    return larger(b, a) if isinstance(b, Size) else max(a, b)


def sizes_of(tensor) -> np.ndarray:
    """The shape of a tensor, with `Size` for unknown sizes."""
    found = [Size(tensor, axis) if n is None else n for axis, n in enumerate(tensor.shape)]
    return np.array(found, object if None in tensor.shape else "int64")


def as_tensor(sizes: np.ndarray):
    """An array with unknown sizes as a tensor."""
    if sizes.ndim > 1:
        raise ValueError("sizes must be in a vector")
    values = [s.value() if isinstance(s, Size) else int(s) for s in sizes.ravel()]
    if sizes.ndim == 0:
        return values[0]
    reference = next(v for v in values if not isinstance(v, int))
    return ops.stack([ops.full_like(reference, v) if isinstance(v, int) else v for v in values], axis=0)
