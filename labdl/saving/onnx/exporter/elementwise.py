"""ONNX writers of elementwise operators: arithmetic, functions, comparison, logic, activations."""

from __future__ import annotations

import math

import numpy as np

from labdl import ops
from labdl.saving.onnx.exporter.registry import direct, writes
from labdl.spec import FLOATS, INTEGERS


def rounding(kind: str):
    """Rounding; integers are returned unchanged."""
    return lambda e, x: x if x.dtype in INTEGERS else e(kind, x)


def logical(kind: str, numbers: str):
    """One operator for booleans, another for numbers."""
    return lambda e, x, *others: e(kind if x.dtype == "bool" else numbers, x, *others)


@writes("trunc")
def trunc(e, x):
    return x if x.dtype in INTEGERS else e("Mul", e("Sign", x), e("Floor", e("Abs", x)))


@writes("floor_divide")
def floor_divide(e, x, y):
    if x.dtype in FLOATS:
        return e("Floor", e("Div", x, y))
    return e("Div", e("Sub", x, e("Mod", x, y)), y)  # the division of integers rounds toward zero


@writes("remainder")
def remainder(e, x, y):
    if x.dtype in INTEGERS:
        return e("Mod", x, y)
    return e("Sub", x, e("Mul", e("Floor", e("Div", x, y)), y))


@writes("clip")
def clip(e, x, low, high):
    if all(v is None or v.ndim == 0 for v in (low, high)):
        return x if low is None and high is None else e("Clip", x, low, high)
    x = x if low is None else e("Max", x, low)
    return x if high is None else e("Min", x, high)


@writes("copysign")
def copysign(e, x, y):
    size = e("Abs", x)
    negative = e("Or", e("Less", y, 0), e("Less", e("Reciprocal", y), 0))  # -0.0 too
    return e("Where", negative, e("Neg", size), size)


@writes("signbit")
def signbit(e, x):
    return e("Or", e("Less", x, 0), e("Less", e("Reciprocal", x), 0))


@writes("atan2")
def atan2(e, y, x):
    y, x = e.cast(y, e.spec.dtype), e.cast(x, e.spec.dtype)
    e.dtype = e.spec.dtype
    turn = e("Where", e("Less", y, 0), -math.pi, math.pi)
    angle = e("Atan", e("Div", y, x))
    beside = e("Where", e("Less", x, 0), e("Add", angle, turn), angle)
    upright = e("Mul", e("Sign", y), math.pi / 2)
    return e("Where", e("Equal", x, 0), upright, beside)


@writes("nan_to_num")
def nan_to_num(e, x, nan, posinf, neginf):
    info = np.finfo(x.dtype)
    high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    x = e("Where", e("IsNaN", x), float(nan), x)
    x = e("Where", e("IsInf", x, detect_negative=0), float(high), x)
    return e("Where", e("IsInf", x, detect_positive=0), float(low), x)


@writes("logaddexp")
def logaddexp(e, x, y):
    x, y = e.cast(x, e.spec.dtype), e.cast(y, e.spec.dtype)
    return e("Add", e("Max", x, y), e("Softplus", e("Neg", e("Abs", e("Sub", x, y)))))


def logarithm(base: float):
    def log(e, x):
        e.dtype = e.spec.dtype
        return e("Mul", e("Log", e.cast(x, e.spec.dtype)), 1 / math.log(base))

    return log


@writes("exp2")
def exp2(e, x):
    e.dtype = e.spec.dtype
    return e("Exp", e("Mul", e.cast(x, e.spec.dtype), math.log(2)))


@writes("expm1")
def expm1(e, x):
    """tanh(x / 2) * (exp(x) + 1), which keeps the digits of small x."""
    e.dtype, x = e.spec.dtype, e.cast(x, e.spec.dtype)
    return e("Mul", e("Tanh", e("Mul", x, 0.5)), e("Add", e("Exp", x), 1.0))


@writes("log1p")
def log1p(e, x):
    e.dtype = e.spec.dtype
    return e("Log", e("Add", e.cast(x, e.spec.dtype), 1.0))


@writes("erfc")
def erfc(e, x):
    e.dtype = e.spec.dtype
    return e("Sub", 1.0, e("Erf", e.cast(x, e.spec.dtype)))


@writes("softplus")
def softplus(e, x, beta):
    return e("Softplus", x) if beta == 1 else e("Div", e("Softplus", e("Mul", x, float(beta))), float(beta))


@writes("prelu")
def prelu(e, x, slope, axis):
    if slope.ndim and slope.shape != (1,):
        slope = ops.reshape(slope, (-1, *(1,) * (x.ndim - 1 - axis % x.ndim)))
    return e("PRelu", x, slope)


@writes("softmax")
def softmax(e, x, axis):
    return e("Softmax", x, axis=axis % max(x.ndim, 1))


@writes("log_softmax")
def log_softmax(e, x, axis):
    return e("LogSoftmax", x, axis=axis % max(x.ndim, 1))


@writes("random_uniform_like")
def random_uniform_like(e, x, low, high):
    return e("RandomUniformLike", x, low=float(low), high=float(high))


@writes("random_normal_like")
def random_normal_like(e, x, mean, std):
    return e("RandomNormalLike", x, mean=float(mean), scale=float(std))


writes("floor")(rounding("Floor"))
writes("ceil")(rounding("Ceil"))
writes("round")(rounding("Round"))
writes("add")(logical("Or", "Add"))
writes("multiply")(logical("And", "Mul"))
writes("bitwise_and")(logical("And", "BitwiseAnd"))
writes("bitwise_or")(logical("Or", "BitwiseOr"))
writes("bitwise_xor")(logical("Xor", "BitwiseXor"))
writes("bitwise_invert")(logical("Not", "BitwiseNot"))
writes("fmod")(direct("Mod", fmod=1))


@writes("square")
def square(e, x):
    return e("Mul", x, x)


@writes("rsqrt")
def rsqrt(e, x):
    return e("Reciprocal", e("Sqrt", e.cast(x, e.spec.dtype)))


@writes("hypot")
def hypot(e, x, y):
    return e("Sqrt", e("Add", e("Mul", x, x), e("Mul", y, y)))


@writes("isfinite")
def isfinite(e, x):
    return e("Not", e("Or", e("IsInf", x), e("IsNaN", x))) if x.dtype in FLOATS else e("Equal", x, x)


@writes("not_equal")
def not_equal(e, x, y):
    return e("Not", e("Equal", x, y))


@writes("logdet")
def logdet(e, x):
    return e("Log", e("Det", x))


writes("log2")(logarithm(2))
writes("log10")(logarithm(10))


@writes("gelu")
def gelu(e, x, approximate):
    return e("Gelu", x, approximate=approximate)


@writes("leaky_relu")
def leaky_relu(e, x, slope):
    return e("LeakyRelu", x, alpha=float(slope))


@writes("elu")
def elu(e, x, alpha):
    return e("Elu", x, alpha=float(alpha))


@writes("celu")
def celu(e, x, alpha):
    return e("Celu", x, alpha=float(alpha))


@writes("hardsigmoid")
def hardsigmoid(e, x):
    return e("HardSigmoid", x, alpha=1 / 6, beta=0.5)


@writes("stop_gradient", "conj", "real")
def identity(e, x):
    return x
