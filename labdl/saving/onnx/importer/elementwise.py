"""ONNX readers of elementwise operators."""

from __future__ import annotations

import functools

import numpy as np

from labdl import nn
from labdl.saving.onnx.importer.dynamic_shapes import Size, larger
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import direct, reads
from labdl.saving.onnx.standard import NAMES, type_name
from labdl.spec import FLOATS, INTEGERS, Spec


def reduce_pairwise(name: str):
    """Apply a binary operator to any number of inputs, pairwise."""
    return lambda r, node, *inputs: functools.reduce(lambda x, y: r.call(name, x, y), inputs)


def arithmetic(name: str, infix):
    """Binary arithmetic, also on unknown sizes."""

    def read(r, node, x, y):
        if isinstance(x, KnownValue) and isinstance(y, KnownValue) and (x.open or y.open):
            return KnownValue(np.asarray(infix(x.array, y.array), object))
        return r.call(name, x, y)

    return read


_MAXIMUM = arithmetic("maximum", lambda a, b: np.vectorize(larger, otypes=[object])(a, b))


@reads("Equal")
def equal(r, node, x, y):
    """Equal, also of sizes: an unknown size is none of the negative numbers that stand for "as before"."""
    if not (isinstance(x, KnownValue) and isinstance(y, KnownValue) and (x.open or y.open)):
        return r.call("equal", x, y)

    def compare(a, b):
        sizes = [n for n in (a, b) if isinstance(n, Size)]
        if len(sizes) == 1 and min(n for n in (a, b) if not isinstance(n, Size)) >= 0:
            raise r.refuse(node, "compares a size that is known only at run time")
        return a is b if sizes else a == b

    return KnownValue(np.vectorize(compare, otypes=[bool])(x.array, y.array))


@reads("Where")
def where(r, node, condition, x, y):
    known = all(isinstance(v, KnownValue) for v in (condition, x, y))
    if known and (x.open or y.open) and not condition.open:
        return KnownValue(np.where(condition.array, x.array.astype(object), y.array.astype(object)))
    return r.call("where", condition, x, y)


@reads("Div")
def divide(r, node, x, y):
    if x.dtype not in INTEGERS and x.dtype in FLOATS:
        return r.call("divide", x, y)
    if isinstance(x, KnownValue) and isinstance(y, KnownValue) and (x.open or y.open):
        return arithmetic("floor_divide", lambda a, b: a // b)(r, node, x, y)
    return divide_integers(r, x, y)


def divide_integers(r, x, y):
    """The quotient of integers, which ONNX rounds toward zero."""
    whole = r.call("subtract", x, r.call("fmod", x, y))
    return r.call("floor_divide", whole, y)


@reads("Mod")
def modulo(r, node, x, y):
    return r.call("fmod" if node.attributes.get("fmod") else "remainder", x, y)


@reads("Pow")
def power(r, node, x, y):
    """A power in the dtype of the base; what has two dtypes is computed in one that has the values of both."""
    if x.dtype == y.dtype or (x.dtype in INTEGERS and y.dtype in INTEGERS):
        return r.call("pow", x, y if x.dtype == y.dtype else r.call("astype", y, x.dtype))
    if x.dtype in INTEGERS:
        common = "float64"
    elif y.dtype in INTEGERS:
        common = x.dtype
    else:
        common = "float64" if "float64" in (x.dtype, y.dtype) else "float32"
    sides = (v if v.dtype == common else r.call("astype", v, common) for v in (x, y))
    result = r.call("pow", *sides)
    return result if x.dtype == common else r.call("astype", result, x.dtype)


@reads("Mean")
def mean(r, node, *inputs):
    return r.call("divide", reduce_pairwise("add")(r, node, *inputs), float(len(inputs)))


@reads("Clip")
def clip(r, node, x, low=None, high=None):
    return r.call("clip", x, low, high)


@reads("Cast")
def cast(r, node, x):
    to = NAMES.get(node.attributes["to"])
    if to is None:
        raise r.refuse(node, f"converts to a type that LabDL does not support ({type_name(node.attributes['to'])})")
    if isinstance(x, KnownValue) and x.open and to in ("int32", "int64"):
        return x
    return r.call("astype", x, to)


@reads("IsInf")
def is_infinite(r, node, x):
    sides = node.attributes.get("detect_negative", 1), node.attributes.get("detect_positive", 1)
    if all(sides):
        return r.call("isinf", x)
    end = np.inf if sides[1] else -np.inf
    return r.call("equal", x, end) if any(sides) else r.call("full_like", x, False, dtype="bool")


def activation(name: str, layer=None, **settings):
    """An activation, as a layer where LabDL has one; ``settings`` maps a setting to ONNX's (attribute, default)."""

    def read(r, node, x):
        given = {setting: node.attributes.get(word, default) for word, (setting, default) in settings.items()}
        if layer is None or not isinstance(x, Spec):
            return r.call(name, x, **given)
        return r.layer(node.outputs[0], node.name or node.kind, functools.partial(layer, **given), {}, x)

    return read


def with_attributes(read, **expected):
    """Accept only these values of attributes; given as (value, ONNX's default)."""

    def read_checked(r, node, *inputs):
        for word, (value, default) in expected.items():
            if not np.isclose(node.attributes.get(word, default), value, rtol=1e-6):
                raise r.refuse(
                    node, f"has {word}={node.attributes.get(word, default)}, and LabDL supports {value} only"
                )
        return read(r, node, *inputs)

    return read_checked


def softmax(name: str, layer):
    def read(r, node, x):
        axis = node.attributes.get("axis", -1)
        if not isinstance(x, Spec):
            return r.call(name, x, axis=axis)
        return r.layer(node.outputs[0], node.name or node.kind, lambda: layer(axis=axis), {}, x)

    return read


@reads("HardSigmoid")
def hard_sigmoid(r, node, x):
    alpha, beta = node.attributes.get("alpha", 0.2), node.attributes.get("beta", 0.5)
    if np.isclose(alpha, 1 / 6) and beta == 0.5:
        return activation("hardsigmoid", nn.Hardsigmoid)(r, node, x)
    return r.call("clip", r.call("add", r.call("multiply", x, alpha), beta), 0.0, 1.0)


@reads("PRelu")
def prelu(r, node, x, slope):
    return r.call("where", r.call("greater", x, 0), x, r.call("multiply", x, slope))


@reads("ThresholdedRelu")
def thresholded_relu(r, node, x):
    return r.call("where", r.call("greater", x, float(node.attributes.get("alpha", 1.0))), x, 0.0)


@reads("BitShift")
def bit_shift(r, node, x, y):
    """A shift by any number of bits: by more than there are or less than 0, nothing is left, or the sign."""
    left = node.attributes["direction"] == "LEFT"
    bits = 8 * np.dtype(x.dtype).itemsize
    far = r.call("greater_equal", y, bits)
    if y.dtype != "uint8":
        far = r.call("logical_or", far, r.call("less", y, 0))
    near = r.call("where", far, 0 if left or x.dtype == "uint8" else bits - 1, y)
    result = r.call("bitwise_left_shift" if left else "bitwise_right_shift", x, near)
    return r.call("where", far, 0, result) if left or x.dtype == "uint8" else result


reads("BitwiseAnd")(direct("bitwise_and"))
reads("BitwiseNot")(direct("bitwise_invert"))
reads("BitwiseOr")(direct("bitwise_or"))
reads("BitwiseXor")(direct("bitwise_xor"))
reads("Ceil")(direct("ceil"))
reads("Floor")(direct("floor"))
reads("Round")(direct("round"))
reads("Max")(lambda r, node, *inputs: functools.reduce(functools.partial(_MAXIMUM, r, node), inputs))
reads("Min")(reduce_pairwise("minimum"))
reads("Sum")(reduce_pairwise("add"))
reads("Add")(arithmetic("add", lambda a, b: a + b))
reads("Sub")(arithmetic("subtract", lambda a, b: a - b))
reads("Mul")(arithmetic("multiply", lambda a, b: a * b))
reads("Relu")(activation("relu", nn.ReLU))
reads("Sigmoid")(activation("sigmoid", nn.Sigmoid))
reads("Tanh")(activation("tanh", nn.Tanh))
reads("Softsign")(activation("softsign", nn.Softsign))
reads("Softplus")(activation("softplus", nn.Softplus))
reads("Mish")(activation("mish", nn.Mish))
reads("HardSwish")(activation("hardswish", nn.Hardswish))
reads("Gelu")(activation("gelu", nn.GELU, approximate=("approximate", "none")))
reads("Elu")(activation("elu", nn.ELU, alpha=("alpha", 1.0)))
reads("Celu")(activation("celu", nn.CELU, alpha=("alpha", 1.0)))
reads("LeakyRelu")(activation("leaky_relu", nn.LeakyReLU, alpha=("negative_slope", 0.01)))
reads("Selu")(
    with_attributes(
        activation("selu", nn.SELU),
        alpha=(1.6732632423543772, 1.6732632423543772),
        gamma=(1.0507009873554805, 1.0507009873554805),
    )
)
reads("Softmax")(softmax("softmax", nn.Softmax))
reads("LogSoftmax")(softmax("log_softmax", nn.LogSoftmax))
