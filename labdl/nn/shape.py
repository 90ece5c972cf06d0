"""Layers that change shape only."""

from __future__ import annotations

import math

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Whole
from labdl.ops.operator import floats
from labdl.spec import show


@layer({}, floats(2, 3, 4))
class Flatten(Module):
    """All axes after the batch as one: (N, ...) to (N, features)."""

    def forward(self, x):
        if len(x.shape) < 2 or None in x.shape[1:]:
            raise ValueError(f"Flatten needs known sizes after the batch axis, received {show(x.shape)}")
        return ops.reshape(x, (-1, math.prod(x.shape[1:])))


@layer({"shape": (-1,)}, floats(2, 3, 4))
class Reshape(Module):
    """Another shape for each sample, the batch axis left alone; one size may be -1."""

    shape: tuple[int, ...]

    def forward(self, x):
        shape = self.shape
        if -1 in shape:
            rest = -math.prod(shape)
            if shape.count(-1) > 1 or rest < 1 or None in x.shape[1:]:
                raise ValueError(f"Reshape to {show(shape)} cannot find the open size of {show(x.shape)}")
            shape = tuple(math.prod(x.shape[1:]) // rest if n == -1 else n for n in shape)
        if None not in x.shape[1:] and math.prod(x.shape[1:]) != math.prod(shape):
            raise ValueError(f"Reshape of {show(x.shape)} to {show((None, *self.shape))}: the number of elements of a "
                             "sample differs")  # fmt: skip
        return ops.reshape(x, (-1, *shape))


@layer({"axes": (0, 2, 1)}, floats(2, 3, 4))
class Permute(Module):
    """Axes in another order."""

    axes: tuple[Whole, ...]

    def forward(self, x):
        return ops.permute_dims(x, self.axes)
