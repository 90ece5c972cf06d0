"""Comparison, logic, bits and choice, element by element (Python Array API standard)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.operator import (
    ANY,
    FLOATS,
    INTEGERS,
    INTEGERS_AND_BOOL,
    NUMBERS,
    REALS_AND_BOOL,
    bools,
    case,
    floats,
    operator,
    values,
)

_COMPARED = (
    case(values(3, 4), values(3, 4)),
    case(floats(3, 1), floats(4)),
    case(floats(3), 0.5),
    case(1, values(5)),
    case(floats(3, low=-1e-20, high=1e-20), 0.0),
)
_BITS = (
    case(values(3, 4), values(3, 4)),
    case(values(3, 1, low=-9, high=9), values(4, low=-9, high=9)),
    case(values(5), 6),
    case(values(4, dtype="bool"), values(4, dtype="bool")),
)
_SHIFTED = (
    case(values(3, 4), values(3, 4, high=11)),
    case(values(3, 1, low=-99, high=99), values(4, high=3)),
    case(values(5), 2),
)
_TRUTHS = (
    case(values(3, 4, dtype="bool"), values(3, 4, dtype="bool")),
    case(values(3, 1, dtype="bool"), values(4, dtype="bool")),
    case(values(3, dtype="bool"), True),
)
_TESTED = (case(floats(3, 4)), case(floats()))


@operator(rules.comparison, *_COMPARED, takes=ANY, differentiable=False, onnx="Equal")
def equal(x, y, /):
    """Whether elements are equal."""
    return np.equal(x, y)


@operator(rules.comparison, *_COMPARED, takes=ANY, differentiable=False)
def not_equal(x, y, /):
    """Whether elements differ; NaN differs from everything."""
    return np.not_equal(x, y)


@operator(rules.comparison, *_COMPARED, takes=REALS_AND_BOOL, differentiable=False, onnx="Less")
def less(x, y, /):
    """Whether elements of ``x`` are less than those of ``y``."""
    return np.less(x, y)


@operator(rules.comparison, *_COMPARED, takes=REALS_AND_BOOL, differentiable=False, onnx="LessOrEqual")
def less_equal(x, y, /):
    """Whether elements of ``x`` are at most those of ``y``."""
    return np.less_equal(x, y)


@operator(rules.comparison, *_COMPARED, takes=REALS_AND_BOOL, differentiable=False, onnx="Greater")
def greater(x, y, /):
    """Whether elements of ``x`` are greater than those of ``y``."""
    return np.greater(x, y)


@operator(rules.comparison, *_COMPARED, takes=REALS_AND_BOOL, differentiable=False, onnx="GreaterOrEqual")
def greater_equal(x, y, /):
    """Whether elements of ``x`` are at least those of ``y``."""
    return np.greater_equal(x, y)


@operator(rules.comparison, *_TRUTHS, takes=("bool",), differentiable=False, onnx="And")
def logical_and(x, y, /):
    """Logical and of boolean tensors."""
    return np.logical_and(x, y)


@operator(rules.comparison, *_TRUTHS, takes=("bool",), differentiable=False, onnx="Or")
def logical_or(x, y, /):
    """Logical or of boolean tensors."""
    return np.logical_or(x, y)


@operator(rules.comparison, *_TRUTHS, takes=("bool",), differentiable=False, onnx="Xor")
def logical_xor(x, y, /):
    """Logical exclusive or of boolean tensors."""
    return np.logical_xor(x, y)


@operator(rules.boolean, case(values(3, 4, dtype="bool")), takes=("bool",), differentiable=False, onnx="Not")
def logical_not(x, /):
    """Logical not of a boolean tensor."""
    return np.logical_not(x)


@operator(rules.binary, *_BITS, takes=INTEGERS_AND_BOOL, differentiable=False)
def bitwise_and(x, y, /):
    """Bits that both elements have; logical and of booleans."""
    return np.bitwise_and(x, y)


@operator(rules.binary, *_BITS, takes=INTEGERS_AND_BOOL, differentiable=False)
def bitwise_or(x, y, /):
    """Bits that either element has; logical or of booleans."""
    return np.bitwise_or(x, y)


@operator(rules.binary, *_BITS, takes=INTEGERS_AND_BOOL, differentiable=False)
def bitwise_xor(x, y, /):
    """Bits in which the elements differ; logical exclusive or of booleans."""
    return np.bitwise_xor(x, y)


@operator(
    rules.elementwise,
    case(values(3, 4, low=-9, high=9)),
    case(values(3, dtype="bool")),
    takes=INTEGERS_AND_BOOL,
    differentiable=False,
)
def bitwise_invert(x, /):
    """Every bit inverted; logical not of booleans."""
    return np.invert(x)


@operator(
    rules.binary, *_SHIFTED, takes=INTEGERS, differentiable=False, without_onnx="shifts of unsigned integers only"
)
def bitwise_left_shift(x, y, /):
    """Bits of ``x`` shifted left by ``y`` places, from 0 to one less than the bits of the dtype."""
    return np.left_shift(x, y)


@operator(
    rules.binary, *_SHIFTED, takes=INTEGERS, differentiable=False, without_onnx="shifts of unsigned integers only"
)
def bitwise_right_shift(x, y, /):
    """Bits of ``x`` shifted right by ``y`` places, keeping the sign: floor division by a power of two."""
    return np.right_shift(x, y)


@operator(rules.boolean, *_TESTED, takes=NUMBERS, differentiable=False)
def isfinite(x, /):
    """Whether elements are neither infinite nor NaN."""
    return np.isfinite(x)


@operator(rules.boolean, *_TESTED, takes=NUMBERS, differentiable=False, onnx="IsInf")
def isinf(x, /):
    """Whether elements are infinite, of either sign."""
    return np.isinf(x)


@operator(rules.boolean, *_TESTED, takes=NUMBERS, differentiable=False, onnx="IsNaN")
def isnan(x, /):
    """Whether elements are NaN."""
    return np.isnan(x)


@operator(rules.boolean, *_TESTED, takes=FLOATS, differentiable=False)
def signbit(x, /):
    """Whether the sign bit is set: negative elements and -0.0."""
    return np.signbit(x)


@operator(
    None,
    case(floats(3, 4), floats(3, 4)),
    case(floats(3, 1), floats(4), rtol=0.1, atol=0.5),
    case(floats(4), floats(4), equal_nan=True),
    takes=NUMBERS,
    differentiable=False,
    checked=True,
)
def isclose(x, y, /, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements are equal up to ``atol + rtol * |y|``; infinities only to themselves.

    ``equal_nan=True``: NaN is close to NaN. Integers are compared as float32. Semantics: torch.isclose.
    """
    x, y = x * 1.0, y * 1.0  # differences of unsigned integers would wrap
    near = logical_and(abs(x - y) <= abs(y) * rtol + atol, isfinite(y))
    near = logical_or(near, equal(x, y))
    return logical_or(near, logical_and(isnan(x), isnan(y))) if equal_nan else near


@operator(
    rules.selection,
    case(bools(3, 4), floats(3, 4), floats(4)),
    case(bools(3, 1), floats(4), 2.0),
    case(bools(4), 0, floats(2, 4)),
    takes=ANY,
    onnx="Where",
)
def where(condition, x, y, /):
    """Elements of ``x`` where the condition holds, of ``y`` elsewhere; the three broadcast."""
    return np.where(condition, x, y)
