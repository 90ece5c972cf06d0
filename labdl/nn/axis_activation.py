"""Activation functions that change the size of an axis."""

from __future__ import annotations

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count
from labdl.ops.operator import floats


@layer({}, floats(2, 4), category="activation")
class GLU(Module):
    """First half of an axis times the sigmoid of the second (Dauphin et al., 2017)."""

    axis: int = -1

    def forward(self, x):
        return ops.glu(x, axis=self.axis)


@layer({}, floats(2, 4), category="activation")
class SwiGLU(Module):
    """SiLU of the first half of an axis times the second (Shazeer, 2020)."""

    axis: int = -1

    def forward(self, x):
        return ops.swiglu(x, axis=self.axis)


@layer({}, floats(2, 3, 4), category="activation")
class CReLU(Module):
    """relu(x) and relu(-x) concatenated along an axis, which becomes twice as long (Shang et al., 2016)."""

    axis: int = 1

    def forward(self, x):
        return ops.crelu(x, axis=self.axis)


@layer({"pieces": 2}, floats(2, 6, 3), category="activation")
class Maxout(Module):
    """Maximum over groups of ``pieces`` neighbors along an axis, whose size is divided by it (Goodfellow et al., 2013)."""

    pieces: Count
    axis: int = 1

    def forward(self, x):
        return ops.maxout(x, self.pieces, axis=self.axis)
