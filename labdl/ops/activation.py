"""Activation functions (PyTorch's definitions)."""

import math

import numpy as np

from labdl.ops import rules
from labdl.ops.math import abs as absolute
from labdl.ops.math import clip, divide, exp, expm1, log1p, multiply, tanh
from labdl.ops.operator import case, floats, operator
from labdl.ops.reduction import logsumexp

_ANY = (case(floats(2, 3)), case(floats(4, low=-30, high=30)))
_AXIS = (case(floats(2, 3)), case(floats(2, 3, 4), axis=1))


@operator(rules.elementwise, *_ANY)
def relu(x, /):
    """max(x, 0)."""
    return np.maximum(x, 0)


@operator(rules.floating, *_ANY)
def sigmoid(x, /):
    """1 / (1 + exp(-x))."""
    return 0.5 * (1 + np.tanh(0.5 * x))


@operator(rules.floating, *_ANY)
def erf(x, /):
    """The error function, 2 / sqrt(pi) times the integral of exp(-t²) from 0 to x."""
    return np.vectorize(math.erf, otypes=[np.result_type(x, "float32")])(x)


@operator(None, *_ANY)
def silu(x, /):
    """x * sigmoid(x), also called swish (Elfwing et al., 2017)."""
    return multiply(x, sigmoid(x))


@operator(None, *_ANY)
def gelu(x, approximate="none"):
    """x times the normal distribution function of x; ``approximate="tanh"`` for the faster form (Hendrycks & Gimpel, 2016)."""
    if approximate == "tanh":
        inner = multiply(x + 0.044715 * x * x * x, math.sqrt(2 / math.pi))
        return multiply(0.5 * x, 1 + tanh(inner))
    return multiply(0.5 * x, 1 + erf(x * math.sqrt(0.5)))


@operator(None, *_ANY)
def softplus(x, /):
    """log(1 + exp(x)), without overflow."""
    return log1p(exp(-absolute(x))) + relu(x)


@operator(None, *_ANY)
def leaky_relu(x, negative_slope=0.01):
    """x where positive, else ``negative_slope`` times x."""
    return relu(x) - negative_slope * relu(-x)


@operator(None, *_ANY)
def elu(x, alpha=1.0):
    """x where positive, else alpha * (exp(x) - 1) (Clevert et al., 2015)."""
    return relu(x) - alpha * relu(-expm1(-relu(-x)))


@operator(None, *_ANY)
def softsign(x, /):
    """x / (1 + |x|)."""
    return divide(x, 1 + absolute(x))


@operator(None, *_ANY)
def hardtanh(x, low=-1.0, high=1.0):
    """x limited to the range from ``low`` to ``high``."""
    return clip(x, low, high)


@operator(None, *_ANY)
def hardsigmoid(x, /):
    """relu6(x + 3) / 6 (Howard et al., 2019)."""
    return clip(x * (1 / 6) + 0.5, 0.0, 1.0)


@operator(None, *_ANY)
def hardswish(x, /):
    """x * hardsigmoid(x) (Howard et al., 2019)."""
    return multiply(x, hardsigmoid(x))


@operator(rules.floating, *_AXIS)
def softmax(x, axis=-1):
    """exp(x) divided by its sum along an axis."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@operator(None, *_AXIS)
def log_softmax(x, axis=-1):
    """The logarithm of `softmax`, without overflow."""
    return x - logsumexp(x, axis=axis, keepdims=True)
