"""ONNX readers of operators on quantized numbers: integers that stand for multiples of a scale."""

from __future__ import annotations

from labdl.saving.onnx.importer.neural import convolution
from labdl.saving.onnx.importer.registry import reads
from labdl.saving.onnx.standard import NAMES, type_name
from labdl.spec import FLOATS, INTEGERS

_RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}


def along(r, node, value, x):
    """A scale or zero point as a tensor that broadcasts to x: one number, one for each place of an axis, or blocks."""
    if value is None or len(value.shape) == 0 or tuple(value.shape) == (1,):
        return value if value is None or not value.shape else r.call("reshape", value, ())
    axis, block = node.attributes.get("axis", 1) % len(x.shape), node.attributes.get("block_size", 0)
    if len(value.shape) == 1:
        return r.call("reshape", value, tuple(-1 if a == axis else 1 for a in range(len(x.shape))))
    if not block or x.shape[axis] is None:
        raise r.refuse(node, "has scales of several axes without a block_size, or blocks of an axis of unknown size")
    whole = r.call("repeat", value, block, axis=axis)
    index = (*(slice(None),) * axis, slice(x.shape[axis]))
    return r.call("getitem", whole, index)


def quantize(r, node, x, scale, zero, to: str):
    """Numbers as integers, rounded to even and limited to the range of their dtype."""
    if to not in _RANGES:
        raise r.refuse(node, f"quantizes to {to}, and LabDL to {', '.join(_RANGES)}")
    low, high = _RANGES[to]
    steps = r.call("round", r.call("divide", x, scale))
    if zero is not None:
        steps = r.call("add", steps, r.call("astype", zero, steps.dtype))
    return r.call("astype", r.call("clip", steps, float(low), float(high)), to)


@reads("QuantizeLinear")
def quantize_linear(r, node, x, scale, zero=None):
    number = node.attributes.get("output_dtype", 0)
    to = NAMES.get(number) if number else zero.dtype if zero is not None else "uint8"
    if to is None:
        raise r.refuse(node, f"has output_dtype {type_name(number)}, which LabDL does not support")
    wide = "float64" if x.dtype in ("float64", "int32") else "float32"
    x = x if x.dtype == wide else r.call("astype", x, wide)
    scale = along(r, node, scale, x)
    assert scale is not None  # as the node has one
    scale = scale if scale.dtype == wide else r.call("astype", scale, wide)
    return quantize(r, node, x, scale, along(r, node, zero, x), to)


@reads("DequantizeLinear")
def dequantize_linear(r, node, x, scale, zero=None):
    number = node.attributes.get("output_dtype", 0)
    to = NAMES.get(number) if number else scale.dtype
    if to not in FLOATS or x.dtype not in INTEGERS:
        raise r.refuse(node, f"computes {to} from {x.dtype}, and LabDL floats from integers")
    scale, zero = (along(r, node, v, x) for v in (scale, zero))
    return r.call("astype", r.call("multiply", subtract_zero(r, x, zero), r.call("astype", scale, "float32")), to)


def subtract_zero(r, x, zero, to: str = "float32"):
    """The differences of quantized numbers to their zero point; products of 8-bit numbers are exact in float32."""
    x = r.call("astype", x, to)
    return x if zero is None else r.call("subtract", x, r.call("astype", zero, to))


def _rows(r, value, x):
    """A number for each row of a matrix, as a column."""
    if value is None or len(value.shape) != 1 or tuple(value.shape) == (1,):
        return value
    return r.call("expand_dims", value, 1)


@reads("MatMulInteger")
def matmul_integer(r, node, x, y, x_zero=None, y_zero=None):
    product = r.call(
        "matmul", subtract_zero(r, x, _rows(r, x_zero, x), "float64"), subtract_zero(r, y, y_zero, "float64")
    )
    return r.call("astype", product, "int32")


@reads("QLinearMatMul")
def qlinear_matmul(r, node, x, x_scale, x_zero, y, y_scale, y_zero, scale, zero):
    product = r.call(
        "matmul", subtract_zero(r, x, _rows(r, x_zero, x), "float64"), subtract_zero(r, y, y_zero, "float64")
    )
    factors = [r.call("astype", v, "float64") for v in (_rows(r, x_scale, x), y_scale)]
    for factor in factors:
        product = r.call("multiply", product, factor)
    return quantize(r, node, product, r.call("astype", scale, "float64"), zero, zero.dtype)


def _filters(r, value, kernel):
    """A number for each filter of a kernel."""
    if value is None or len(value.shape) != 1:
        return value
    return r.call("reshape", value, (-1, *(1,) * (len(kernel.shape) - 1)))


@reads("ConvInteger")
def convolution_integer(r, node, x, kernel, x_zero=None, zero=None):
    kernel = subtract_zero(r, kernel, _filters(r, zero, kernel), "float64")
    return r.call("astype", convolution(r, node, subtract_zero(r, x, x_zero, "float64"), kernel), "int32")


@reads("QLinearConv")
def qlinear_convolution(r, node, x, x_scale, x_zero, kernel, scale, zero, y_scale, y_zero, bias=None):
    kernel = subtract_zero(r, kernel, _filters(r, zero, kernel), "float64")
    bias = None if bias is None else r.call("astype", bias, "float64")
    sums = convolution(r, node, subtract_zero(r, x, x_zero, "float64"), kernel, bias)
    shape = (1, -1, *(1,) * (len(sums.shape) - 2))
    for factor in (x_scale, scale):
        factor = r.call("astype", factor, "float64")
        sums = r.call("multiply", sums, r.call("reshape", factor, shape) if factor.shape not in ((), (1,)) else factor)
    return quantize(r, node, sums, r.call("astype", y_scale, "float64"), y_zero, y_zero.dtype)
