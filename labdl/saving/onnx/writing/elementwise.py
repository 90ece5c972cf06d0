"""How operators on each element are spelled: arithmetic, functions, comparison, logic, activations."""

from __future__ import annotations

import math

import numpy as np

from labdl import ops
from labdl.spec import FLOATS, INTEGERS


def direct(kind: str, **attributes):
    """ONNX has the operator, with these attributes."""
    return lambda e, *inputs: e(kind, *inputs, **attributes)


def fractional(kind: str):
    """ONNX has the operator, for dtypes with fractions only."""
    return lambda e, x: e(kind, e.cast(x, e.spec.dtype))


def rounding(kind: str):
    """Integers stay as they are."""
    return lambda e, x: x if x.dtype in INTEGERS else e(kind, x)


def logical(kind: str, numbers: str):
    """One word for booleans, another for numbers."""
    return lambda e, x, *others: e(kind if x.dtype == "bool" else numbers, x, *others)


def trunc(e, x):
    return x if x.dtype in INTEGERS else e("Mul", e("Sign", x), e("Floor", e("Abs", x)))


def divide(e, x, y):
    return e("Div", e.cast(x, e.spec.dtype), e.cast(y, e.spec.dtype))


def floor_divide(e, x, y):
    if x.dtype in FLOATS:
        return e("Floor", e("Div", x, y))
    return e("Div", e("Sub", x, e("Mod", x, y)), y)  # the division of integers rounds towards zero


def remainder(e, x, y):
    if x.dtype in INTEGERS:
        return e("Mod", x, y)
    return e("Sub", x, e("Mul", e("Floor", e("Div", x, y)), y))


def clip(e, x, low, high):
    if all(v is None or v.ndim == 0 for v in (low, high)):
        return x if low is None and high is None else e("Clip", x, low, high)
    x = x if low is None else e("Max", x, low)
    return x if high is None else e("Min", x, high)


def copysign(e, x, y):
    size = e("Abs", x)
    negative = e("Or", e("Less", y, 0), e("Less", e("Reciprocal", y), 0))  # -0.0 too
    return e("Where", negative, e("Neg", size), size)


def signbit(e, x):
    return e("Or", e("Less", x, 0), e("Less", e("Reciprocal", x), 0))


def atan2(e, y, x):
    y, x = e.cast(y, e.spec.dtype), e.cast(x, e.spec.dtype)
    e.dtype = e.spec.dtype
    turn = e("Where", e("Less", y, 0), -math.pi, math.pi)
    angle = e("Atan", e("Div", y, x))
    beside = e("Where", e("Less", x, 0), e("Add", angle, turn), angle)
    upright = e("Mul", e("Sign", y), math.pi / 2)
    return e("Where", e("Equal", x, 0), upright, beside)


def nan_to_num(e, x, nan, posinf, neginf):
    info = np.finfo(x.dtype)
    high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    x = e("Where", e("IsNaN", x), float(nan), x)
    x = e("Where", e("IsInf", x, detect_negative=0), float(high), x)
    return e("Where", e("IsInf", x, detect_positive=0), float(low), x)


def logaddexp(e, x, y):
    x, y = e.cast(x, e.spec.dtype), e.cast(y, e.spec.dtype)
    return e("Add", e("Max", x, y), e("Softplus", e("Neg", e("Abs", e("Sub", x, y)))))


def logarithm(base: float):
    def log(e, x):
        e.dtype = e.spec.dtype
        return e("Mul", e("Log", e.cast(x, e.spec.dtype)), 1 / math.log(base))

    return log


def exp2(e, x):
    e.dtype = e.spec.dtype
    return e("Exp", e("Mul", e.cast(x, e.spec.dtype), math.log(2)))


def expm1(e, x):
    """tanh(x / 2) * (exp(x) + 1), which keeps the digits of small x."""
    e.dtype, x = e.spec.dtype, e.cast(x, e.spec.dtype)
    return e("Mul", e("Tanh", e("Mul", x, 0.5)), e("Add", e("Exp", x), 1.0))


def log1p(e, x):
    e.dtype = e.spec.dtype
    return e("Log", e("Add", e.cast(x, e.spec.dtype), 1.0))


def erfc(e, x):
    e.dtype = e.spec.dtype
    return e("Sub", 1.0, e("Erf", e.cast(x, e.spec.dtype)))


def softplus(e, x, beta):
    return e("Softplus", x) if beta == 1 else e("Div", e("Softplus", e("Mul", x, float(beta))), float(beta))


def prelu(e, x, slope, axis):
    if slope.ndim and slope.shape != (1,):
        slope = ops.reshape(slope, (-1, *(1,) * (x.ndim - 1 - axis % x.ndim)))
    return e("PRelu", x, slope)


def softmax(e, x, axis):
    return e("Softmax", x, axis=axis % max(x.ndim, 1))


def log_softmax(e, x, axis):
    return e("LogSoftmax", x, axis=axis % max(x.ndim, 1))


def random_uniform_like(e, x, low, high):
    return e("RandomUniformLike", x, low=float(low), high=float(high))


def random_normal_like(e, x, mean, std):
    return e("RandomNormalLike", x, mean=float(mean), scale=float(std))


TABLE = {
    **{name: direct(kind) for name, kind in {
        "abs": "Abs", "negative": "Neg", "sign": "Sign", "relu": "Relu", "maximum": "Max", "minimum": "Min",
        "subtract": "Sub", "pow": "Pow", "equal": "Equal", "less": "Less", "less_equal": "LessOrEqual",
        "greater": "Greater", "greater_equal": "GreaterOrEqual", "logical_and": "And", "logical_or": "Or",
        "logical_xor": "Xor", "logical_not": "Not", "isinf": "IsInf", "isnan": "IsNaN", "where": "Where",
        "softsign": "Softsign", "mish": "Mish", "hardswish": "HardSwish", "selu": "Selu",
    }.items()},
    **{name: fractional(kind) for name, kind in {
        "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "tan": "Tan",
        "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh",
        "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf", "sigmoid": "Sigmoid",
    }.items()},
    "floor": rounding("Floor"), "ceil": rounding("Ceil"), "round": rounding("Round"), "trunc": trunc,
    "add": logical("Or", "Add"), "multiply": logical("And", "Mul"),
    "bitwise_and": logical("And", "BitwiseAnd"), "bitwise_or": logical("Or", "BitwiseOr"),
    "bitwise_xor": logical("Xor", "BitwiseXor"), "bitwise_invert": logical("Not", "BitwiseNot"),
    "divide": divide, "floor_divide": floor_divide, "remainder": remainder, "fmod": direct("Mod", fmod=1), "clip": clip,
    "square": lambda e, x: e("Mul", x, x),
    "rsqrt": lambda e, x: e("Reciprocal", e("Sqrt", e.cast(x, e.spec.dtype))),
    "hypot": lambda e, x, y: e("Sqrt", e("Add", e("Mul", x, x), e("Mul", y, y))),
    "isfinite": lambda e, x: e("Not", e("Or", e("IsInf", x), e("IsNaN", x))) if x.dtype in FLOATS
    else e("Equal", x, x),
    "not_equal": lambda e, x, y: e("Not", e("Equal", x, y)),
    "copysign": copysign, "signbit": signbit, "atan2": atan2, "nan_to_num": nan_to_num, "logaddexp": logaddexp,
    "log2": logarithm(2), "log10": logarithm(10), "log1p": log1p, "exp2": exp2, "expm1": expm1, "erfc": erfc,
    "stop_gradient": lambda e, x: x, "conj": lambda e, x: x, "real": lambda e, x: x,
    "gelu": lambda e, x, approximate: e("Gelu", x, approximate=approximate),
    "softplus": softplus, "prelu": prelu, "softmax": softmax, "log_softmax": log_softmax,
    "leaky_relu": lambda e, x, slope: e("LeakyRelu", x, alpha=float(slope)),
    "elu": lambda e, x, alpha: e("Elu", x, alpha=float(alpha)),
    "celu": lambda e, x, alpha: e("Celu", x, alpha=float(alpha)),
    "hardsigmoid": lambda e, x: e("HardSigmoid", x, alpha=1 / 6, beta=0.5),
    "random_uniform_like": random_uniform_like, "random_normal_like": random_normal_like,
}  # fmt: skip
