"""PaddlePaddle implementations of elementwise operators: arithmetic, functions, comparisons, complex numbers."""

import functools
import math

import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.call_recorder import reads_values
from labdl.backends.paddle.dtypes import (
    BOOL,
    COMPLEX,
    FLOAT32,
    FRACTIONS,
    INTEGERS,
    WIDER,
    WITHOUT_BOOL,
    as_tensor,
    cast,
    each,
    fractions,
    full_tensor,
    in_dtype,
    in_wider_dtype,
    is_complex,
    is_fraction,
    pair,
    promote_operands,
    refuse,
    same,
)
from labdl.backends.paddle.frozen_inputs import both_trainable
from labdl.backends.paddle.tensors import TENSORS

_scale = kernels.scale
_REALS = functools.partial(pair, refused=COMPLEX)
_NUMBERS = functools.partial(pair, refused=(BOOL,))
_REAL_NUMBERS = functools.partial(pair, refused=(BOOL, *COMPLEX))
_ANY = functools.partial(pair, table={})  # kernels for every dtype

# a sum with -0.0 changes nothing, not even the sign of a zero
add = pair(kernels.add, WITHOUT_BOOL, number=lambda x, y: _scale(x, 1.0, y, True))
subtract = _NUMBERS(kernels.subtract, number=lambda x, y: _scale(x, 1.0, -y, True))
multiply = pair(kernels.multiply, WITHOUT_BOOL, number=lambda x, y: _scale(x, y, -0.0, True))


def _floor_divide(x, y):
    """Paddle ends the process at the least integer divided by -1."""
    if x.dtype not in INTEGERS:
        return _floor_quotient(x, y)
    opposite = kernels.equal(y, full_tensor([], -1, y.dtype))
    x = where(opposite, _scale(x, -1.0, 0.0, True), x)
    return kernels.floor_divide(x, where(opposite, full_tensor([], 1, y.dtype), y))


def _floor_quotient(x, y):
    """Paddle gives NaN and -1 beside infinities, where the standard has the quotient."""
    finite = paddle.isfinite(kernels.add(x, y))
    return where(finite, kernels.floor_divide(x, y), paddle.floor(kernels.divide(x, y)))


def _remainder(x, y):
    """Paddle ends the process at the least integer divided by -1."""
    if x.dtype not in INTEGERS:
        return _signed_remainder(x, y)
    y = where(kernels.equal(y, full_tensor([], -1, y.dtype)), full_tensor([], 1, y.dtype), y)
    return kernels.remainder(x, y)


def _signed_remainder(x, y):
    """Paddle's zeros have the sign of the dividend."""
    sign = paddle.sign(y.detach())
    return kernels.multiply(sign, _scale(kernels.multiply(sign, kernels.remainder(x, y)), 1.0, 0.0, True))


floor_divide = _REAL_NUMBERS(_floor_divide, straight=_floor_quotient)
remainder = _REAL_NUMBERS(_remainder, straight=_signed_remainder)
maximum, minimum = map(_REAL_NUMBERS, (kernels.maximum, kernels.minimum))
nextafter = pair(paddle.nextafter)


def _atan2(y, x):
    """Paddle's gradient is NaN where both are 0."""
    y, x = paddle.broadcast_tensors([y, x])
    if not y.stop_gradient:
        zero = full_tensor([], 0.0, x.dtype)
        nothing = kernels.logical_and(same(x, zero), same(y, zero))
        y, x = where(nothing, y.detach(), y), where(nothing, x.detach(), x)
    return kernels.atan2(y, x)


atan2 = _REAL_NUMBERS(both_trainable(_atan2), FRACTIONS)
equal, not_equal = _ANY(same), _ANY(lambda x, y: kernels.logical_not(same(x, y)))
less, less_equal = (_ANY(k, refused=COMPLEX) for k in (kernels.less_than, kernels.less_equal))
greater, greater_equal = (_ANY(k, refused=COMPLEX) for k in (paddle.greater_than, kernels.greater_equal))
logical_and, logical_or, logical_xor = map(_ANY, (kernels.logical_and, paddle.logical_or, paddle.logical_xor))
bitwise_and, bitwise_or, bitwise_xor = map(_ANY, (paddle.bitwise_and, paddle.bitwise_or, paddle.bitwise_xor))
bitwise_left_shift = pair(lambda x, y: paddle.bitwise_left_shift(x, y, True))
bitwise_right_shift = pair(lambda x, y: paddle.bitwise_right_shift(x, y, True))
logical_not, bitwise_invert = kernels.logical_not, paddle.bitwise_not


@functools.partial(_NUMBERS, table=FRACTIONS, straight=kernels.divide)
def divide(x, y):
    """Paddle gives NaN for a complex number divided by 0, not the infinities of its parts divided by 0."""
    if not is_complex(x.dtype):
        return kernels.divide(x, y)
    real, imag = (part(x.detach()) for part in (paddle.real, paddle.imag))  # 0 times their slope would be NaN
    zero = full_tensor([], 0, real.dtype)
    parts = kernels.complex(kernels.divide(real, zero), kernels.divide(imag, zero))
    return where(same(y, full_tensor([], 0, y.dtype)), parts, kernels.divide(x, y))


_NUMBER = functools.partial(each, refused=(BOOL,))
isfinite, isinf, isnan = (_NUMBER(k, returned=False) for k in (paddle.isfinite, paddle.isinf, paddle.isnan))
abs, square, sign = map(_NUMBER, (paddle.abs, paddle.square, paddle.sign))
round, negative = _NUMBER(lambda x: paddle.round(x, 0)), _NUMBER(lambda x: _scale(x, -1.0, -0.0, True))


def _whole(kernel):
    """For functions that return integers unchanged."""
    general = in_wider_dtype(kernel, refused=(BOOL,))

    def call(x):
        return x if x.dtype in INTEGERS else general(x)

    return call


floor, ceil, trunc = map(_whole, (paddle.floor, paddle.ceil, paddle.trunc))
reciprocal, expm1 = fractions(paddle.reciprocal), fractions(paddle.expm1)
log, log1p, log2, log10 = map(fractions, (paddle.log, paddle.log1p, paddle.log2, paddle.log10))
sin, cos, tan = map(fractions, (paddle.sin, paddle.cos, paddle.tan))
asin, acos, atan = map(fractions, (paddle.asin, paddle.acos, paddle.atan))
sinh, cosh, tanh = map(fractions, (paddle.sinh, paddle.cosh, kernels.tanh))
atanh, erf = fractions(paddle.atanh), fractions(paddle.erf)


def _without_overflow(kernel):
    """For functions whose gradient has the square of x: in float64, for that of a large float32 is infinite."""

    def call(x):
        if x.stop_gradient or x.dtype is not FLOAT32:
            return kernel(x)
        return cast(kernel(cast(x, paddle.float64)), FLOAT32)

    return fractions(call)


@_without_overflow
def acosh(x):
    """Paddle's gradient of complex numbers has the wrong sign where the real part is negative."""
    if x.stop_gradient or not is_complex(x.dtype):
        return paddle.acosh(x)
    fixed, one = x.detach(), full_tensor([], 1, x.dtype)
    roots = (paddle.sqrt(f(fixed, one)) for f in (kernels.subtract, kernels.add))
    slope = paddle.reciprocal(kernels.multiply(*roots))
    zero = full_tensor([], 0, x.dtype)
    finite = kernels.logical_and(*(paddle.isfinite(part(slope)) for part in (paddle.real, paddle.imag)))
    slope = paddle.where(finite, slope, zero)  # at -1 and 1, where there is none
    return kernels.add(paddle.acosh(fixed), kernels.multiply(kernels.subtract(x, fixed), slope))


asinh = _without_overflow(paddle.asinh)


@functools.partial(fractions, straight=kernels.exp)
def exp(x):
    """Paddle computes that of complex128 in complex64, and has NaN for both parts at infinities of unknown angle."""
    if not is_complex(x.dtype):
        return kernels.exp(x)
    real, angle = paddle.real(x), paddle.imag(x)
    zero, one = (full_tensor([], n, real.dtype) for n in (0.0, 1.0))
    nothing = same(real, full_tensor([], -math.inf, real.dtype))
    size = where(nothing, zero, kernels.exp(real))  # the kernel gives 5e-309
    lost = kernels.logical_and(paddle.isinf(real), kernels.logical_not(paddle.isfinite(angle)))
    still = paddle.logical_or(same(angle, zero), kernels.logical_and(lost, nothing))  # inf * 0 would be NaN
    return kernels.complex(
        kernels.multiply(size, where(lost, one, paddle.cos(angle))),
        where(still, zero, kernels.multiply(size, paddle.sin(angle))),
    )


@fractions
def sqrt(x):
    """Paddle's vectorized square root of infinity is NaN in float32."""
    if x.dtype is not FLOAT32:
        return paddle.sqrt(x)
    endless = kernels.equal(x, full_tensor([], math.inf, FLOAT32))
    return kernels.where(endless, x, paddle.sqrt(x))


@functools.partial(fractions, straight=paddle.rsqrt)
def rsqrt(x):
    return paddle.reciprocal(paddle.sqrt(x)) if is_complex(x.dtype) else paddle.rsqrt(x)


@functools.partial(fractions, refused=COMPLEX)
def exp2(x):
    return kernels.elementwise_pow(full_tensor([], 2.0, x.dtype), x)


def _power(x, y):
    """Paddle's powers of integers use float64, which lacks their precision: computed by repeated squaring."""
    if is_complex(x.dtype):
        return _complex_power(x, y)
    if x.dtype not in INTEGERS:
        return kernels.elementwise_pow(x, y)
    if reads_values(y) and bool(paddle.any(kernels.less_than(y, full_tensor([], 0, y.dtype)))):
        raise ValueError("integers have no negative integer powers: convert with ops.astype")
    result, one = full_tensor([], 1, x.dtype), full_tensor([], 1, x.dtype)
    y = kernels.minimum(kernels.maximum(y, full_tensor([], 0, y.dtype)), full_tensor([], 127, y.dtype))
    for bit in range(7):  # higher powers overflow except of -1, 0 and 1
        odd = paddle.bitwise_and(y, full_tensor([], 1 << bit, y.dtype))
        result = kernels.multiply(result, where(cast(odd, BOOL), x, one))
        x = kernels.multiply(x, x)
    return result


def _complex_power(x, y):
    """Paddle gives NaN for 0 to the power of 0; the gradient, which is wrong, is that of the exponential of a product."""
    zero, one = full_tensor([], 0, x.dtype), full_tensor([], 1, x.dtype)
    value = kernels.elementwise_pow(where(same(y, zero), one, x).detach(), y.detach())
    if x.stop_gradient and y.stop_gradient:
        return value
    none = same(x, zero)
    return where(none, value, exp(kernels.multiply(y, log(where(none, one, x)))))


_any_power = _NUMBERS(_power)


def pow(x, y):
    if y.__class__ in (int, float) and isinstance(x, TENSORS):
        kind = x.dtype
        if kind is FLOAT32:
            return kernels.pow(x, y)
        if y < 0 and y.__class__ is int and kind in INTEGERS:
            raise ValueError(f"integers have no negative integer powers, received {y}: convert with ops.astype")
    return _any_power(x, y)


def fmod(x, y):
    x, y = promote_operands(x, y)
    return _fmod(x, y)


@_REAL_NUMBERS
def _fmod(x, y):
    if x.dtype in INTEGERS:  # the absolute value of the least is negative
        rest, zero = _remainder(x, y), full_tensor([], 0, x.dtype)
        apart = paddle.logical_xor(kernels.less_than(x, zero), kernels.less_than(y, zero))
        return where(kernels.logical_and(apart, cast(rest, BOOL)), kernels.subtract(rest, y), rest)
    below = kernels.less_than(x, full_tensor([], 0, x.dtype))
    size = where(below, _scale(x, -1.0, 0.0, True), x)  # with the slope 1 at 0
    rest = kernels.remainder(size, paddle.abs(y))
    return where(below, _scale(rest, -1.0, 0.0, True), rest)


def clip(x, min=None, max=None):
    """Paddle takes no tensors, and no lower end above the upper one."""
    if x.dtype is FLOAT32 or x.dtype == paddle.float64:
        low, high = -math.inf if min is None else min, math.inf if max is None else max
        if isinstance(low, int | float) and isinstance(high, int | float) and low <= high:
            return kernels.clip(x, low, high)
    refuse(x.dtype, (BOOL, *COMPLEX))
    x = x if min is None else maximum(x, min)
    return x if max is None else minimum(x, max)


def where(condition, x, y):
    condition = condition if isinstance(condition, TENSORS) else as_tensor(condition)
    try:
        same = x.dtype is FLOAT32 and y.dtype is FLOAT32
    except AttributeError:  # a Python number
        same = False
    if not same:
        x, y = promote_operands(x, y)
    return _choose(condition, x, y)


def _choose(condition, x, y):
    kind = x.dtype
    if kind is not FLOAT32 and kind in WIDER and kind != BOOL:
        return cast(_choose(condition, cast(x, WIDER[kind]), cast(y, WIDER[kind])), kind)
    if condition.shape == x.shape == y.shape:
        return kernels.where(condition, x, y)
    return paddle.where(condition, x, y)


@pair
def _gcd(x, y):
    zero, one = full_tensor([], 0, x.dtype), full_tensor([], 1, x.dtype)
    x, y = paddle.broadcast_tensors([paddle.abs(x), paddle.abs(y)])
    # as many steps as for the largest neighboring Fibonacci numbers
    for _ in range(47 if x.dtype == paddle.int32 else 92):
        ended = kernels.equal(y, zero)
        rest = kernels.remainder(x, where(ended, one, y))
        x, y = where(ended, x, y), where(ended, zero, rest)
    return x


def gcd(x, y):
    """Paddle checks on the host after each step whether all elements are done."""
    return _gcd(x, y)


@pair
@both_trainable
def copysign(x, y):
    x, y = paddle.broadcast_tensors([x, y])  # Paddle warns of unequal shapes
    return paddle.copysign(x, y)


def nan_to_num(x, *, nan=0.0, posinf=None, neginf=None):
    return paddle.nan_to_num(x, nan, posinf, neginf)


def signbit(x):
    return less(copysign(full_tensor([], 1.0, x.dtype), x), 0.0)


@functools.partial(_REAL_NUMBERS, table=FRACTIONS)
def logaddexp(x, y):
    """Paddle gives NaN for two equal infinities."""
    first = kernels.greater_equal(x, y)
    high, low = where(first, x, y), where(first, y, x)
    endless = kernels.logical_and(paddle.isinf(high), same(low, high))
    gap = where(endless, full_tensor([], 0.0, x.dtype), kernels.subtract(low, high))
    return kernels.add(high, paddle.log1p(kernels.exp(gap)))


@pair
def _hypot(x, y):
    high, low = kernels.maximum(paddle.abs(x), paddle.abs(y)), kernels.minimum(paddle.abs(x), paddle.abs(y))
    plain = paddle.logical_or(same(high, full_tensor([], 0.0, x.dtype)), paddle.isinf(high))
    one = full_tensor([], 1.0, x.dtype)
    ratio = kernels.divide(where(plain, full_tensor([], 0.0, x.dtype), low), where(plain, one, high))
    result = kernels.multiply(high, paddle.sqrt(kernels.add(one, paddle.square(ratio))))
    endless = paddle.logical_or(paddle.isinf(x), paddle.isinf(y))
    return where(endless, full_tensor([], math.inf, x.dtype), result)


def hypot(x, y):
    """Paddle squares first, which overflows."""
    return _hypot(x, y)


@fractions
def erfinv(x):
    """Paddle gives infinities beyond -1 and 1."""
    inside = kernels.less_equal(paddle.abs(x), full_tensor([], 1.0, x.dtype))
    return where(inside, paddle.erfinv(x), full_tensor([], math.nan, x.dtype))


@fractions
def erfc(x):
    """Paddle has only 1 - erf(x), which has no precision for large x."""
    far = full_tensor([], 30.0, x.dtype)  # where the result underflows in every dtype, and squares do not overflow
    x = kernels.minimum(kernels.maximum(x, _scale(far, -1.0, 0.0, True)), far)
    near = kernels.less_than(paddle.abs(x), full_tensor([], 0.5, x.dtype))
    plain = _scale(paddle.erf(x), -1.0, 1.0, True)
    far = where(near, full_tensor([], 1.0, x.dtype), x)  # the incomplete gamma function has no gradient at 0
    half = full_tensor([], 0.5, x.dtype)
    tail = kernels.gammaincc(kernels.expand(half, far.shape), paddle.square(far))
    tail = where(kernels.less_than(far, full_tensor([], 0.0, x.dtype)), _scale(tail, -1.0, 2.0, True), tail)
    return where(near, plain, tail)


lgamma, i0 = fractions(paddle.lgamma), fractions(paddle.i0)


def digamma(x):
    """Paddle's gradient is inaccurate in float32, wrong below 0, and NaN at infinity."""
    kind = x.dtype
    refuse(kind, COMPLEX)
    wide = in_dtype(x, paddle.float64)
    endless = kernels.equal(wide, full_tensor([], math.inf, wide.dtype))
    result = paddle.digamma(where(endless, full_tensor([], 1.0, wide.dtype), wide))
    result = where(endless, wide.detach(), result)
    return in_dtype(result, kind if is_fraction(kind) else FLOAT32)


def complex(real, imag):
    return kernels.complex(*paddle.broadcast_tensors(promote_operands(real, imag)))


def real(x):
    return paddle.real(x) if is_complex(x.dtype) else x


def conj(x):
    return paddle.conj(x) if is_complex(x.dtype) else x


def stop_gradient(x):
    return x.detach()
