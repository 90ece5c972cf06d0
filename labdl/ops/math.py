"""Element-wise arithmetic, functions and comparisons (Python Array API standard)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.operator import bools, case, floats, ints, operator

_PAIR = (case(floats(2, 3), floats(2, 3)), case(floats(2, 1, 3), floats(4, 1)), case(floats(3), 2.0))
_APART = (case(floats(2, 3), floats(2, 3, low=0.5)), case(floats(3), 2.0))
_ANY = (case(floats(2, 3)), case(floats()))
_POSITIVE = (case(floats(2, 3, low=0.1)),)
_UNIT = (case(floats(2, 3, low=-0.9, high=0.9)),)
_COMPARED = (case(ints(3, 4), ints(3, 4)), case(floats(3, 1), floats(4)))
_LOGICAL = (case(bools(3, 4), bools(4)),)


@operator(rules.binary, *_PAIR)
def add(x, y, /):
    """Sum of two tensors, element by element."""
    return np.add(x, y)


@operator(rules.binary, *_PAIR)
def subtract(x, y, /):
    """Difference of two tensors, element by element."""
    return np.subtract(x, y)


@operator(rules.binary, *_PAIR)
def multiply(x, y, /):
    """Product of two tensors, element by element."""
    return np.multiply(x, y)


@operator(rules.division, *_APART)
def divide(x, y, /):
    """Quotient of two tensors, element by element."""
    return np.divide(x, y)


@operator(rules.binary, *_APART, differentiable=False)
def floor_divide(x, y, /):
    """Largest integer not above the quotient, element by element."""
    return np.floor_divide(x, y)


@operator(rules.binary, *_APART, differentiable=False)
def remainder(x, y, /):
    """Remainder of floor division; it has the sign of the divisor."""
    return np.remainder(x, y)


@operator(rules.binary, case(floats(2, 3, low=0.2), floats(2, 3)), case(floats(3, low=0.2), 2.0))
def power(x, y, /):
    """``x`` to the power of ``y``, element by element."""
    return np.power(x, y)


@operator(rules.binary, *_PAIR[:2])
def maximum(x, y, /):
    """The larger of two tensors, element by element."""
    return np.maximum(x, y)


@operator(rules.binary, *_PAIR[:2])
def minimum(x, y, /):
    """The smaller of two tensors, element by element."""
    return np.minimum(x, y)


@operator(rules.elementwise, *_ANY)
def negative(x, /):
    """The negative of each element."""
    return np.negative(x)


@operator(rules.elementwise, case(floats(2, 3, low=0.1)), case(floats(2, 3, low=-2, high=-0.1)))
def abs(x, /):
    """Absolute value of each element."""
    return np.abs(x)


@operator(rules.elementwise, *_ANY, differentiable=False)
def sign(x, /):
    """-1, 0 or 1 by the sign of each element."""
    return np.sign(x)


@operator(rules.floating, *_ANY)
def exp(x, /):
    """e to the power of each element."""
    return np.exp(x)


@operator(rules.floating, *_ANY)
def expm1(x, /):
    """exp(x) - 1, accurate for small x."""
    return np.expm1(x)


@operator(rules.floating, *_POSITIVE)
def log(x, /):
    """Natural logarithm of each element."""
    return np.log(x)


@operator(rules.floating, *_POSITIVE)
def log1p(x, /):
    """log(1 + x), accurate for small x."""
    return np.log1p(x)


@operator(rules.floating, *_POSITIVE)
def log2(x, /):
    """Logarithm to base 2 of each element."""
    return np.log2(x)


@operator(rules.floating, *_POSITIVE)
def sqrt(x, /):
    """Square root of each element."""
    return np.sqrt(x)


@operator(rules.floating, *_POSITIVE)
def rsqrt(x, /):
    """1 / sqrt(x) of each element."""
    return 1 / np.sqrt(x)


@operator(rules.elementwise, *_ANY)
def square(x, /):
    """Square of each element."""
    return np.square(x)


@operator(rules.floating, *_POSITIVE)
def reciprocal(x, /):
    """1 / x of each element."""
    return 1 / x


@operator(rules.floating, *_ANY)
def sin(x, /):
    """Sine of each element, in radians."""
    return np.sin(x)


@operator(rules.floating, *_ANY)
def cos(x, /):
    """Cosine of each element, in radians."""
    return np.cos(x)


@operator(rules.floating, *_UNIT)
def tan(x, /):
    """Tangent of each element, in radians."""
    return np.tan(x)


@operator(rules.floating, *_UNIT)
def asin(x, /):
    """Inverse sine of each element."""
    return np.arcsin(x)


@operator(rules.floating, *_UNIT)
def acos(x, /):
    """Inverse cosine of each element."""
    return np.arccos(x)


@operator(rules.floating, *_ANY)
def atan(x, /):
    """Inverse tangent of each element."""
    return np.arctan(x)


@operator(rules.floating, *_ANY)
def sinh(x, /):
    """Hyperbolic sine of each element."""
    return np.sinh(x)


@operator(rules.floating, *_ANY)
def cosh(x, /):
    """Hyperbolic cosine of each element."""
    return np.cosh(x)


@operator(rules.floating, *_ANY)
def tanh(x, /):
    """Hyperbolic tangent of each element."""
    return np.tanh(x)


@operator(rules.elementwise, *_ANY, differentiable=False)
def floor(x, /):
    """Largest integer not above each element."""
    return np.floor(x)


@operator(rules.elementwise, *_ANY, differentiable=False)
def ceil(x, /):
    """Smallest integer not below each element."""
    return np.ceil(x)


@operator(rules.elementwise, *_ANY, differentiable=False)
def round(x, /):
    """Nearest integer of each element, halves to the even one."""
    return np.round(x)


@operator(rules.elementwise, case(floats(3, 4), -0.5, 1.0), case(floats(3, 4), low=0.0))
def clip(x, low=None, high=None):
    """Each element limited to the range from ``low`` to ``high``; either may be left out."""
    if low is None and high is None:
        return np.asarray(x)
    return np.clip(x, low, high)


@operator(rules.comparison, *_COMPARED, differentiable=False)
def equal(x, y, /):
    """Whether elements are equal."""
    return np.equal(x, y)


@operator(rules.comparison, *_COMPARED, differentiable=False)
def not_equal(x, y, /):
    """Whether elements differ."""
    return np.not_equal(x, y)


@operator(rules.comparison, *_COMPARED, differentiable=False)
def less(x, y, /):
    """Whether elements of ``x`` are less than those of ``y``."""
    return np.less(x, y)


@operator(rules.comparison, *_COMPARED, differentiable=False)
def less_equal(x, y, /):
    """Whether elements of ``x`` are at most those of ``y``."""
    return np.less_equal(x, y)


@operator(rules.comparison, *_COMPARED, differentiable=False)
def greater(x, y, /):
    """Whether elements of ``x`` are greater than those of ``y``."""
    return np.greater(x, y)


@operator(rules.comparison, *_COMPARED, differentiable=False)
def greater_equal(x, y, /):
    """Whether elements of ``x`` are at least those of ``y``."""
    return np.greater_equal(x, y)


@operator(rules.comparison, *_LOGICAL, differentiable=False)
def logical_and(x, y, /):
    """Logical and of boolean tensors."""
    return np.logical_and(x, y)


@operator(rules.comparison, *_LOGICAL, differentiable=False)
def logical_or(x, y, /):
    """Logical or of boolean tensors."""
    return np.logical_or(x, y)


@operator(rules.comparison, *_LOGICAL, differentiable=False)
def logical_xor(x, y, /):
    """Logical exclusive or of boolean tensors."""
    return np.logical_xor(x, y)


@operator(rules.boolean, case(bools(3, 4)), differentiable=False)
def logical_not(x, /):
    """Logical not of a boolean tensor."""
    return np.logical_not(x)


@operator(rules.boolean, case(floats(3, 4)), differentiable=False)
def isfinite(x, /):
    """Whether elements are neither infinite nor NaN."""
    return np.isfinite(x)


@operator(rules.boolean, case(floats(3, 4)), differentiable=False)
def isnan(x, /):
    """Whether elements are NaN."""
    return np.isnan(x)


@operator(rules.selection, case(bools(3, 4), floats(3, 4), floats(4)), differentiable=False)
def where(condition, x, y, /):
    """Elements of ``x`` where the condition holds, of ``y`` elsewhere."""
    return np.where(condition, x, y)
