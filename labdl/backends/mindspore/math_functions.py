"""MindSpore implementations of roots, exponentials, logarithms, trigonometry and special functions."""

import math

import mindspore
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P
from mindspore.ops.auto_generate import TanhGrad

from labdl.backends.mindspore.arithmetic import _conjugate, _of_one_shape, _product, _quotient, maximum
from labdl.backends.mindspore.dtypes import (
    EXACT,
    FRACTIONS,
    FRACTIONS_AND_COMPLEX,
    HALF,
    INTEGERS_INTO_FRACTIONS,
    INTO_FRACTIONS,
    is_complex,
    pair,
    through,
)
from labdl.spec import COMPLEX


def _function(kernel):
    return through(kernel, FRACTIONS_AND_COMPLEX, INTO_FRACTIONS)


def _of_reals(kernel):
    return through(kernel, FRACTIONS, INTO_FRACTIONS)


def _exact(kernel, own=COMPLEX):
    """For kernels that are accurate in float64 only."""
    return through(kernel, ("float64", *own), EXACT)


exp, sqrt, rsqrt = map(_function, (ops.exp, ops.sqrt, ops.rsqrt))
log, reciprocal = map(_function, (ops.log, ops.reciprocal))
sin, cos, sinh, cosh = map(_function, (ops.sin, ops.cos, ops.sinh, ops.cosh))
asin, acos, atan = map(_function, (ops.asin, ops.acos, ops.atan))
asinh, acosh = map(_function, (ops.asinh, ops.acosh))


class _Log2(nn.Cell):
    """The kernel's gradient of complex numbers is wrong."""

    def construct(self, x):
        return ops.log2(x)

    def bprop(self, x, result, gradient):
        return (_quotient(gradient, _product(_conjugate(x), ops.full_like(x, math.log(2)))),)


class _Log10(nn.Cell):
    """The kernel's gradient of complex numbers is wrong."""

    def construct(self, x):
        return ops.log10(x)

    def bprop(self, x, result, gradient):
        return (_quotient(gradient, _product(_conjugate(x), ops.full_like(x, math.log(10)))),)


class _Tan(nn.Cell):
    """The kernel has no gradient of complex numbers."""

    def construct(self, x):
        return ops.tan(x)

    def bprop(self, x, result, gradient):
        return (_product(gradient, _conjugate(ops.add(ops.ones_like(x), _product(result, result)))),)


class _Atanh(nn.Cell):
    """The kernel has no gradient of complex numbers."""

    def construct(self, x):
        return ops.atanh(x)

    def bprop(self, x, result, gradient):
        return (_quotient(gradient, _conjugate(ops.sub(ops.ones_like(x), _product(x, x)))),)


def _by_kind(kernel, of_complex):
    def call(x):
        return of_complex(x) if is_complex(x) else kernel(x)

    return _function(call)


log2, log10 = _by_kind(ops.log2, _Log2()), _by_kind(ops.log10, _Log10())
tan, atanh = _by_kind(ops.tan, _Tan()), _by_kind(ops.atanh, _Atanh())


class _Expm1(nn.Cell):
    """The float64 kernel subtracts 1 from the exponential: half of the digits are lost near 0, and the sign of 0."""

    def construct(self, x):
        half = x * 0.5
        return ops.where(ops.less(ops.abs(x), 1.0), 2.0 * ops.sinh(half) * ops.exp(half), ops.expm1(x))

    def bprop(self, x, result, gradient):
        return (gradient * ops.exp(x),)


class _Log1p(nn.Cell):
    """The float64 kernel adds 1 to the number: half of the digits are lost near 0, and the sign of 0."""

    def construct(self, x):
        return ops.where(ops.less(ops.abs(x), 0.5), 2.0 * ops.atanh(x / (x + 2.0)), ops.log1p(x))

    def bprop(self, x, result, gradient):
        return (gradient / (x + 1.0),)


def _near_zero(accurate, kernel):
    return _exact(lambda x: kernel(x) if is_complex(x) else accurate(x))


expm1, log1p = _near_zero(_Expm1(), ops.expm1), _near_zero(_Log1p(), ops.log1p)


class _Tanh(nn.Cell):
    """By the formula for the double angle: the float32 kernel is wrong in the fourth digit from 4 on, where its slope is 0."""

    def construct(self, x):
        half = ops.tanh(_times(x, 0.5))
        return _times(ops.div(half, _plus(_times(half, half), 1.0)), 2.0)

    def bprop(self, x, result, gradient):
        return (_tanh_gradient(result, gradient),)


_times, _plus, _tanh_gradient, _tanh32 = P.Mul(), P.Add(), TanhGrad(), _Tanh()


def tanh(x):
    """MindSpore's float32 kernel is wrong in the fourth digit from 4 on."""
    return _tanh32(x) if x.dtype is mindspore.float32 else _other_tanh(x)


_other_tanh = _function(ops.tanh)
exp2 = _of_reals(lambda x: ops.pow(2.0, x))
erf, erfc = map(_of_reals, (ops.erf, ops.erfc))


class _ErfInv(nn.Cell):
    """From Winitzki's approximation (2008, two digits) by Newton's method, beyond 1/2 on the logarithm of erfc."""

    def construct(self, x):
        size = ops.abs(x)
        inside = ops.less(size, 1.0)
        size = ops.where(inside, size, _nothing)
        rest, logarithm, high = 1.0 - size, ops.log((1.0 - size) * (1.0 + size)), ops.greater(size, 0.5)
        middle = 2.0 / (math.pi * 0.147) + 0.5 * logarithm
        y = ops.sqrt(ops.maximum(ops.sqrt(middle * middle - logarithm * (1.0 / 0.147)) - middle, _nothing))
        for _ in range(3):
            beyond = ops.erfc(y)
            error = ops.where(high, beyond * ops.log(rest / beyond), ops.erf(y) - size)
            y = y - error * _inverse_slope(y)
        y = ops.where(inside, y, ops.where(ops.equal(ops.abs(x), 1.0), _infinite, _undefined))
        return ops.where(ops.equal(x, 0.0), x, ops.where(ops.less(x, 0.0), ops.neg(y), y))

    def bprop(self, x, result, gradient):
        return (gradient * _inverse_slope(result),)


_nothing, _infinite, _undefined = (Tensor(v, mindspore.float64) for v in (0.0, math.inf, math.nan))


def _inverse_slope(y):
    return ops.exp(y * y) * (math.sqrt(math.pi) / 2)


erfinv = _exact(_ErfInv(), ())
i0 = _of_reals(ops.bessel_i0)
sigmoid = _function(ops.sigmoid)


class _Atan2(nn.Cell):
    """The kernel's gradient is NaN where both are 0."""

    def construct(self, y, x):
        return ops.atan2(y, x)

    def bprop(self, y, x, result, gradient):
        size = ops.square(x) + ops.square(y)
        size = ops.where(ops.equal(size, 0.0), ops.ones_like(size), size)
        return gradient * (x / size), gradient * (ops.neg(y) / size)


atan2 = pair(_of_one_shape(_Atan2()), FRACTIONS, INTEGERS_INTO_FRACTIONS)


class _Hypot(nn.Cell):
    """The kernel's gradient squares its operands: of large numbers it is NaN."""

    def construct(self, x, y):
        return ops.hypot(x, y)

    def bprop(self, x, y, result, gradient):
        length = ops.where(ops.equal(result, 0.0), ops.ones_like(result), result)
        return gradient * (x / length), gradient * (y / length)


hypot = pair(_of_one_shape(_Hypot()), FRACTIONS[1:], {"float16": ("float32", "float16"), **HALF}, numbers=False)


def _log_of_sum(x, y):
    """MindSpore's gives NaN for infinities, which are equal here."""
    same = ops.equal(x, y)
    apart = ops.where(same, ops.zeros_like(x), ops.abs(x - y))
    return maximum(x, y) + log1p(ops.exp(ops.neg(apart)))


logaddexp = pair(_log_of_sum, FRACTIONS, INTEGERS_INTO_FRACTIONS, numbers=False)


def _digamma(x):
    """In float64 the kernel has six digits only: uses the recurrence and the asymptotic series."""
    if not x.size:
        return x.copy()
    infinite = ops.equal(x, math.inf)
    finite = ops.where(infinite, ops.ones_like(x), x)  # at infinity the slopes below are NaN
    found = _digamma_series(finite) if x.dtype is mindspore.float64 else ops.digamma(finite)
    return ops.where(infinite, ops.log(x), found)


def _digamma_series(x):
    pi = Tensor(math.pi, mindspore.float64)
    mirrored = ops.less(x, 0)
    value, shift = ops.where(mirrored, 1 - x, x), ops.zeros_like(x)
    for _ in range(10):
        shift, value = shift - 1 / value, value + 1
    square, series = 1 / (value * value), ops.zeros_like(x)
    for term in reversed(_SERIES):
        series = square * (series + Tensor(term, mindspore.float64))
    result = shift + ops.log(value) - 0.5 / value + series
    whole = ops.equal(x, ops.floor(x))
    angle = ops.where(ops.logical_or(whole, ops.logical_not(mirrored)), ops.full_like(x, 0.5), x - ops.floor(x))
    result = ops.where(mirrored, result - pi / ops.tan(pi * angle), result)
    return ops.where(ops.logical_and(whole, mirrored), ops.full_like(x, math.nan), result)


_SERIES = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)
digamma = _of_reals(_digamma)


class _LogGamma(nn.Cell):
    """The kernel's gradient in float64 has three digits only."""

    def construct(self, x):
        return ops.lgamma(x)

    def bprop(self, x, result, gradient):
        return (gradient * _digamma(x),)


lgamma = _of_reals(_LogGamma())
