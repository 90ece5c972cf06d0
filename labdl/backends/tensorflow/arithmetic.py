"""TensorFlow implementations of arithmetic, rounding and functions, element by element."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportArgumentType=false, reportCallIssue=false

import functools
import math

import tensorflow as tf
from tensorflow import raw_ops as _raw
from tensorflow.python.eager.record import could_possibly_record

from labdl.backends.tensorflow.dtypes import (
    BITS,
    COMPLEX,
    HALVES,
    INTEGERS,
    SMALL,
    floating,
    number,
    of,
    one,
    pair,
    promote_operands,
    through,
    together,
    two,
)

_SINGLE = (tf.float32, tf.float64)


def _fractions(function):
    """Integers give floats."""
    return through(tf.float32, function, *INTEGERS, back=False)


# -- arithmetic

add = pair(two(_raw.AddV2), {tf.bool: tf.logical_or})
multiply = pair(two(_raw.Mul), {tf.bool: tf.logical_and})
subtract, remainder = pair(two(_raw.Sub)), pair(two(_raw.FloorMod))


def needs_gradient() -> bool:
    """False in eager mode without a tape: there an own gradient takes eight times as long as the operator."""
    return not tf.executing_eagerly() or could_possibly_record()


def _share_ties(op, compare):
    """Of equal operands each gets half of the gradient, in TensorFlow the first all; NaN gives it to both."""

    @tf.custom_gradient
    def call(x, y):
        def gradient(upstream):
            tie, zero = tf.equal(x, y), tf.zeros((), upstream.dtype)
            each = tf.where(tie, upstream * 0.5, upstream)
            parts = tf.where(compare(x=x, y=y), zero, each), tf.where(compare(x=y, y=x), zero, each)
            return [_sum_to(part, operand) for part, operand in zip(parts, (x, y), strict=True)]

        return op(x=x, y=y), gradient

    def choose(x, y):
        if x.dtype.is_floating and needs_gradient():
            return call(x, tf.convert_to_tensor(y))
        return op(x=x, y=y)

    return pair(choose)


def _sum_to(gradient, operand):
    """The gradient of an operand that was broadcast."""
    if gradient.shape == operand.shape and gradient.shape.is_fully_defined():
        return gradient
    shape = tf.shape(operand)
    axes, _ = _raw.BroadcastGradientArgs(s0=shape, s1=tf.shape(gradient))
    return tf.reshape(tf.reduce_sum(gradient, axes), shape)


maximum, minimum = _share_ties(_raw.Maximum, _raw.Less), _share_ties(_raw.Minimum, _raw.Greater)


def _complex_quotient(x, y):
    """Division by zero divides the parts: TensorFlow returns NaN."""
    zero, size = tf.equal(y, tf.zeros((), y.dtype)), tf.abs(y)
    apart = tf.complex(tf.math.real(x) / size, tf.math.imag(x) / size)
    return tf.where(zero, apart, _raw.RealDiv(x=x, y=tf.where(zero, tf.ones_like(y), y)))


divide = pair(two(_raw.RealDiv), _fractions(two(_raw.RealDiv)) | dict.fromkeys(COMPLEX, _complex_quotient))


def _complex_power(x, y):
    """TensorFlow returns NaN for 0 to the power of 0."""
    one = tf.logical_and(tf.equal(x, tf.zeros((), x.dtype)), tf.equal(y, tf.zeros((), y.dtype)))
    return tf.where(one, tf.ones((), x.dtype), _raw.Pow(x=tf.where(one, tf.ones((), x.dtype), x), y=y))


def _real_power(x, y):
    """The gradient of 0 to the power of 0 is NaN: 0 as that of a constant."""
    y = tf.convert_to_tensor(y)
    constant = None if tf.executing_eagerly() or y.shape.rank else tf.get_static_value(y)
    if needs_gradient() and (constant is None or constant == 0):
        x = tf.where(tf.equal(y, 0), tf.stop_gradient(x), x)
    return _raw.Pow(x=x, y=y)


pow = pair(_real_power, through(tf.int32, two(_raw.Pow), tf.uint8) | dict.fromkeys(COMPLEX, _complex_power))


def _quotient(x, y):
    rest = tf.truncatemod(x, y)
    exact = (x - rest) / y
    below = tf.logical_and(tf.not_equal(rest, 0), tf.not_equal(rest < 0, y < 0))
    whole = tf.round(tf.where(below, exact - 1, exact))
    beside = tf.equal(y, 0) | tf.math.is_inf(x) | tf.math.is_inf(y)
    return tf.where(beside, tf.floor(x / y), whole)


_QUOTIENTS = dict.fromkeys(_SINGLE, _quotient) | through(tf.float32, _quotient, *HALVES)


def floor_divide(x, y):
    """TensorFlow rounds before it takes the floor: 1 // 0.1 gives 10."""
    x, y = promote_operands(x, y)
    return _QUOTIENTS.get(x.dtype, two(_raw.FloorDiv))(x, y)


@tf.custom_gradient
def _rest(x, y):
    rest = _raw.TruncateMod(x=x, y=y)
    return rest, lambda gradient: (gradient, -gradient * tf.round((x - rest) / y))


def _fractional_rest(x, y):
    return _rest(*together(x, y))


_RESTS = (
    dict.fromkeys(_SINGLE, _fractional_rest)
    | through(tf.float32, _fractional_rest, *HALVES)
    | through(tf.int32, two(_raw.TruncateMod), *SMALL)
)


def fmod(x, y):
    """TensorFlow's ``truncatemod`` has no gradient, and no kernel for small dtypes."""
    x, y = promote_operands(x, y)
    return _RESTS.get(x.dtype, two(_raw.TruncateMod))(x, y)


def _same(x):
    return x


negative = one(of(_raw.Neg), through(tf.int32, tf.negative, tf.uint8))
abs = one(tf.abs, {tf.uint8: _same})
sign = one(of(_raw.Sign), through(tf.int32, tf.sign, tf.uint8))
square, reciprocal = one(of(_raw.Square)), floating(of(_raw.Reciprocal))


def clip(x, min=None, max=None):
    """Where ``min`` is above ``max`` TensorFlow's ``clip_by_value`` gives ``min``."""
    given = iter(promote_operands(*(v for v in (x, min, max) if v is not None)))
    x, low, high = (v if v is None else next(given) for v in (x, min, max))
    # the gradient of a kernel of two operands goes to the first of equal ones: to x, as for limits in PyTorch
    if all(v is None or v.shape.rank == 0 for v in (low, high)):
        x = x if low is None else _raw.Maximum(x=x, y=low)
        return x if high is None else _raw.Minimum(x=x, y=high)
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


@tf.function(autograph=False, reduce_retracing=True)
def _common_divisor(x, y):
    """Euclid's algorithm on all elements at once, as a graph: an eager loop would synchronize with the host."""

    def step(a, b):
        done = tf.equal(b, 0)
        return tf.where(done, a, b), tf.where(done, b, tf.math.floormod(a, tf.where(done, tf.ones_like(b), b)))

    return tf.while_loop(lambda a, b: tf.reduce_any(tf.not_equal(b, 0)), step, (x, y))[0]


def gcd(x, y):
    """Not in TensorFlow."""
    x, y = promote_operands(x, y)
    if x.dtype not in INTEGERS:
        raise TypeError("gcd wants integers")
    return tf.cast(_common_divisor(*(tf.abs(tf.cast(v, tf.int64)) for v in together(x, y))), x.dtype)


# -- rounding and floating-point numbers


def _truncate(x):
    return tf.where(x < 0, tf.math.ceil(x), tf.math.floor(x))


def _both_parts(x):
    return tf.complex(tf.round(tf.math.real(x)), tf.round(tf.math.imag(x)))


_KEPT = dict.fromkeys(INTEGERS, _same)
floor, ceil, trunc = one(of(_raw.Floor), _KEPT), one(of(_raw.Ceil), _KEPT), one(_truncate, _KEPT)
round = one(of(_raw.Round), _KEPT | dict.fromkeys(COMPLEX, _both_parts))


def signbit(x):
    """Not in TensorFlow."""
    return tf.bitcast(x, BITS[x.dtype]) < 0


def copysign(x, y):
    """Not in TensorFlow."""
    x, y = promote_operands(x, y)
    size = tf.abs(x)  # with the slope 0 at 0
    return tf.where(signbit(y), -size, size)


nextafter = pair(lambda x, y: _raw.NextAfter(x1=x, x2=y))


def nan_to_num(x, *, nan=0.0, posinf=None, neginf=None):
    """Not in TensorFlow."""
    given = (nan, x.dtype.max if posinf is None else posinf, x.dtype.min if neginf is None else neginf)
    nan, high, low = (number(v, x.dtype) for v in given)
    x = tf.where(tf.math.is_nan(x), nan, x)
    return tf.where(tf.math.is_inf(x), tf.where(x > 0, high, low), x)


# -- powers, exponentials and logarithms

sqrt, rsqrt = floating(of(_raw.Sqrt)), floating(of(_raw.Rsqrt))
exp, expm1 = floating(of(_raw.Exp)), floating(of(_raw.Expm1))
log, log1p = floating(of(_raw.Log)), floating(of(_raw.Log1p))


@floating
def exp2(x):
    """Not in TensorFlow."""
    if x.dtype.is_complex:
        raise TypeError("exp2 wants real numbers")
    return tf.pow(tf.constant(2, x.dtype), x)


def _logarithm(base):
    @floating
    def call(x):
        """TensorFlow has the natural logarithm only."""
        found = tf.math.log(x)
        if x.dtype.is_complex:  # by its parts: inf times a complex number would be NaN
            return tf.complex(*(part(found) / math.log(base) for part in (tf.math.real, tf.math.imag)))
        return found * tf.constant(1 / math.log(base), x.dtype)

    return call


log2, log10 = map(_logarithm, (2, 10))


def _own_gradient(function):
    """For functions of two real tensors that give their own gradient, for operands of one shape."""
    function = tf.custom_gradient(function)

    @functools.wraps(function)
    def call(x, y):
        x, y = together(*promote_operands(x, y))
        if x.dtype in INTEGERS:
            x, y = tf.cast(x, tf.float32), tf.cast(y, tf.float32)
        return function(x, y)

    return call


@_own_gradient
def logaddexp(x, y):
    """Not in TensorFlow."""
    gap = tf.where(tf.equal(x, y), tf.zeros_like(x), x - y)  # inf - inf would be NaN
    result = tf.maximum(x, y) + tf.math.log1p(tf.exp(-tf.abs(gap)))
    return result, lambda gradient: (gradient * tf.sigmoid(x - y), gradient * tf.sigmoid(y - x))


@_own_gradient
def hypot(x, y):
    """Not in TensorFlow."""
    large, small = tf.maximum(tf.abs(x), tf.abs(y)), tf.minimum(tf.abs(x), tf.abs(y))
    result = large * tf.sqrt(1 + tf.square(tf.math.divide_no_nan(small, large)))
    infinite = tf.logical_or(tf.math.is_inf(x), tf.math.is_inf(y))
    result = tf.where(infinite, tf.constant(math.inf, x.dtype), result)
    divide = tf.math.divide_no_nan
    return result, lambda gradient: (gradient * divide(x, result), gradient * divide(y, result))


# -- trigonometry

sin, cos, tan = floating(of(_raw.Sin)), floating(of(_raw.Cos)), floating(of(_raw.Tan))
asin, acos, atan = floating(of(_raw.Asin)), floating(of(_raw.Acos)), floating(of(_raw.Atan))
sinh, cosh, tanh = floating(of(_raw.Sinh)), floating(of(_raw.Cosh)), floating(of(_raw.Tanh))
asinh, acosh, atanh = floating(of(_raw.Asinh)), floating(of(_raw.Acosh)), floating(of(_raw.Atanh))


@_own_gradient
def atan2(y, x):
    """TensorFlow's gradient is NaN where both are 0."""
    size, divide = tf.square(x) + tf.square(y), tf.math.divide_no_nan
    return _raw.Atan2(y=y, x=x), lambda gradient: (gradient * divide(x, size), gradient * divide(-y, size))


# -- special functions


def _erf_of_doubles(x):
    """The kernel gives NaN beyond 1e150, and is constant long before.

    The gradient of a limit goes to its second operand where it is NaN.
    """
    low, high = tf.constant(-100, x.dtype), tf.constant(100, x.dtype)
    return _raw.Erf(x=_raw.Minimum(x=high, y=_raw.Maximum(x=low, y=x)))


erf, erfc = floating(of(_raw.Erf), {tf.float64: _erf_of_doubles}), floating(of(_raw.Erfc))
erfinv = floating(of(_raw.Erfinv), through(tf.float32, tf.math.erfinv, *HALVES))
i0 = floating(of(_raw.BesselI0), through(tf.float32, tf.math.special.bessel_i0, tf.bfloat16))
lgamma = floating(of(_raw.Lgamma), through(tf.float32, tf.math.lgamma, tf.bfloat16))


@functools.partial(floating, others=through(tf.float32, lambda x: digamma(x), tf.bfloat16))
def digamma(x):
    """TensorFlow gives NaN at 0, and a wrong slope of negative numbers in float32."""
    if x.dtype is tf.float32:
        return tf.cast(digamma(tf.cast(x, tf.float64)), tf.float32)
    ends = tf.where(signbit(x), tf.constant(math.inf, x.dtype), tf.constant(-math.inf, x.dtype))
    return tf.where(tf.equal(x, 0), ends, tf.math.digamma(x))
