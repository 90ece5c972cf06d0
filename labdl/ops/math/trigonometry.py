"""Angles, trigonometric and hyperbolic functions, element by element (Python Array API standard)."""

import math

import numpy as np

from labdl.ops import rules
from labdl.ops.operator import FLOATS, NUMBERS_AND_BOOL, REALS, case, floats, operator

_ANY = (case(floats(2, 3)), case(floats()))
_UNIT = (case(floats(2, 3, low=-0.9, high=0.9)),)


def _fractions(x):
    """Integers and bool as float64: NumPy would compute the small ones in half precision."""
    x = np.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, onnx="Sin")
def sin(x, /):
    """Sine of each element, in radians."""
    return np.sin(_fractions(x))


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, onnx="Cos")
def cos(x, /):
    """Cosine of each element, in radians."""
    return np.cos(_fractions(x))


@operator(rules.floating, *_UNIT, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Tan")
def tan(x, /):
    """Tangent of each element, in radians."""
    return np.tan(_fractions(x))


@operator(rules.floating, *_UNIT, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Asin")
def asin(x, /):
    """Inverse sine of each element, from -pi/2 to pi/2."""
    return np.arcsin(_fractions(x))


@operator(rules.floating, *_UNIT, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Acos")
def acos(x, /):
    """Inverse cosine of each element, from 0 to pi."""
    return np.arccos(_fractions(x))


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, onnx="Atan")
def atan(x, /):
    """Inverse tangent of each element, from -pi/2 to pi/2."""
    return np.arctan(_fractions(x))


@operator(
    rules.division,
    case(floats(2, 3), floats(2, 3, low=0.5)),
    case(floats(2, 1, 3), floats(4, 1, low=-2, high=-0.5)),
    case(floats(3), 1.0),
    takes=REALS,
)
def atan2(y, x, /):
    """Angle of the point (x, y) in radians, from -pi to pi: note that ``y`` comes first."""
    return np.arctan2(_fractions(y), _fractions(x))


@operator(rules.division, case(floats(2, 3), floats(2, 3, low=0.5)), case(floats(2, 1, 3), floats(4, 1)), takes=FLOATS)
def hypot(x, y, /):
    """sqrt(x² + y²), element by element, without overflow."""
    return np.hypot(x, y)


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Sinh")
def sinh(x, /):
    """Hyperbolic sine of each element."""
    return np.sinh(_fractions(x))


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Cosh")
def cosh(x, /):
    """Hyperbolic cosine of each element."""
    return np.cosh(_fractions(x))


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, onnx="Tanh")
def tanh(x, /):
    """Hyperbolic tangent of each element."""
    return np.tanh(_fractions(x))


@operator(rules.floating, *_ANY, takes=NUMBERS_AND_BOOL, onnx="Asinh")
def asinh(x, /):
    """Inverse hyperbolic sine of each element."""
    return np.arcsinh(_fractions(x))


@operator(
    rules.floating, case(floats(2, 3, low=1.1, high=4)), takes=NUMBERS_AND_BOOL, precision="float32", onnx="Acosh"
)
def acosh(x, /):
    """Inverse hyperbolic cosine of each element, NaN below 1."""
    return np.arccosh(_fractions(x))


@operator(rules.floating, *_UNIT, takes=NUMBERS_AND_BOOL, precision="float32", onnx="Atanh")
def atanh(x, /):
    """Inverse hyperbolic tangent of each element, NaN beyond -1 and 1."""
    return np.arctanh(_fractions(x))


@operator(None, case(floats(2, 3, low=-180, high=180)), case(floats()), takes=REALS)
def deg2rad(x, /):
    """Degrees as radians."""
    return x * (math.pi / 180)


@operator(None, *_ANY, takes=REALS)
def rad2deg(x, /):
    """Radians as degrees."""
    return x * (180 / math.pi)
