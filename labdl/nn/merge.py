"""Layers with several inputs."""

from __future__ import annotations

from functools import reduce

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.ops.operator import floats


@layer({}, floats(2, 3), floats(2, 3))
class Add(Module):
    """Sum of all inputs, element by element, as at the end of a skip connection."""

    def forward(self, *xs):
        return reduce(ops.add, xs)


@layer({}, floats(2, 3), floats(2, 3))
class Multiply(Module):
    """Product of all inputs, element by element, as in gating."""

    def forward(self, *xs):
        return reduce(ops.multiply, xs)


@layer({}, floats(2, 3, 4), floats(2, 2, 4))
class Concat(Module):
    """All inputs concatenated along an axis (1: channels)."""

    axis: int = 1

    def forward(self, *xs):
        return ops.concat(xs, axis=self.axis)


@layer({}, floats(2, 3), floats(2, 3))
class Subtract(Module):
    """x - y, element by element."""

    def forward(self, x, y):
        return ops.subtract(x, y)


@layer({}, floats(2, 3), floats(2, 3, low=0.5))
class Divide(Module):
    """x / y, element by element."""

    def forward(self, x, y):
        return ops.divide(x, y)


@layer({}, floats(2, 3), floats(2, 3))
class Average(Module):
    """Mean of all inputs, element by element."""

    def forward(self, *xs):
        return ops.divide(reduce(ops.add, xs), len(xs))


@layer({}, floats(2, 3), floats(2, 3))
class Maximum(Module):
    """Largest of all inputs, element by element."""

    def forward(self, *xs):
        return reduce(ops.maximum, xs)


@layer({}, floats(2, 3), floats(2, 3))
class Minimum(Module):
    """Smallest of all inputs, element by element."""

    def forward(self, *xs):
        return reduce(ops.minimum, xs)


@layer({}, floats(2, 3), floats(2, 3))
class Stack(Module):
    """All inputs, of the same shape, stacked along a new axis."""

    axis: int = 1

    def forward(self, *xs):
        return ops.stack(xs, axis=self.axis)


@layer({}, floats(2, 3, 4), floats(2, 4, 5))
class MatMul(Module):
    """Matrix product over the last two axes: (..., n, k) and (..., k, m) to (..., n, m)."""

    def forward(self, x, y):
        return ops.matmul(x, y)


@layer({}, floats(2, 3), floats(2, 3))
class Dot(Module):
    """Dot product along an axis, which is removed."""

    axis: int = -1

    def forward(self, x, y):
        return ops.vecdot(x, y, axis=self.axis)
