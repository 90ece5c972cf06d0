"""MindSpore implementations of roots, exponentials, logarithms, trigonometry and special functions."""

import math

import mindspore
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P
from mindspore.ops.auto_generate import TanhGrad

from labdl.backends.mindspore.arithmetic import maximum
from labdl.backends.mindspore.dtypes import (
    EXACT,
    FRACTIONS,
    FRACTIONS_AND_COMPLEX,
    HALF,
    INTEGERS_INTO_FRACTIONS,
    INTO_FRACTIONS,
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
log, log2, log10, reciprocal = map(_function, (ops.log, ops.log2, ops.log10, ops.reciprocal))
sin, cos, tan, sinh, cosh = map(_function, (ops.sin, ops.cos, ops.tan, ops.sinh, ops.cosh))
asin, acos, atan = map(_function, (ops.asin, ops.acos, ops.atan))
asinh, acosh, atanh = map(_function, (ops.asinh, ops.acosh, ops.atanh))
expm1, log1p = map(_exact, (ops.expm1, ops.log1p))


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
erf, erfc, erfinv = map(_of_reals, (ops.erf, ops.erfc, ops.erfinv))
lgamma, i0 = map(_of_reals, (ops.lgamma, ops.bessel_i0))
sigmoid = _function(ops.sigmoid)
atan2 = pair(ops.atan2, FRACTIONS, INTEGERS_INTO_FRACTIONS)
hypot = pair(ops.hypot, FRACTIONS[1:], {"float16": ("float32", "float16"), **HALF}, numbers=False)


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
    if x.dtype is not mindspore.float64:
        return ops.digamma(x)
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
