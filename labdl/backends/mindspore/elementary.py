"""MindSpore's spelling of roots, exponentials, logarithms, trigonometry and special functions."""


from mindspore import ops

from labdl.backends.mindspore.kinds import (
    EXACT,
    FRACTIONS,
    FRACTIONS_AND_COMPLEX,
    HALF,
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
    """For kernels that are right in float64 only."""
    return through(kernel, ("float64", *own), EXACT)


exp, sqrt, rsqrt = map(_function, (ops.exp, ops.sqrt, ops.rsqrt))
log, log2, log10, reciprocal = map(_function, (ops.log, ops.log2, ops.log10, ops.reciprocal))
sin, cos, tan, sinh, cosh = map(_function, (ops.sin, ops.cos, ops.tan, ops.sinh, ops.cosh))
asin, acos, atan = map(_function, (ops.asin, ops.acos, ops.atan))
asinh, acosh, atanh = map(_function, (ops.asinh, ops.acosh, ops.atanh))
expm1, log1p, tanh = map(_exact, (ops.expm1, ops.log1p, ops.tanh))
exp2 = _of_reals(lambda x: ops.pow(2.0, x))
erf, erfc, erfinv = map(_of_reals, (ops.erf, ops.erfc, ops.erfinv))
lgamma, digamma = map(_of_reals, (ops.lgamma, ops.digamma))
sigmoid = _function(ops.sigmoid)
atan2 = pair(ops.atan2, FRACTIONS, INTO_FRACTIONS)
hypot = pair(ops.hypot, FRACTIONS[1:], {"float16": ("float32", "float16"), **HALF}, numbers=False)
logaddexp = pair(ops.logaddexp, FRACTIONS, INTO_FRACTIONS, numbers=False)
