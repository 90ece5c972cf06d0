"""Activation functions as layers."""

from __future__ import annotations

from typing import Literal

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.ops.operator import floats


@layer({}, floats(2, 3))
class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x):
        return ops.relu(x)


@layer({}, floats(2, 3))
class GELU(Module):
    """x times the normal distribution function of x (Hendrycks & Gimpel, 2016)."""

    approximate: Literal["none", "tanh"] = "none"

    def forward(self, x):
        return ops.gelu(x, approximate=self.approximate)


@layer({}, floats(2, 3))
class SiLU(Module):
    """x * sigmoid(x), also called swish."""

    def forward(self, x):
        return ops.silu(x)


@layer({}, floats(2, 3))
class LeakyReLU(Module):
    """x where positive, else a small slope times x."""

    negative_slope: float = 0.01

    def forward(self, x):
        return ops.leaky_relu(x, negative_slope=self.negative_slope)


@layer({}, floats(2, 3))
class ELU(Module):
    """x where positive, else alpha * (exp(x) - 1)."""

    alpha: float = 1.0

    def forward(self, x):
        return ops.elu(x, alpha=self.alpha)


@layer({}, floats(2, 3))
class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, x):
        return ops.sigmoid(x)


@layer({}, floats(2, 3))
class Tanh(Module):
    """Hyperbolic tangent."""

    def forward(self, x):
        return ops.tanh(x)


@layer({}, floats(2, 3))
class Softplus(Module):
    """log(1 + exp(x))."""

    def forward(self, x):
        return ops.softplus(x)


@layer({}, floats(2, 3))
class Hardswish(Module):
    """x * relu6(x + 3) / 6 (Howard et al., 2019)."""

    def forward(self, x):
        return ops.hardswish(x)


@layer({}, floats(2, 3))
class Softmax(Module):
    """exp(x) divided by its sum along an axis."""

    axis: int = -1

    def forward(self, x):
        return ops.softmax(x, axis=self.axis)
