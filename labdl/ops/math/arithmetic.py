"""Arithmetic, rounding, powers and logarithms, element by element (Python Array API standard)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.math.comparison import *  # noqa: F403  (other files find all elementary functions here)
from labdl.ops.math.comparison import equal, isnan, where
from labdl.ops.math.trigonometry import *  # noqa: F403
from labdl.ops.math.trigonometry import _fractions
from labdl.ops.operator import (
    FLOATS,
    FLOATS_AND_COMPLEX,
    INTEGERS,
    NUMBERS,
    NUMBERS_AND_BOOL,
    REALS,
    REALS_AND_BOOL,
    case,
    floats,
    operator,
    values,
)

_PAIR = (
    case(floats(2, 3), floats(2, 3)),
    case(floats(2, 1, 3), floats(4, 1)),
    case(floats(3), 2.0),
    case(2, floats(3)),
)
_APART = (
    case(floats(2, 3), floats(2, 3, low=0.5)),
    case(floats(2, 1, 3), floats(4, 1, low=-2, high=-0.5)),
    case(floats(3), 2.0),
    case(2.0, floats(3, low=0.5)),
)
_ANY = (case(floats(2, 3)), case(floats()))
_POSITIVE = (case(floats(2, 3, low=0.1)),)
_UNIT = (case(floats(2, 3, low=-0.9, high=0.9)),)
_INTEGERS = (
    case(values(2, 3, low=1, high=99), values(2, 3, low=1, high=99)),
    case(values(2, 1, low=-9, high=9), values(4)),
    case(values(4), 6),
)


# -- arithmetic


@operator(rules.binary, *_PAIR, takes=NUMBERS_AND_BOOL)
def add(x, y, /):
    """Sum of two tensors, element by element; logical or of booleans."""
    return np.add(x, y)


@operator(rules.binary, *_PAIR, takes=NUMBERS, onnx="Sub")
def subtract(x, y, /):
    """Difference of two tensors, element by element."""
    return np.subtract(x, y)


@operator(rules.binary, *_PAIR, takes=NUMBERS_AND_BOOL)
def multiply(x, y, /):
    """Product of two tensors, element by element; logical and of booleans."""
    return np.multiply(x, y)


@operator(rules.division, *_APART, takes=NUMBERS, onnx="Div")
def divide(x, y, /):
    """Quotient of two tensors, element by element; of integers it is float32."""
    return np.divide(x, y)


@operator(rules.binary, *_APART, takes=REALS, differentiable=False)
def floor_divide(x, y, /):
    """Largest integer not above the quotient, element by element; integers must not be divided by zero.

    Beside infinities it is the rounded quotient, as the Python Array API standard has it: ``inf // 2`` is ``inf``.
    """
    result = np.floor_divide(x, y)
    if result.dtype.kind in "iu":
        return result
    return np.where(np.isinf(x) | np.isinf(y), np.floor(np.divide(x, y)), result)


@operator(rules.binary, *_APART, takes=REALS)
def remainder(x, y, /):
    """Remainder of floor division, with the sign of the divisor; integers must not be divided by zero."""
    return np.remainder(x, y)


@operator(rules.binary, *_APART, takes=REALS)
def fmod(x, y, /):
    """Remainder of division rounded toward zero, with the sign of the dividend (C's ``fmod``)."""
    return np.fmod(x, y)


@operator(
    rules.binary,
    case(floats(2, 3, low=0.2), floats(2, 3, low=0)),
    case(floats(4, 1, low=0.2), floats(3, low=2, high=2)),
    case(floats(3, low=0.2), -1.5),
    case(floats(3), 2),
    case(2.0, floats(3)),
    takes=NUMBERS,
    precision="float32",
    onnx="Pow",
)
def pow(x, y, /):
    """``x`` to the power of ``y``, element by element; integers have no negative powers."""
    return np.power(x, y)


@operator(rules.binary, *_PAIR[:3], takes=REALS, onnx="Max")
def maximum(x, y, /):
    """The larger of two tensors, element by element; NaN where either is."""
    return np.maximum(x, y)


@operator(rules.binary, *_PAIR[:3], takes=REALS, onnx="Min")
def minimum(x, y, /):
    """The smaller of two tensors, element by element; NaN where either is."""
    return np.minimum(x, y)


@operator(rules.binary, *_PAIR[:3], takes=REALS, composite=True)
def fmax(x, y, /):
    """The larger of two tensors, element by element; NaN only where both are. Semantics: torch.fmax, numpy.fmax."""
    return _number_or(maximum, x, y)


@operator(rules.binary, *_PAIR[:3], takes=REALS, composite=True)
def fmin(x, y, /):
    """The smaller of two tensors, element by element; NaN only where both are. Semantics: torch.fmin, numpy.fmin."""
    return _number_or(minimum, x, y)


def _number_or(extreme, x, y):
    """The extreme of two where both are numbers, else the one that is."""
    result = extreme(x, y)
    result = where(isnan(y), x, result) if hasattr(y, "dtype") else x if y != y else result
    return where(isnan(x), y, result) if hasattr(x, "dtype") else y if x != x else result


@operator(rules.elementwise, *_ANY, takes=NUMBERS, onnx="Neg")
def negative(x, /):
    """The negative of each element."""
    return np.negative(x)


@operator(None, *_ANY, takes=NUMBERS)
def positive(x, /):
    """The elements as they are."""
    return x


@operator(rules.real, case(floats(2, 3, low=0.1)), case(floats(2, 3, low=-2, high=-0.1)), takes=NUMBERS, onnx="Abs")
def abs(x, /):
    """Absolute value of each element."""
    return np.abs(x)


@operator(rules.elementwise, *_ANY, takes=NUMBERS, differentiable=False, onnx="Sign")
def sign(x, /):
    """-1, 0 or 1 by the sign of each element; complex numbers divided by their absolute value."""
    return np.where(x == 0, x, x / np.abs(x)) if x.dtype.kind == "c" else np.sign(x)


@operator(rules.elementwise, *_ANY, takes=NUMBERS)
def square(x, /):
    """Square of each element."""
    return np.square(x)


@operator(rules.floating, *_POSITIVE, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Reciprocal")
def reciprocal(x, /):
    """1 / x of each element."""
    return 1 / _fractions(x)


@operator(
    rules.clip,
    case(floats(3, 1), floats(4, low=-2, high=-0.5), floats(2, 1, 4, low=0.5)),
    case(floats(3, 4), -0.5, 1.0),
    case(floats(3, 4), min=0),
    case(floats(3, 4), max=1),
    case(floats(3)),
    takes=REALS,
)
def clip(x, /, min=None, max=None):
    """Each element limited to the range from ``min`` to ``max``, numbers or tensors; either may be left out.

    Where ``min`` is above ``max`` the result is ``max``.
    """
    return x if min is None and max is None else np.clip(x, min, max)


@operator(
    None, case(floats(2, 3), floats(2, 3), 0.3), case(floats(2, 1), floats(3), floats(2, 3)), takes=FLOATS_AND_COMPLEX
)
def lerp(x, y, weight, /):
    """x + weight * (y - x): between two tensors by a number or a tensor of weights. Semantics: torch.lerp."""
    return x + weight * (y - x)


@operator(
    None,
    case(floats(2, 3), floats(2, 3), floats(2, 3)),
    case(floats(3), floats(2, 1), floats(3), value=2),
    takes=NUMBERS,
)
def addcmul(x, y, z, /, *, value=1):
    """x + value * y * z. Semantics: torch.addcmul."""
    return x + (y * z if value == 1 else value * y * z)


@operator(
    None,
    case(floats(2, 3), floats(2, 3), floats(2, 3, low=0.5)),
    case(floats(3), floats(2, 1), floats(3, low=0.5), value=0.5),
    takes=FLOATS_AND_COMPLEX,
)
def addcdiv(x, y, z, /, *, value=1):
    """x + value * y / z. Semantics: torch.addcdiv."""
    return x + (y / z if value == 1 else value * y / z)


@operator(rules.binary, *_INTEGERS, takes=INTEGERS, differentiable=False, without_onnx="no such function")
def gcd(x, y, /):
    """Greatest common divisor, element by element; never negative, and that of 0 and 0 is 0."""
    return np.gcd(x, y)


@operator(
    None,
    *_INTEGERS[1:],
    case(values(3, high=1), values(3)),
    takes=INTEGERS,
    differentiable=False,
    without_onnx="no such function",
)
def lcm(x, y, /):
    """Least common multiple, element by element; never negative, and 0 where either is 0."""
    return abs(floor_divide(x, maximum(gcd(x, y), 1)) * y)


# -- rounding and floating-point numbers


@operator(rules.elementwise, *_ANY, takes=REALS, differentiable=False)
def floor(x, /):
    """Largest integer not above each element, in the same dtype."""
    return np.floor(x) if x.dtype.kind == "f" else x


@operator(rules.elementwise, *_ANY, takes=REALS, differentiable=False)
def ceil(x, /):
    """Smallest integer not below each element, in the same dtype."""
    return np.ceil(x) if x.dtype.kind == "f" else x


@operator(rules.elementwise, *_ANY, takes=REALS, differentiable=False)
def trunc(x, /):
    """Each element without its fraction: the next integer toward zero, in the same dtype."""
    return np.trunc(x) if x.dtype.kind == "f" else x


@operator(rules.elementwise, *_ANY, takes=NUMBERS, differentiable=False)
def round(x, /):
    """Nearest integer of each element, halves to the even one; both parts of complex numbers."""
    return np.round(x)


@operator(None, *_ANY)
def frac(x, /):
    """The fraction that `trunc` leaves, with the sign of each element. Semantics: torch.frac."""
    return x - trunc(x)


@operator(
    rules.binary,
    case(floats(2, 3, low=0.1), floats(2, 3)),
    case(floats(2, 1, low=-2, high=-0.1), floats(3)),
    case(floats(3, low=0.1), -1.0),
)
def copysign(x, y, /):
    """The size of ``x`` with the sign of ``y``, that of zeros included."""
    return np.copysign(x, y)


@operator(
    rules.binary,
    case(floats(2, 3), floats(2, 3)),
    case(floats(2, 1), floats(3)),
    takes=("float32", "float64"),
    differentiable=False,
    without_onnx="no such function",
)
def nextafter(x, y, /):
    """The next number of the dtype after ``x`` toward ``y``."""
    return np.nextafter(x, y)


@operator(None, case(floats(2, 3), floats(2, 3)), case(floats(2, 1), 0.5), takes=FLOATS, differentiable=False)
def heaviside(x, y, /):
    """0 where ``x`` is negative, 1 where it is positive, ``y`` where it is 0."""
    return where(equal(x, 0), y, (sign(x) + 1) * 0.5)


@operator(
    rules.elementwise,
    case(floats(2, 3)),
    case(floats(2, 3), nan=1.0, posinf=2.0, neginf=-2.0),
    takes=("float32", "float64"),
    checked=True,
)
def nan_to_num(x, /, *, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers; those left out are the largest and the least of the dtype."""
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


# -- powers, exponentials and logarithms


@operator(rules.floating, *_POSITIVE, takes=NUMBERS_AND_BOOL, onnx="Sqrt")
def sqrt(x, /):
    """Square root of each element."""
    return np.sqrt(_fractions(x))


@operator(rules.floating, *_POSITIVE, takes=NUMBERS_AND_BOOL, precision="float32")
def rsqrt(x, /):
    """1 / sqrt(x) of each element."""
    return 1 / np.sqrt(_fractions(x))


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Exp")
def exp(x, /):
    """e to the power of each element."""
    return np.exp(_fractions(x))


@operator(rules.floating, *_ANY, takes=REALS_AND_BOOL, precision="float32")
def exp2(x, /):
    """2 to the power of each element."""
    return np.exp2(_fractions(x))


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, precision="float32")
def expm1(x, /):
    """exp(x) - 1, accurate for small x."""
    return np.expm1(_fractions(x))


@operator(rules.floating, *_POSITIVE, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Log")
def log(x, /):
    """Natural logarithm of each element."""
    return np.log(_fractions(x))


@operator(rules.floating, *_POSITIVE, takes=NUMBERS_AND_BOOL, precision="float32")
def log1p(x, /):
    """log(1 + x), accurate for small x."""
    return np.log1p(_fractions(x))


@operator(rules.floating, *_POSITIVE, takes=NUMBERS_AND_BOOL, precision="float32")
def log2(x, /):
    """Logarithm to base 2 of each element."""
    return np.log2(_fractions(x))


@operator(rules.floating, *_POSITIVE, takes=NUMBERS_AND_BOOL, precision="float32")
def log10(x, /):
    """Logarithm to base 10 of each element."""
    return np.log10(_fractions(x))


@operator(rules.division, *_PAIR, takes=REALS, precision="float32")
def logaddexp(x, y, /):
    """log(exp(x) + exp(y)), element by element, without overflow."""
    return np.logaddexp(_fractions(x), _fractions(y))
