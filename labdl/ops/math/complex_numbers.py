"""Complex numbers: parts, construction from parts, conjugation (Python Array API standard)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.math.arithmetic import atan2, multiply
from labdl.ops.math.trigonometry import cos, sin
from labdl.ops.operator import NUMBERS, case, floats, operator, values
from labdl.spec import COMPLEX

_COMPLEX = (case(values(2, 3, dtype="complex64", low=-2, high=2)), case(values(dtype="complex64", low=-2, high=2)))
_PARTS = (case(floats(2, 3), floats(2, 3)), case(floats(2, 1), floats(3)))


@operator(
    rules.complex_of,
    *_PARTS,
    case(floats(3), 1.0),
    takes=("float32", "float64"),
    differentiable=False,
    without_onnx="complex numbers",
)
def complex(real, imag, /):
    """Complex numbers from their real and imaginary parts; complex64 from float32. Semantics: torch.complex."""
    real, imag = np.broadcast_arrays(real, imag)
    result = np.empty(real.shape, np.result_type(real.dtype, imag.dtype, "complex64"))
    result.real, result.imag = real, imag  # a sum with 1j times infinity would be NaN
    return result


@operator(
    None,
    case(floats(2, 3, low=0), floats(2, 3)),
    case(floats(2, 1, low=0), floats(3)),
    takes=("float32", "float64"),
    differentiable=False,
    without_onnx="complex numbers",
)
def polar(radius, angle, /):
    """Complex numbers from their absolute values and angles in radians. Semantics: torch.polar."""
    return complex(multiply(radius, cos(angle)), multiply(radius, sin(angle)))


@operator(rules.real, case(floats(2, 3)), case(floats()), takes=NUMBERS)
def real(x, /):
    """The real part of complex numbers; real ones as they are."""
    return np.real(x)


@operator(rules.real, *_COMPLEX, takes=COMPLEX, differentiable=False, without_onnx="complex numbers")
def imag(x, /):
    """The imaginary part of complex numbers."""
    return np.imag(x)


@operator(None, *_COMPLEX, takes=COMPLEX, differentiable=False, without_onnx="complex numbers")
def angle(x, /):
    """The angle of complex numbers in radians, from -pi to pi."""
    return atan2(imag(x), real(x))


@operator(rules.elementwise, case(floats(2, 3)), case(floats()), takes=NUMBERS)
def conj(x, /):
    """The complex conjugate; real numbers as they are."""
    return np.conj(x)
