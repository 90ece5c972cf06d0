"""Activation functions (PyTorch's definitions, at infinities and NaN too)."""

import math

import numpy as np

from labdl.ops import rules
from labdl.ops.array.shape import concat, ones_like, reshape, split, zeros_like
from labdl.ops.array.sorting import sort
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import add, clip, divide, exp, expm1, log, log1p, multiply, negative, square, subtract
from labdl.ops.math.comparison import equal, greater, less_equal, where
from labdl.ops.math.reduction import argmax, cumulative_sum
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import sum as total
from labdl.ops.math.special import erf
from labdl.ops.math.trigonometry import tanh
from labdl.ops.neural.gradient import stop_gradient
from labdl.ops.operator import REALS, Choice, Number, case, floats, operator
from labdl.ops.precision.float32 import _narrow, _wide
from labdl.ops.random.like import random_uniform_like

_ANY = (case(floats(2, 3)), case(floats(4, low=-30, high=30)), case(floats()))
_AXIS = (case(floats(2, 3)), case(floats(2, 3, 4), axis=1), case(floats(4, low=-200, high=200)))
_HALVES = (case(floats(2, 4)), case(floats(2, 6, 3), axis=1))


@operator(rules.elementwise, *_ANY, takes=REALS, onnx="Relu")
def relu(x, /):
    """max(x, 0)."""
    return np.maximum(x, 0)


@operator(rules.floating, *_ANY, onnx="Sigmoid")
def sigmoid(x, /):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


@operator(None, *_ANY)
def silu(x, /):
    """x * sigmoid(x), also called swish (Elfwing et al., 2017)."""
    return multiply(x, sigmoid(x))


@operator(None, *_ANY, case(floats(2, 3), approximate="tanh"), options={"approximate": Choice("none", "tanh")})
def gelu(x, approximate="none"):
    """x times the normal distribution function of x; ``approximate="tanh"`` for the faster form (Hendrycks & Gimpel, 2016)."""
    if approximate == "tanh":
        inner = multiply(add(x, multiply(multiply(square(x), x), 0.044715)), math.sqrt(2 / math.pi))
        return multiply(multiply(x, 0.5), add(tanh(inner), 1.0))
    return multiply(multiply(x, 0.5), add(erf(multiply(x, math.sqrt(0.5))), 1.0))


@operator(None, *_ANY, case(floats(2, 3), beta=2.0), precision="float32", options={"beta": Number(0, above=True)})
def softplus(x, beta=1.0):
    """log(1 + exp(beta * x)) / beta, without overflow."""
    x = x if beta == 1 else multiply(x, beta)
    positive = greater(x, 0)
    below = where(positive, negative(x), x)  # -|x|, with slope 1 at 0, for which softplus has slope 1/2 at 0
    result = add(where(positive, x, 0.0), log1p(exp(below)))
    return result if beta == 1 else multiply(result, 1 / beta)


@operator(None, *_ANY, precision="float32")
def logsigmoid(x, /):
    """The logarithm of `sigmoid`, without overflow."""
    return negative(softplus(negative(x)))


@operator(None, *_ANY, onnx="Mish")
def mish(x, /):
    """x * tanh(softplus(x)) (Misra, 2019)."""
    return multiply(x, tanh(softplus(x)))


@operator(None, *_ANY, case(floats(2, 3), negative_slope=0.2), checked=True)
def leaky_relu(x, negative_slope=0.01):
    """x where positive, else ``negative_slope`` times x (Maas et al., 2013)."""
    return where(greater(x, 0), x, multiply(x, negative_slope))


@operator(
    rules.prelu,
    case(floats(2, 3, 4), floats(3)),
    case(floats(2, 4, 3), floats(3), axis=-1),
    case(floats(2, 3), floats(1)),
    case(floats(4), floats()),
    composite=True,
    precision="half",
)
def prelu(x, slope, *, axis=1):
    """x where positive, else x times a learned slope: one for all, or one for each channel on ``axis`` (He et al., 2015).

    Semantics: torch.nn.functional.prelu.
    """
    if tuple(slope.shape) not in ((), (1,)):
        shape = [1] * len(x.shape)
        shape[axis] = -1
        slope = reshape(slope, tuple(shape))
    return where(greater(x, 0), x, multiply(x, slope))


@operator(
    rules.rrelu, case(floats(2, 3)), case(floats(2, 3), lower=0.2, upper=0.4), random=True, composite=True, checked=True
)
def rrelu(x, lower=1 / 8, upper=1 / 3, *, training=False):
    """x where positive, else x times a slope: in training a random one from ``lower`` to ``upper``, else their mean.

    Source: Xu et al., 2015. Semantics: torch.nn.functional.rrelu.
    """
    slope = random_uniform_like(x, lower, upper) if training else (lower + upper) / 2
    return where(greater(x, 0), x, multiply(x, slope))


def _exponential_unit(x, alpha):
    """x where positive, else alpha * (exp(x) - 1); exp gets no large x, whose gradient would be inf * 0."""
    positive = greater(x, 0)
    return where(positive, x, multiply(expm1(where(positive, 0.0, x)), alpha))


@operator(None, *_ANY, case(floats(2, 3), alpha=0.5), checked=True)
def elu(x, alpha=1.0):
    """x where positive, else alpha * (exp(x) - 1) (Clevert et al., 2015)."""
    return _exponential_unit(x, alpha)


@operator(None, *_ANY, onnx="Selu")
def selu(x, /):
    """`elu` with the scale and alpha that keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    return multiply(_exponential_unit(x, 1.6732632423543772), 1.0507009873554805)


@operator(None, *_ANY, case(floats(2, 3), alpha=0.5), options={"alpha": Number(0, above=True)})
def celu(x, alpha=1.0):
    """x where positive, else alpha * (exp(x / alpha) - 1) (Barron, 2017)."""
    return multiply(_exponential_unit(multiply(x, 1 / alpha), 1.0), alpha)


@operator(None, *_ANY, onnx="Softsign")
def softsign(x, /):
    """x / (1 + |x|)."""
    return divide(x, add(absolute(x), 1))


@operator(None, *_ANY, case(floats(2, 3), low=-0.5, high=1.5))
def hardtanh(x, low=-1.0, high=1.0):
    """x limited to the range from ``low`` to ``high``."""
    return clip(x, low, high)


@operator(None, *_ANY, case(floats(3, 4, low=-8, high=8)))
def relu6(x, /):
    """min(max(x, 0), 6) (Krizhevsky, 2010)."""
    return clip(relu(x), None, 6.0)  # not clip(x, 0, 6): its slope at 0 is 1


@operator(None, *_ANY, case(floats(3, 4, low=-8, high=8)))
def hardsigmoid(x, /):
    """relu6(x + 3) / 6 (Howard et al., 2019)."""
    return clip(add(multiply(x, 1 / 6), 0.5), 0.0, 1.0)


@operator(None, *_ANY, case(floats(3, 4, low=-8, high=8)), onnx="HardSwish")
def hardswish(x, /):
    """x * hardsigmoid(x) (Howard et al., 2019)."""
    return multiply(x, hardsigmoid(x))


@operator(None, *_ANY, case(floats(2, 3), 1.0), options={"threshold": Number(0)})
def softshrink(x, threshold=0.5):
    """x shrunk toward 0 by ``threshold``; 0 within it."""
    return subtract(x, clip(x, -threshold, threshold))


@operator(None, *_ANY, case(floats(2, 3), 1.0))
def hardshrink(x, threshold=0.5):
    """x, and 0 where its absolute value is at most ``threshold``."""
    return where(less_equal(absolute(x), threshold), 0.0, x)


@operator(None, *_ANY)
def tanhshrink(x, /):
    """x - tanh(x)."""
    return subtract(x, tanh(x))


@operator(None, case(floats(2, 3), 0.5, 0.0), case(floats(4), -0.5, 2.0))
def threshold(x, threshold, value):
    """x where it is above ``threshold``, else ``value``. Semantics: torch.nn.functional.threshold."""
    return where(less_equal(x, threshold), value, x)


@operator(None, case(floats(2, 3)), case(floats(2, 3, 4), axis=1))
def crelu(x, axis=-1):
    """relu(x) and relu(-x) joined along an axis, which becomes twice as long (Shang et al., 2016)."""
    return concat([relu(x), relu(negative(x))], axis=axis)


@operator(None, *_HALVES)
def glu(x, axis=-1):
    """The first half of an axis times the `sigmoid` of the second (Dauphin et al., 2017)."""
    values, gates = split(x, 2, axis=axis)
    return multiply(values, sigmoid(gates))


@operator(None, *_HALVES)
def swiglu(x, axis=-1):
    """The `silu` of the first half of an axis times the second (Shazeer, 2020)."""
    gates, values = split(x, 2, axis=axis)
    return multiply(silu(gates), values)


@operator(rules.softmax, *_AXIS, precision="float32")
def softmax(x, axis=-1):
    """exp(x) divided by its sum along an axis."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=axis, keepdims=True)


@operator(None, *_AXIS, precision="float32")
def softmin(x, axis=-1):
    """`softmax` of -x: large where x is small."""
    return softmax(negative(x), axis=axis)


@operator(None, *_AXIS, precision="float32")
def log_softmax(x, axis=-1):
    """The logarithm of `softmax`, without overflow."""
    shifted = subtract(x, largest(x, axis=axis, keepdims=True))
    return subtract(shifted, log(total(exp(shifted), axis=axis, keepdims=True)))


@operator(None, *_AXIS, precision="float32")
def sparsemax(x, axis=-1):
    """The point of the probability simplex nearest to x along an axis: as `softmax`, with zeros (Martins & Astudillo, 2016)."""
    ranked = sort(x, axis=axis, descending=True)
    # the threshold for each number k of largest elements; the largest of these is the right one
    lowered = divide(subtract(cumulative_sum(ranked, axis=axis), 1), cumulative_sum(ones_like(ranked), axis=axis))
    return relu(subtract(x, largest(lowered, axis=axis, keepdims=True)))


@operator(
    None,
    case(floats(2, 3)),
    case(floats(2, 3, 4), temperature=0.5, axis=1),
    case(floats(2, 3), hard=True),
    random=True,
    differentiable=False,
    precision="float32",
    checked=True,
)
def gumbel_softmax(logits, temperature=1.0, *, hard=False, axis=-1):
    """A differentiable random choice by softmax(logits) (Jang et al., 2017; Maddison et al., 2017).

    The nearer ``temperature`` is to 0, the nearer is the result to one-hot; ``hard=True`` makes it one-hot and keeps the
    gradient of the soft choice. Semantics: torch.nn.functional.gumbel_softmax.
    """
    x = _wide(logits)
    drawn = clip(random_uniform_like(x), 1e-30, 1.0)
    soft = softmax(multiply(x - log(negative(log(drawn))), 1 / temperature), axis=axis)
    if hard:
        positions = cumulative_sum(ones_like(soft), axis=axis) - 1
        largest = equal(positions, argmax(soft, axis=axis, keepdims=True))
        soft = where(largest, 1.0, zeros_like(soft)) + (soft - stop_gradient(soft))
    return _narrow(soft, logits)
