"""Layers that act in training only."""

from __future__ import annotations

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Rate
from labdl.ops.operator import floats


@layer({}, floats(2, 3))
class Dropout(Module):
    """In training, zeroes a random share of the elements and scales the rest (Srivastava et al., 2014)."""

    rate: Rate = 0.5

    def forward(self, x):
        return ops.dropout(x, self.rate, training=self.training)
