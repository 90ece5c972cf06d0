"""Activation functions as layers."""

from __future__ import annotations

from typing import Literal, get_args

from labdl import ops
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Initializer, Positive
from labdl.ops.operator import floats

# activations that are a setting of other layers
Activation = Literal[
    "relu",
    "gelu",
    "gelu_tanh",
    "silu",
    "tanh",
    "relu6",
    "leaky_relu",
    "elu",
    "mish",
    "sigmoid",
    "hardsigmoid",
    "hardswish",
    "quick_gelu",
]
ACTIVATIONS = {
    **{name: getattr(ops, name) for name in get_args(Activation) if hasattr(ops, name)},
    "gelu_tanh": lambda x: ops.gelu(x, approximate="tanh"),
    "quick_gelu": lambda x: ops.multiply(x, ops.sigmoid(ops.multiply(x, 1.702))),
}


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
    """log(1 + exp(beta * x)) / beta: a smooth ReLU."""

    beta: Positive = 1.0

    def forward(self, x):
        return ops.softplus(x, beta=self.beta)


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


@layer({}, floats(2, 3, low=-3, high=9))
class ReLU6(Module):
    """min(max(x, 0), 6) (Krizhevsky, 2010)."""

    def forward(self, x):
        return ops.relu6(x)


@layer({"shared": False}, floats(2, 3, 4))
class PReLU(Module):
    """x where positive, else x times a learned slope (He et al., 2015). Semantics: torch.nn.PReLU.

    One slope for all, or with ``shared=False`` one for each channel on ``axis``.
    """

    shared: bool = True
    slope_init: Initializer = "constant(0.25)"
    axis: int = 1

    def setup(self, x):
        size = 1 if self.shared else resolve_size("PReLU", "channel", None, x.shape[self.axis])
        self.slope = Parameter((size,), self.slope_init)
        self.input_axes = x.ndim  # Keras keeps the slopes with as many axes as a sample has

    def forward(self, x):
        return ops.prelu(x, self.slope, axis=self.axis)


@layer({}, floats(2, 3))
class RReLU(Module):
    """x where positive, else x times a slope that is random in training, and in evaluation the mean (Xu et al., 2015)."""

    lower: float = 1 / 8
    upper: float = 1 / 3

    def forward(self, x):
        return ops.rrelu(x, lower=self.lower, upper=self.upper, training=self.training)


@layer({}, floats(2, 3))
class SELU(Module):
    """ELU with the scale and alpha that keep mean 0 and variance 1 (Klambauer et al., 2017)."""

    def forward(self, x):
        return ops.selu(x)


@layer({}, floats(2, 3))
class CELU(Module):
    """x where positive, else alpha * (exp(x / alpha) - 1) (Barron, 2017)."""

    alpha: Positive = 1.0

    def forward(self, x):
        return ops.celu(x, alpha=self.alpha)


@layer({}, floats(2, 3))
class Mish(Module):
    """x * tanh(softplus(x)) (Misra, 2019)."""

    def forward(self, x):
        return ops.mish(x)


@layer({}, floats(2, 3))
class Hardtanh(Module):
    """x limited to a range."""

    low: float = -1.0
    high: float = 1.0

    def forward(self, x):
        return ops.hardtanh(x, low=self.low, high=self.high)


@layer({}, floats(2, 3, low=-5, high=5))
class Hardsigmoid(Module):
    """relu6(x + 3) / 6 (Howard et al., 2019)."""

    def forward(self, x):
        return ops.hardsigmoid(x)


@layer({}, floats(2, 3))
class Hardshrink(Module):
    """x, and 0 where its absolute value is at most the threshold."""

    threshold: float = 0.5

    def forward(self, x):
        return ops.hardshrink(x, threshold=self.threshold)


@layer({}, floats(2, 3))
class Softshrink(Module):
    """x moved toward 0 by the threshold, and 0 where it is nearer than that."""

    threshold: float = 0.5

    def forward(self, x):
        return ops.softshrink(x, threshold=self.threshold)


@layer({}, floats(2, 3))
class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, x):
        return ops.softsign(x)


@layer({}, floats(2, 3))
class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, x):
        return ops.tanhshrink(x)


@layer({"threshold": 0.1, "value": -2.0}, floats(2, 3))
class Threshold(Module):
    """x where it is above the threshold, else a fixed value."""

    threshold: float
    value: float

    def forward(self, x):
        return ops.threshold(x, self.threshold, self.value)


@layer({}, floats(2, 3))
class LogSigmoid(Module):
    """Logarithm of the sigmoid."""

    def forward(self, x):
        return ops.logsigmoid(x)


@layer({}, floats(2, 3))
class LogSoftmax(Module):
    """Logarithm of the softmax along an axis."""

    axis: int = -1

    def forward(self, x):
        return ops.log_softmax(x, axis=self.axis)


@layer({}, floats(2, 3))
class Softmin(Module):
    """Softmax of -x along an axis: large where x is small."""

    axis: int = -1

    def forward(self, x):
        return ops.softmin(x, axis=self.axis)


@layer({}, floats(2, 3, low=-0.4, high=0.4))
class Sparsemax(Module):
    """Point of the probability simplex nearest to x along an axis: a softmax with zeros (Martins & Astudillo, 2016)."""

    axis: int = -1

    def forward(self, x):
        return ops.sparsemax(x, axis=self.axis)


@layer({}, floats(2, 3))
class GumbelSoftmax(Module):
    """Random choice by softmax(x) that gradients flow through (Jang et al., 2017), in training and in evaluation.

    The nearer ``temperature`` is to 0, the nearer is the result to one-hot; ``hard`` makes it one-hot and keeps the
    gradient of the soft choice. Semantics: torch.nn.functional.gumbel_softmax.
    """

    temperature: Positive = 1.0
    hard: bool = False
    axis: int = -1

    def forward(self, x):
        return ops.gumbel_softmax(x, self.temperature, hard=self.hard, axis=self.axis)
