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
)  # operators used here


class Size:
    """An unknown size: the size of one axis of a tensor, or a value computed from it.

    Object arrays hold it beside known numbers and compute with it like with those. ``base`` is the size of a tensor of
    which this is ``factor`` times, or None.
    """

    def __init__(
        self,
        tensor: Any = None,
        axis: int = 0,
        compute: Callable | None = None,
        base: Size | None = None,
        factor: int = 1,
    ):
        self.tensor, self.axis, self.compute = tensor, axis, compute
        self.base, self.factor = (self if compute is None else base), factor

    def value(self):
        """The size as a scalar tensor, computed at run time."""
        return self.compute() if self.compute else ops.sum(self.line(1))

    def line(self, number: int):
        """A vector of this size filled with one number."""
        if self.tensor is None:
            raise ValueError("a size computed from an unknown one is used where LabDL needs the size itself")
        index = tuple(slice(None) if a == self.axis else 0 for a in range(len(self.tensor.shape)))
        return ops.full_like(ops.getitem(self.tensor, index), number, dtype="int64")

    def _with(self, other, operator: Callable, swapped: bool = False) -> Size:
        def compute():
            mine, theirs = self.value(), other.value() if isinstance(other, Size) else int(other)
            return operator(theirs, mine) if swapped else operator(mine, theirs)

        return Size(compute=compute)

    def __add__(self, other):
        return self._with(other, ops.add)

    def __radd__(self, other):
        return self._with(other, ops.add, swapped=True)

    def __sub__(self, other):
        return self._with(other, ops.subtract)

    def __rsub__(self, other):
        return self._with(other, ops.subtract, swapped=True)

    def __mul__(self, other):
        if isinstance(other, Size):
            return self._with(other, ops.multiply)
        found = self if other == 1 else self._with(other, ops.multiply)
        return found if other == 1 else Size(None, 0, found.compute, self.base, self.factor * int(other))

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return self if not isinstance(other, Size) and other == 1 else self._with(other, ops.floor_divide)


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
