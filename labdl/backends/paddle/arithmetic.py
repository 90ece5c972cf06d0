"""PaddlePaddle's spelling of element-wise operators: arithmetic, functions, comparisons, complex numbers."""

import functools
import math

import paddle
from paddle import _C_ops

from labdl.backends.paddle.operands import (
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
    filled,
    fractions,
    is_complex,
    matched,
    pair,
    refuse,
    same,
    widened,
)
from labdl.backends.paddle.runtime import TENSORS

_scale = _C_ops.scale
_REALS = functools.partial(pair, refused=COMPLEX)
_NUMBERS = functools.partial(pair, refused=(BOOL,))
_REAL_NUMBERS = functools.partial(pair, refused=(BOOL, *COMPLEX))
_ANY = functools.partial(pair, table={})  # kernels for every dtype

# a sum with -0.0 changes nothing, not even the sign of a zero
add = pair(_C_ops.add, WITHOUT_BOOL, number=lambda x, y: _scale(x, 1.0, y, True))
subtract = _NUMBERS(_C_ops.subtract, number=lambda x, y: _scale(x, 1.0, -y, True))
multiply = pair(_C_ops.multiply, WITHOUT_BOOL, number=lambda x, y: _scale(x, y, -0.0, True))
floor_divide, remainder = map(_REAL_NUMBERS, (_C_ops.floor_divide, _C_ops.remainder))
maximum, minimum = map(_REAL_NUMBERS, (_C_ops.maximum, _C_ops.minimum))
copysign, nextafter = pair(_C_ops.copysign), pair(_C_ops.nextafter)
atan2 = _REAL_NUMBERS(lambda y, x: _C_ops.atan2(*paddle.broadcast_tensors([y, x])), FRACTIONS)
equal, not_equal = _ANY(same), _ANY(lambda x, y: _C_ops.logical_not(same(x, y)))
less, less_equal = (_ANY(k, refused=COMPLEX) for k in (_C_ops.less_than, _C_ops.less_equal))
greater, greater_equal = (_ANY(k, refused=COMPLEX) for k in (_C_ops.greater_than, _C_ops.greater_equal))
logical_and, logical_or, logical_xor = map(_ANY, (_C_ops.logical_and, _C_ops.logical_or, _C_ops.logical_xor))
bitwise_and, bitwise_or, bitwise_xor = map(_ANY, (_C_ops.bitwise_and, _C_ops.bitwise_or, _C_ops.bitwise_xor))
bitwise_left_shift = pair(lambda x, y: _C_ops.bitwise_left_shift(x, y, True))
bitwise_right_shift = pair(lambda x, y: _C_ops.bitwise_right_shift(x, y, True))
logical_not, bitwise_invert = _C_ops.logical_not, _C_ops.bitwise_not


@functools.partial(_NUMBERS, table=FRACTIONS, straight=_C_ops.divide)
def divide(x, y):
    """Paddle gives NaN for a complex number divided by 0, not the infinities of its parts divided by 0."""
    if not is_complex(x.dtype):
        return _C_ops.divide(x, y)
    real, imag = _C_ops.real(x), _C_ops.imag(x)
    zero = filled([], 0, real.dtype)
    parts = _C_ops.complex(_C_ops.divide(real, zero), _C_ops.divide(imag, zero))
    return where(same(y, filled([], 0, y.dtype)), parts, _C_ops.divide(x, y))


_NUMBER = functools.partial(each, refused=(BOOL,))
isfinite, isinf, isnan = (_NUMBER(k, returned=False) for k in (_C_ops.isfinite, _C_ops.isinf, _C_ops.isnan))
abs, square, sign = map(_NUMBER, (_C_ops.abs, _C_ops.square, _C_ops.sign))
round, negative = _NUMBER(lambda x: _C_ops.round(x, 0)), _NUMBER(lambda x: _scale(x, -1.0, -0.0, True))


def _whole(kernel):
    """For functions that leave integers as they are."""
    general = widened(kernel, refused=(BOOL,))

    def call(x):
        return x if x.dtype in INTEGERS else general(x)

    return call


floor, ceil, trunc = map(_whole, (_C_ops.floor, _C_ops.ceil, _C_ops.trunc))
reciprocal, expm1 = fractions(_C_ops.reciprocal), fractions(_C_ops.expm1)
log, log1p, log2, log10 = map(fractions, (_C_ops.log, _C_ops.log1p, _C_ops.log2, _C_ops.log10))
sin, cos, tan = map(fractions, (_C_ops.sin, _C_ops.cos, _C_ops.tan))
asin, acos, atan = map(fractions, (_C_ops.asin, _C_ops.acos, _C_ops.atan))
sinh, cosh, tanh = map(fractions, (_C_ops.sinh, _C_ops.cosh, _C_ops.tanh))
asinh, acosh, atanh = map(fractions, (_C_ops.asinh, _C_ops.acosh, _C_ops.atanh))
erf = fractions(_C_ops.erf)


@functools.partial(fractions, straight=_C_ops.exp)
def exp(x):
    """Paddle computes that of complex128 in complex64."""
    if x.dtype != paddle.complex128:
        return _C_ops.exp(x)
    angle, zero = _C_ops.imag(x), filled([], 0.0, paddle.float64)
    size = _C_ops.exp(_C_ops.real(x))
    still = same(angle, zero)  # infinity times 0 would be NaN
    return _C_ops.complex(
        _C_ops.multiply(size, _C_ops.cos(angle)), where(still, zero, _C_ops.multiply(size, _C_ops.sin(angle)))
    )


@fractions
def sqrt(x):
    """Paddle's vectorised square root of infinity is NaN in float32."""
    root = _C_ops.sqrt(x)
    return _C_ops.where(_C_ops.equal(x, filled([], math.inf, FLOAT32)), x, root) if x.dtype is FLOAT32 else root


@functools.partial(fractions, straight=_C_ops.rsqrt)
def rsqrt(x):
    return _C_ops.reciprocal(_C_ops.sqrt(x)) if is_complex(x.dtype) else _C_ops.rsqrt(x)


@functools.partial(fractions, refused=COMPLEX)
def exp2(x):
    return _C_ops.elementwise_pow(filled([], 2.0, x.dtype), x)


def _power(x, y):
    """Paddle's powers of integers go through float64, which has not all their digits: here by repeated squaring."""
    if x.dtype not in INTEGERS:
        return _C_ops.elementwise_pow(x, y)
    result, one = filled([], 1, x.dtype), filled([], 1, x.dtype)
    y = _C_ops.minimum(_C_ops.maximum(y, filled([], 0, y.dtype)), filled([], 127, y.dtype))
    for bit in range(7):  # higher powers overflow but for those of -1, 0 and 1
        odd = _C_ops.bitwise_and(y, filled([], 1 << bit, y.dtype))
        result = _C_ops.multiply(result, where(cast(odd, BOOL), x, one))
        x = _C_ops.multiply(x, x)
    return result


_any_power = _NUMBERS(_power)


def pow(x, y):
    if y.__class__ in (int, float) and isinstance(x, TENSORS):
        kind = x.dtype
        if kind is FLOAT32:
            return _C_ops.pow(x, y)
        if y < 0 and y.__class__ is int and kind in INTEGERS:
            raise ValueError(f"integers have no negative integer powers, received {y}: convert with ops.astype")
    return _any_power(x, y)


def fmod(x, y):
    x, y = matched(x, y)
    return _fmod(x, y)


@_REAL_NUMBERS
def _fmod(x, y):
    rest = _C_ops.remainder(_C_ops.abs(x), _C_ops.abs(y))
    return where(_C_ops.less_than(x, filled([], 0, x.dtype)), _scale(rest, -1.0, 0.0, True), rest)


def clip(x, min=None, max=None):
    """Paddle takes no tensors, and no lower end above the upper one."""
    if x.dtype is FLOAT32:
        low, high = -math.inf if min is None else min, math.inf if max is None else max
        if isinstance(low, int | float) and isinstance(high, int | float) and low <= high:
            return _C_ops.clip(x, low, high)
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
        x, y = matched(x, y)
    return _choose(condition, x, y)


def _choose(condition, x, y):
    kind = x.dtype
    if kind is not FLOAT32 and kind in WIDER and kind != BOOL:
        return cast(_choose(condition, cast(x, WIDER[kind]), cast(y, WIDER[kind])), kind)
    if condition.shape == x.shape == y.shape:
        return _C_ops.where(condition, x, y)
    return paddle.where(condition, x, y)


@pair
def _gcd(x, y):
    zero, one = filled([], 0, x.dtype), filled([], 1, x.dtype)
    x, y = paddle.broadcast_tensors([_C_ops.abs(x), _C_ops.abs(y)])
    # as many steps as the largest neighbours among Fibonacci's numbers take
    for _ in range(47 if x.dtype == paddle.int32 else 92):
        ended = _C_ops.equal(y, zero)
        rest = _C_ops.remainder(x, where(ended, one, y))
        x, y = where(ended, x, y), where(ended, zero, rest)
    return x


def gcd(x, y):
    """Paddle asks after each step whether all elements have ended, on the host."""
    return _gcd(x, y)


def nan_to_num(x, *, nan=0.0, posinf=None, neginf=None):
    return paddle.nan_to_num(x, nan, posinf, neginf)


def signbit(x):
    return less(_C_ops.copysign(filled([], 1.0, x.dtype), x), 0.0)


@functools.partial(_REAL_NUMBERS, table=FRACTIONS)
def logaddexp(x, y):
    """Paddle gives NaN for two equal infinities."""
    first = _C_ops.greater_equal(x, y)
    high, low = where(first, x, y), where(first, y, x)
    endless = _C_ops.logical_and(_C_ops.isinf(high), same(low, high))
    gap = where(endless, filled([], 0.0, x.dtype), _C_ops.subtract(low, high))
    return _C_ops.add(high, _C_ops.log1p(_C_ops.exp(gap)))


@pair
def _hypot(x, y):
    high, low = _C_ops.maximum(_C_ops.abs(x), _C_ops.abs(y)), _C_ops.minimum(_C_ops.abs(x), _C_ops.abs(y))
    plain = _C_ops.logical_or(same(high, filled([], 0.0, x.dtype)), _C_ops.isinf(high))
    one = filled([], 1.0, x.dtype)
    ratio = _C_ops.divide(where(plain, filled([], 0.0, x.dtype), low), where(plain, one, high))
    result = _C_ops.multiply(high, _C_ops.sqrt(_C_ops.add(one, _C_ops.square(ratio))))
    endless = _C_ops.logical_or(_C_ops.isinf(x), _C_ops.isinf(y))
    return where(endless, filled([], math.inf, x.dtype), result)


def hypot(x, y):
    """Paddle squares first, which overflows."""
    return _hypot(x, y)


@fractions
def erfinv(x):
    """Paddle gives infinities beyond -1 and 1."""
    inside = _C_ops.less_equal(_C_ops.abs(x), filled([], 1.0, x.dtype))
    return where(inside, _C_ops.erfinv(x), filled([], math.nan, x.dtype))


@fractions
def erfc(x):
    """Paddle has none but 1 - erf(x), which has no digits left for large x."""
    far = filled([], 30.0, x.dtype)  # where nothing of it is left in any dtype, and before squares overflow
    x = _C_ops.minimum(_C_ops.maximum(x, _scale(far, -1.0, 0.0, True)), far)
    near = _C_ops.less_than(_C_ops.abs(x), filled([], 0.5, x.dtype))
    plain = _scale(_C_ops.erf(x), -1.0, 1.0, True)
    far = where(near, filled([], 1.0, x.dtype), x)  # the incomplete gamma function has no gradient at 0
    half = filled([], 0.5, x.dtype)
    tail = _C_ops.gammaincc(_C_ops.expand(half, far.shape), _C_ops.square(far))
    tail = where(_C_ops.less_than(far, filled([], 0.0, x.dtype)), _scale(tail, -1.0, 2.0, True), tail)
    return where(near, plain, tail)


lgamma, digamma = fractions(_C_ops.lgamma), fractions(_C_ops.digamma)


def complex(real, imag):
    return _C_ops.complex(*paddle.broadcast_tensors(matched(real, imag)))


def real(x):
    return _C_ops.real(x) if is_complex(x.dtype) else x


def conj(x):
    return _C_ops.conj(x) if is_complex(x.dtype) else x


def stop_gradient(x):
    return x.detach()
