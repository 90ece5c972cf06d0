"""Zeros with a sign, infinities and NaN as the Array API standard lists them, where those of an operator are others.

The standard prefers the quotient itself where NumPy and Python have NaN and -1 beside infinities, and it has one value for
each complex number with an infinite part, where the frameworks differ.

Source: the special cases of https://data-apis.org/array-api/2024.12/API_specification/elementwise_functions.html
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from labdl import ops
from labdl.spec import COMPLEX, FLOATS


def functions(backend) -> dict[str, Callable]:
    """The functions of the standard with values of their own, by name, for one framework; none where its kernel has them."""
    special: dict[str, Callable] = {}
    for name, cases in _FLOATS.items():
        *operands, wanted = np.array(cases, "float32").T
        if not _agrees(backend, name, operands, wanted):
            correct = {"divide": _ratio, "remainder": _rest}.get(name)
            correct = correct or functools.partial(_quotient, special.get("divide", ops.divide))
            special[name] = _of_floats(backend, getattr(ops, name), correct)
    for name, (formula, cases) in _COMPLEX.items():
        operand, wanted = np.array(cases, "complex128").T
        if not _agrees(backend, name, [operand], wanted):
            special[name] = _of_complex_numbers(backend, getattr(ops, name), formula)
    return special


def _agrees(backend, name: str, operands, wanted) -> bool:
    """Whether the framework's kernel has the values of the standard."""
    tensors = [ops.tensor(np.ascontiguousarray(v), None, backend.name) for v in operands]
    return _alike(backend.to_numpy(getattr(ops, name)(*tensors)), wanted)


def _of_floats(backend, operator, correct: Callable):
    """The operator, with a correction of floats."""
    kinds = backend.tensor_types()

    @functools.wraps(operator)
    def call(x1, x2):
        result = operator(x1, x2)
        if not isinstance(result, kinds) or backend.spec_of(result).dtype not in FLOATS:
            return result
        return correct(result, *(v if isinstance(v, kinds) else ops.full_like(result, v) for v in (x1, x2)))

    return call


def _ratio(result, x, y):
    """A zero divisor has a sign."""
    return ops.where(ops.equal(y, 0), ops.multiply(x, ops.reciprocal(y)), result)


def _quotient(divide, result, x, y):
    finite = ops.logical_and(ops.isfinite(x), ops.isfinite(y))
    plain = ops.logical_and(finite, ops.logical_and(ops.not_equal(x, 0), ops.not_equal(y, 0)))
    return ops.where(plain, ops.add(result, 0.0), divide(x, y))  # of finite numbers a zero is positive


def _rest(result, x, y):
    """A zero has the sign of the divisor."""
    return ops.where(ops.equal(result, 0), ops.copysign(ops.zeros_like(result), y), result)


def _of_complex_numbers(backend, operator, formula: Callable):
    """The operator, and for complex numbers a formula of their parts."""
    kinds = backend.tensor_types()

    @functools.wraps(operator)
    def call(x):
        if not isinstance(x, kinds) or backend.spec_of(x).dtype not in COMPLEX:
            return operator(x)
        return ops.complex(*formula(ops.real(x), ops.imag(x)))

    return call


def _alike(values, wanted) -> bool:
    """Close, NaN beside NaN, and zeros of the same sign."""

    def parts(x):
        return np.stack((x.real, x.imag))

    values, wanted = parts(values), parts(wanted)
    zero = wanted == 0
    return bool(
        np.allclose(values, wanted, equal_nan=True) and (np.signbit(values[zero]) == np.signbit(wanted[zero])).all()
    )


def _turn(size, b):
    """Imaginary part of a number of this size at the angle ``b``."""
    return ops.where(ops.equal(b, 0), b, ops.multiply(size, ops.sin(b)))


def _at_infinity(a, b, real, imag, limit: float):
    """Neither an infinite nor an undefined angle matters at minus infinity; at plus infinity it leaves the size."""
    lost = ops.logical_not(ops.isfinite(b))
    vanished = ops.logical_and(lost, ops.equal(a, -math.inf))
    endless = ops.logical_and(lost, ops.equal(a, math.inf))
    real = ops.where(vanished, limit, ops.where(endless, math.inf, real))
    return real, ops.where(vanished, 0.0, ops.where(endless, math.nan, imag))


def _exp(a, b):
    size = ops.exp(a)
    real = ops.where(ops.equal(b, 0), size, ops.multiply(size, ops.cos(b)))
    return _at_infinity(a, b, real, _turn(size, b), 0.0)


def _expm1(a, b):
    """Expanded with 1 - cos(b) = 2 sin(b/2)², which keeps the digits of small results."""
    less = ops.expm1(a)
    half = ops.sin(ops.multiply(b, 0.5))
    real = ops.subtract(ops.multiply(less, ops.cos(b)), ops.multiply(ops.multiply(half, half), 2.0))
    real = ops.where(ops.equal(b, 0), ops.add(less, 0.0), real)  # a zero is positive
    return _at_infinity(a, b, real, _turn(ops.exp(a), b), -1.0)


def _log1p(a, b):
    """The logarithm of the size, with the digits of small numbers kept, and the angle."""
    along = ops.add(a, 1.0)
    square = ops.add(ops.multiply(a, ops.add(a, 2.0)), ops.multiply(b, b))
    near = ops.less(ops.maximum(ops.abs(a), ops.abs(b)), 0.5)
    far = ops.log(ops.hypot(along, b))
    real = ops.where(near, ops.multiply(ops.log1p(ops.where(near, square, ops.zeros_like(a))), 0.5), far)
    infinite = ops.logical_or(ops.isinf(a), ops.isinf(b))
    return ops.where(infinite, math.inf, real), _angle(b, along)


def _angle(y, x):
    """atan2, with its values at two infinities, which some kernels lack."""
    both = ops.logical_and(ops.isinf(x), ops.isinf(y))
    return ops.where(both, ops.atan2(ops.sign(y), ops.sign(x)), ops.atan2(y, x))


def _acos(a, b):
    """The imaginary part has the opposite sign of the number's."""
    z = ops.acos(ops.complex(a, b))
    return ops.real(z), ops.copysign(ops.imag(z), ops.negative(b))


def _tanh(a, b):
    """At infinities the imaginary part has the number's sign, not that of sin(2b)."""
    z = ops.tanh(ops.complex(a, b))
    real, imag = ops.real(z), ops.imag(z)
    beyond = ops.logical_and(ops.isinf(a), ops.isfinite(b))
    return ops.where(beyond, ops.sign(a), real), ops.where(beyond, ops.copysign(ops.zeros_like(b), b), imag)


_INF, _NAN = math.inf, math.nan
_FLOATS = {  # two operands and the result
    "divide": [(1, -0.0, -_INF), (-1, -0.0, _INF), (_NAN, 0, _NAN)],
    "floor_divide": [
        (0, -1, -0.0),
        (-0.0, 1, -0.0),
        (-0.0, -1, 0.0),
        (1, 2.5, 0.0),
        (1, -0.0, -_INF),
        (_INF, -1, -_INF),
        (1, -_INF, -0.0),
        (-1, _INF, -0.0),
        (-1, -_INF, 0.0),
    ],
    "remainder": [(0, -1, -0.0), (-0.0, 1, 0.0), (-0.0, -1, -0.0), (4, -2, -0.0), (1, -_INF, -_INF), (-1, _INF, _INF)],
}
_COMPLEX: dict[str, tuple[Callable, list[tuple[Any, Any]]]] = {
    "acos": (_acos, [(0j, complex(math.pi / 2, -0.0)), (complex(-0.0, 0.0), complex(math.pi / 2, -0.0))]),
    "exp": (
        _exp,
        [
            (0j, complex(1, 0)),
            (complex(_INF, 0), complex(_INF, 0)),
            (complex(-_INF, 1), complex(0, 0)),
            (complex(1, _INF), complex(_NAN, _NAN)),
            (complex(-_INF, _INF), 0j),
            (complex(_INF, _INF), complex(_INF, _NAN)),
            (complex(-_INF, _NAN), 0j),
            (complex(_INF, _NAN), complex(_INF, _NAN)),
            (complex(_NAN, 0), complex(_NAN, 0)),
        ],
    ),
    "expm1": (
        _expm1,
        [
            (complex(-0.0, 0.0), 0j),
            (complex(_INF, 0), complex(_INF, 0)),
            (complex(-_INF, 1), complex(-1, 0)),
            (complex(1, _INF), complex(_NAN, _NAN)),
            (complex(-_INF, _INF), complex(-1, 0)),
            (complex(_INF, _INF), complex(_INF, _NAN)),
            (complex(-_INF, _NAN), complex(-1, 0)),
            (complex(_INF, _NAN), complex(_INF, _NAN)),
            (complex(_NAN, 0), complex(_NAN, 0)),
        ],
    ),
    "log1p": (
        _log1p,
        [
            (0j, 0j),
            (complex(-1, 0), complex(-_INF, 0)),
            (complex(1, _INF), complex(_INF, math.pi / 2)),
            (complex(-_INF, 1), complex(_INF, math.pi)),
            (complex(_INF, 1), complex(_INF, 0)),
            (complex(-_INF, _INF), complex(_INF, 3 * math.pi / 4)),
            (complex(_INF, _INF), complex(_INF, math.pi / 4)),
            (complex(_INF, _NAN), complex(_INF, _NAN)),
            (complex(_NAN, _INF), complex(_INF, _NAN)),
        ],
    ),
    "tanh": (_tanh, [(complex(_INF, 1), complex(1, 0)), (complex(_INF, 2), complex(1, 0)), (0j, 0j)]),
}
