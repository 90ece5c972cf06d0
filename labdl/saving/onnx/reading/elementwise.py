"""What ONNX's operators on each element mean, and its reductions."""

from __future__ import annotations

import functools

import numpy as np

from labdl import nn
from labdl.saving.onnx.reading.known import Known
from labdl.saving.onnx.standard import NAMES
from labdl.spec import FLOATS, INTEGERS, Spec


def direct(name: str):
    """LabDL has the operator under another name."""
    return lambda r, node, *inputs: r.call(name, *inputs)


def folded(name: str):
    """Of any number of inputs, two by two."""
    return lambda r, node, *inputs: functools.reduce(lambda x, y: r.call(name, x, y), inputs)


def arithmetic(name: str, infix):
    """Sizes that are unknown are computed with as they are."""

    def meaning(r, node, x, y):
        if isinstance(x, Known) and isinstance(y, Known) and (x.open or y.open):
            return Known(np.asarray(infix(x.array, y.array), object))
        return r.call(name, x, y)

    return meaning


def divide(r, node, x, y):
    if x.dtype not in INTEGERS and x.dtype in FLOATS:
        return r.call("divide", x, y)
    if isinstance(x, Known) and isinstance(y, Known) and (x.open or y.open):
        return arithmetic("floor_divide", lambda a, b: a // b)(r, node, x, y)
    whole = r.call("subtract", x, r.call("fmod", x, y))  # ONNX rounds towards zero
    return r.call("floor_divide", whole, y)


def modulo(r, node, x, y):
    return r.call("fmod" if node.attributes.get("fmod") else "remainder", x, y)


def power(r, node, x, y):
    return r.call("pow", x, y if x.dtype == y.dtype else r.call("astype", y, x.dtype))


def mean(r, node, *inputs):
    return r.call("divide", folded("add")(r, node, *inputs), float(len(inputs)))


def clip(r, node, x, low=None, high=None):
    return r.call("clip", x, low, high)


def cast(r, node, x):
    to = NAMES.get(node.attributes["to"])
    if to is None:
        raise r.refuse(node, f"converts to a type that LabDL does not know ({node.attributes['to']})")
    if isinstance(x, Known) and x.open and to == "int64":
        return x
    return r.call("astype", x, to)


def is_infinite(r, node, x):
    sides = node.attributes.get("detect_negative", 1), node.attributes.get("detect_positive", 1)
    if all(sides):
        return r.call("isinf", x)
    end = np.inf if sides[1] else -np.inf
    return r.call("equal", x, end) if any(sides) else r.call("not_equal", x, x)


def activation(name: str, layer=None, **settings):
    """A layer on tensors, where LabDL has one; ``settings`` lead from ONNX's attributes to (setting, default)."""

    def meaning(r, node, x):
        given = {setting: node.attributes.get(word, default) for word, (setting, default) in settings.items()}
        if layer is None or not isinstance(x, Spec):
            return r.call(name, x, **given)
        return r.layer(node.outputs[0], node.name or node.kind, functools.partial(layer, **given), {}, x)

    return meaning


def exactly(meaning, **expected):
    """Only with these values of attributes, beside their defaults in ONNX."""

    def checked(r, node, *inputs):
        for word, (value, default) in expected.items():
            if not np.isclose(node.attributes.get(word, default), value, rtol=1e-6):
                raise r.refuse(node, f"has {word}={node.attributes.get(word, default)}, and LabDL reads {value}")
        return meaning(r, node, *inputs)

    return checked


def softmax(name: str, layer):
    def meaning(r, node, x):
        axis = node.attributes.get("axis", -1)
        if not isinstance(x, Spec):
            return r.call(name, x, axis=axis)
        return r.layer(node.outputs[0], node.name or node.kind, lambda: layer(axis=axis), {}, x)

    return meaning


def hard_sigmoid(r, node, x):
    alpha, beta = node.attributes.get("alpha", 0.2), node.attributes.get("beta", 0.5)
    if np.isclose(alpha, 1 / 6) and beta == 0.5:
        return activation("hardsigmoid", nn.Hardsigmoid)(r, node, x)
    return r.call("clip", r.call("add", r.call("multiply", x, alpha), beta), 0.0, 1.0)


def prelu(r, node, x, slope):
    return r.call("where", r.call("greater", x, 0), x, r.call("multiply", x, slope))


def thresholded(r, node, x):
    return r.call("where", r.call("greater", x, float(node.attributes.get("alpha", 1.0))), x, 0.0)


TABLE = {
    **{kind: direct(name) for kind, name in {
        "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "And": "logical_and", "Asin": "asin", "Asinh": "asinh",
        "Atan": "atan", "Atanh": "atanh", "BitwiseAnd": "bitwise_and", "BitwiseNot": "bitwise_invert",
        "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh",
        "Det": "det", "Equal": "equal", "Erf": "erf", "Exp": "exp", "Floor": "floor", "Greater": "greater",
        "GreaterOrEqual": "greater_equal", "IsNaN": "isnan", "Less": "less", "LessOrEqual": "less_equal", "Log": "log",
        "Neg": "negative", "Not": "logical_not", "Or": "logical_or", "Reciprocal": "reciprocal",
        "Round": "round", "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt", "Tan": "tan", "Where": "where",
        "Xor": "logical_xor",
    }.items()},
    **{kind: folded(name) for kind, name in {"Max": "maximum", "Min": "minimum", "Sum": "add"}.items()},
    "Add": arithmetic("add", lambda a, b: a + b), "Sub": arithmetic("subtract", lambda a, b: a - b),
    "Mul": arithmetic("multiply", lambda a, b: a * b), "Div": divide, "Mod": modulo, "Pow": power, "Mean": mean,
    "Clip": clip, "Cast": cast, "IsInf": is_infinite,
    "Relu": activation("relu", nn.ReLU), "Sigmoid": activation("sigmoid", nn.Sigmoid), "Tanh": activation("tanh", nn.Tanh),
    "Softsign": activation("softsign", nn.Softsign), "Softplus": activation("softplus", nn.Softplus),
    "Mish": activation("mish", nn.Mish), "HardSwish": activation("hardswish", nn.Hardswish),
    "Gelu": activation("gelu", nn.GELU, approximate=("approximate", "none")),
    "Elu": activation("elu", nn.ELU, alpha=("alpha", 1.0)), "Celu": activation("celu", nn.CELU, alpha=("alpha", 1.0)),
    "LeakyRelu": activation("leaky_relu", nn.LeakyReLU, alpha=("negative_slope", 0.01)),
    "Selu": exactly(activation("selu", nn.SELU), alpha=(1.6732632423543772, 1.6732632423543772),
                    gamma=(1.0507009873554805, 1.0507009873554805)),
    "HardSigmoid": hard_sigmoid, "PRelu": prelu, "ThresholdedRelu": thresholded,
    "Softmax": softmax("softmax", nn.Softmax), "LogSoftmax": softmax("log_softmax", nn.LogSoftmax),
}  # fmt: skip
