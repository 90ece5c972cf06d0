"""MindSpore implementations of elementwise operators: arithmetic, comparison, logic, choice."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false

import math

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.call_recorder import reads_values
from labdl.backends.mindspore.dtypes import (
    ALL,
    ALL_NUMBERS,
    ALL_REALS,
    FRACTIONS,
    HALF,
    INTEGERS_INTO_FRACTIONS,
    TRUTHS,
    as_tensor,
    broadcast,
    int64,
    is_complex,
    is_floating,
    pair,
    promote_operands,
    through,
)
from labdl.spec import COMPLEX, INTEGERS

_complex = P.Complex()
_INTEGERS_AND_BOOL = ("bool", *INTEGERS)
_SMALL = {n: ("int32", n) for n in ("int8", "int16", "uint8")} | HALF


def _part(kernel):
    def call(x):
        return kernel(x) if x.size else ops.zeros(x.shape, _REAL_KINDS[id(x.dtype)])  # the kernels reject empty tensors

    return call


_REAL_KINDS = {id(mindspore.complex64): mindspore.float32, id(mindspore.complex128): mindspore.float64}
_real, _imag = _part(P.Real()), _part(P.Imag())


# -- arithmetic: complex products and quotients by their parts, because those kernels have no gradients


def _product(x, y):
    a, b, c, d = _real(x), _imag(x), _real(y), _imag(y)
    return _complex(a * c - b * d, a * d + b * c)


def _conjugate(x):
    return _complex(_real(x), -_imag(x))


def _of_one_shape(kernel):
    """For kernels that do not broadcast."""

    def call(x, y):
        shape = broadcast(x.shape, y.shape)
        return kernel(ops.broadcast_to(x, shape), ops.broadcast_to(y, shape))

    return call


add = pair(ops.add, ALL_NUMBERS, {**HALF, "bool": ("int32", "bool")})
subtract = pair(ops.sub, ALL_NUMBERS)
multiply = pair(ops.mul, ALL, parts=_product)


def _quotient(x, y):
    """Divided by the larger part first, so that squares do not overflow; the kernel gives 0 for a divisor of 0."""
    a, b, c, d = _real(x), _imag(x), _real(y), _imag(y)
    size = ops.maximum(ops.abs(c), ops.abs(d))
    zero = ops.equal(size, 0)
    scale = ops.where(zero, ops.ones_like(size), size)
    c, d = c / scale, d / scale
    whole = ops.where(zero, size, (c * c + d * d) * scale)
    c = ops.where(zero, ops.ones_like(c), c)
    return _complex((a * c + b * d) / whole, (b * c - a * d) / whole)


divide = pair(ops.div, FRACTIONS, INTEGERS_INTO_FRACTIONS, parts=_quotient)


def _is_zero(x):
    return ops.equal(ops.abs(_real(x)) + ops.abs(_imag(x)), 0)


class _ComplexPower(nn.Cell):
    """The kernel gives NaN for 0 to the power of 0: it is 1, as any power of 0 of the number 1. It has no gradient."""

    def construct(self, x, y):
        one = ops.logical_and(_is_zero(x), _is_zero(y))
        return ops.pow(_complex(_real(x) + ops.cast(one, _real(x).dtype), _imag(x)), y)

    def bprop(self, x, y, result, gradient):
        """Zero for the number where the power is 0, and for the power where the number is 0."""
        one = ops.ones_like(x)
        slope = _product(y, _power_of_one_shape(x, ops.where(_is_zero(y), one, ops.sub(y, one))))
        logarithm = ops.log(ops.where(_is_zero(x), one, x))
        return _product(gradient, _conjugate(slope)), _product(gradient, _conjugate(_product(result, logarithm)))


_power_of_one_shape = _ComplexPower()


def _complex_power(x, y):
    shape = broadcast(x.shape, y.shape)
    return _power_of_one_shape(*(v if v.shape == shape else ops.broadcast_to(v, shape) for v in (x, y)))


def _real_power(x, y):
    """The kernel has numbers for negative powers of integers; the gradient of 0 to the power of 0 is NaN: a constant's."""
    if not is_floating(x):
        if reads_values() and (y.asnumpy() < 0).any():
            raise ValueError("pow: integers have no negative powers; convert them with ops.astype")
    elif isinstance(y, Tensor):
        x = ops.where(ops.equal(y, 0.0), ops.stop_gradient(x), x)
    return ops.pow(x, y)


pow = pair(_real_power, ALL_NUMBERS, parts=_complex_power)


def _with_infinities(kernel, beside_infinity):
    def call(x, y):
        """MindSpore gives NaN where the divisor is infinite."""
        if not is_floating(x):
            return kernel(x, y)
        found = ops.where(ops.isinf(y), beside_infinity(x, y), kernel(x, y))
        return ops.where(ops.isinf(x), as_tensor(math.nan, x.dtype), found)

    return pair(call, ALL_REALS, numbers=False)


def _refuse_zero(name, y) -> None:
    """The kernels divide integers by zero without an error; in programs and on a device the quotient is undefined."""
    if not is_floating(y) and reads_values() and not y.asnumpy().all():
        raise ZeroDivisionError(f"{name}: an integer is divided by zero")


def _apart(x, y):
    return ops.less(ops.sign(x) * ops.sign(y), 0)


def _divide_integers(x, y):
    """Quotient and remainder of int64, whose kernels divide in float64: what is left is divided once more and rounded down."""
    first = ops.floor_divide(x, y)
    left = x - first * y
    second = ops.floor_divide(left, y)
    left = left - second * y
    above = ops.less(ops.sign(left) * ops.sign(y), 0)
    return first + second - above.astype(int64), left + ops.where(above, y, ops.zeros_like(y))


def _floor_quotient(x, y):
    """The kernel ignores the sign of a zero divisor and gives NaN beside infinities, where the standard has the quotient."""
    _refuse_zero("floor_divide", y)
    if x.dtype is int64:
        return _divide_integers(x, y)[0]
    found = ops.floor_divide(x, y)
    if not is_floating(x):
        return found
    by_zero = ops.equal(y, as_tensor(0, x.dtype))
    quotient = ops.where(by_zero, x * ops.reciprocal(y), ops.div(x, y))
    plain = ops.logical_and(ops.isfinite(x + y), ops.logical_not(by_zero))
    return ops.where(plain, found, ops.floor(quotient))


def _remainder(x, y):
    """The kernel's zeros have no sign, which is the divisor's."""
    _refuse_zero("remainder", y)
    found = _of_infinities(x, y)
    if not is_floating(x):
        return found
    sign = ops.stop_gradient(ops.sign(y))
    return sign * (sign * found + as_tensor(0, x.dtype))


def _modulo(x, y):
    return _divide_integers(x, y)[1] if x.dtype is int64 else _floor_mod(x, y)


def _truncated_modulo(x, y):
    _refuse_zero("fmod", y)
    if x.dtype is int64:
        found = _modulo(x, y)
        other = ops.logical_and(ops.not_equal(found, 0), ops.less(ops.sign(x) * ops.sign(y), 0))
        return found - ops.where(other, y, ops.zeros_like(y))
    return _truncate_mod(x, y) if x.dtype is mindspore.int32 else ops.fmod(x, y)  # in float32


_floor_mod, _truncate_mod = P.FloorMod(), P.TruncateMod()
_of_infinities = _with_infinities(_modulo, lambda x, y: ops.where(_apart(x, y), y, x + ops.zeros_like(y)))
floor_divide, remainder = (pair(f, ALL_REALS, numbers=False) for f in (_floor_quotient, _remainder))
fmod = _with_infinities(_truncated_modulo, lambda x, y: x + ops.zeros_like(y))
gcd = pair(ops.gcd, ("int16", "int32", "int64"), {n: ("int32", n) for n in ("int8", "uint8")}, numbers=False)
copysign = pair(lambda x, y: ops.where(_has_sign(y), -ops.abs(x), ops.abs(x)), FRACTIONS, numbers=False)


def _next(x, y):
    """The kernel does not step from infinity to the largest number."""
    largest = as_tensor(np.finfo(mindspore.dtype_to_nptype(x.dtype)).max, x.dtype)
    leaves = ops.logical_and(ops.isinf(x), ops.logical_and(ops.not_equal(x, y), ops.equal(y, y)))
    step = _next_float32 if x.dtype is mindspore.float32 else ops.nextafter
    return ops.where(leaves, ops.sign(x) * largest, step(x, y))


def _next_float32(x, y):
    """The kernel returns x: rounds x and slightly more than half of its last place, in float64."""
    wide = x.astype(mindspore.float64)
    half = ops.maximum(ops.abs(wide) * _HALF_PLACE, as_tensor(0.75 * 2.0**-149, mindspore.float64))
    stepped = ops.where(ops.greater(y, x), wide + half, wide - half).astype(mindspore.float32)
    return ops.where(ops.equal(x, y), y, ops.where(ops.equal(y, y), stepped, y))


_HALF_PLACE = Tensor(2.0**-24 * (1 + 2.0**-20), mindspore.float64)


nextafter = pair(_of_one_shape(_next), FRACTIONS[1:], {}, numbers=False)


def _larger_or_smaller(kernel):
    def call(x, y):
        """MindSpore gives the second operand where the first is NaN."""
        if not isinstance(y, Tensor):
            return kernel(y, x)
        if not x.size or not y.size:
            return ops.zeros(broadcast(x.shape, y.shape), x.dtype)
        found = kernel(x, y)
        return ops.where(ops.not_equal(x, x), x, found) if is_floating(x) else found

    return pair(call, ALL_REALS)


maximum, minimum = map(_larger_or_smaller, (ops.maximum, ops.minimum))
negative = through(ops.neg, ALL_NUMBERS)
square = through(lambda x: _product(x, x) if is_complex(x) else ops.square(x), ALL_NUMBERS)


def _absolute(x):
    return P.ComplexAbs()(x) if is_complex(x) else ops.abs(x)


abs = through(_absolute, ALL_NUMBERS)


def _sign(x):
    return ops.where(ops.not_equal(x, x), x, ops.sign(x)) if is_floating(x) else ops.sign(x)


sign = through(_sign, ("int32", "int64", *FRACTIONS, *COMPLEX), _SMALL)


def _whole(function):
    def call(x):
        """MindSpore has no kernel for integers, which are returned unchanged."""
        return function(x) if is_floating(x) else x

    return through(call, ALL_REALS)


floor, ceil, trunc = map(_whole, (ops.floor, ops.ceil, ops.trunc))


def _round(x):
    if is_complex(x):
        return _complex(ops.round(_real(x)), ops.round(_imag(x)))
    return ops.round(x) if is_floating(x) else x


round = through(_round, ALL_NUMBERS)


def nan_to_num(x, /, *, nan=0.0, posinf=None, neginf=None):
    largest = float(np.finfo(mindspore.dtype_to_nptype(x.dtype)).max)
    x = ops.where(ops.not_equal(x, x), as_tensor(nan, x.dtype), x)
    x = ops.where(ops.equal(x, math.inf), as_tensor(largest if posinf is None else posinf, x.dtype), x)
    return ops.where(ops.equal(x, -math.inf), as_tensor(-largest if neginf is None else neginf, x.dtype), x)


# -- comparison and logic


_EQUAL, _ORDER = (ALL, TRUTHS), (("bool", *ALL_REALS), TRUTHS)
equal, not_equal = pair(ops.equal, *_EQUAL), pair(ops.not_equal, *_EQUAL)
less, less_equal = pair(ops.less, *_ORDER), pair(ops.less_equal, *_ORDER)
greater, greater_equal = pair(ops.greater, *_ORDER), pair(ops.greater_equal, *_ORDER)


def _logic(function):
    return pair(function, ("bool",), {}, numbers=False)


logical_and, logical_or, logical_xor = map(_logic, (ops.logical_and, ops.logical_or, ops.logical_xor))
logical_not = through(ops.logical_not, ("bool",), {})


def _bits(function):
    return pair(function, _INTEGERS_AND_BOOL, {}, numbers=False)


bitwise_and, bitwise_or, bitwise_xor = map(_bits, (ops.bitwise_and, ops.bitwise_or, ops.bitwise_xor))


def _shift(kernel, beyond):
    def call(x, y):
        """MindSpore takes the shift modulo the number of bits."""
        bits = 8 * np.dtype(mindspore.dtype_to_nptype(x.dtype)).itemsize
        return ops.where(ops.less(y, as_tensor(bits, x.dtype)), kernel(x, y), beyond(x))

    return pair(call, INTEGERS, {}, numbers=False)


bitwise_left_shift = _shift(ops.bitwise_left_shift, ops.zeros_like)
bitwise_right_shift = _shift(ops.bitwise_right_shift, lambda x: ops.neg(ops.less(x, 0).astype(x.dtype)))


def _invert(x):
    return ops.logical_not(x) if x.dtype is mindspore.bool_ else ops.invert(x)


bitwise_invert = through(_invert, _INTEGERS_AND_BOOL, {})


def _parts_too(function, join):
    """Apply a test of real numbers to both parts of complex ones."""

    def call(x):
        if is_complex(x):
            return join(function(_real(x)), function(_imag(x)))
        return function(x)

    return through(call, ALL_NUMBERS, TRUTHS)


def _is_infinite(x):
    return ops.isinf(x) if is_floating(x) else ops.zeros_like(x).astype(mindspore.bool_)


isfinite, isnan = _parts_too(ops.isfinite, ops.logical_and), _parts_too(ops.isnan, ops.logical_or)
isinf = _parts_too(_is_infinite, ops.logical_or)


def _has_sign(x):
    """MindSpore ignores the sign of zero; computed from the angle of (-1, x)."""
    return ops.less(ops.atan2(x, as_tensor(-1, x.dtype)), 0)


signbit = through(_has_sign, FRACTIONS, TRUTHS)


def where(condition, x, y):
    if not (isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype is y.dtype):
        x, y = promote_operands(x, y)
    condition = as_tensor(condition)
    broadcast(condition.shape, x.shape, y.shape)
    return _where(x, condition, y)


_where = through(lambda x, condition, y: ops.where(condition, x, y.astype(x.dtype)), ALL)

# -- complex numbers


def complex(real, imag):
    real, imag = promote_operands(real, imag)
    shape = broadcast(real.shape, imag.shape)
    return _complex(ops.broadcast_to(real, shape), ops.broadcast_to(imag, shape))


def real(x):
    return _real(x) if is_complex(x) else x


imag = through(_imag, COMPLEX, {})


def conj(x):
    return _conjugate(x) if is_complex(x) else x
