"""Layers with several inputs."""

from __future__ import annotations

from functools import reduce

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.ops.operator import floats


@layer({}, floats(2, 3), floats(2, 3))
class Add(Module):
    """Sum of all inputs, element by element; the end of a skip connection."""

    def forward(self, *xs):
        return reduce(ops.add, xs)


@layer({}, floats(2, 3), floats(2, 3))
class Multiply(Module):
    """Product of all inputs, element by element; the end of a gate."""

    def forward(self, *xs):
        return reduce(ops.multiply, xs)


@layer({}, floats(2, 3, 4), floats(2, 2, 4))
class Concat(Module):
    """All inputs joined along an axis (1: channels)."""

    axis: int = 1

    def forward(self, *xs):
        return ops.concat(xs, axis=self.axis)
