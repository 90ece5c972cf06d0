"""Special functions: error function, gamma function, entropy (PyTorch's names and semantics)."""

import math

import numpy as np

from labdl.ops import rules
from labdl.ops.math.arithmetic import (
    _fractions,
    clip,
    equal,
    isinf,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_or,
    where,
)
from labdl.ops.math.trigonometry import sin
from labdl.ops.operator import FLOATS, REALS, REALS_AND_BOOL, case, floats, operator

_ANY = (case(floats(2, 3)), case(floats(4, low=-30, high=30)))
_GAMMA = (case(floats(2, 3, low=0.1)), case(floats(3, low=-1.9, high=-1.1)), case(floats(4, low=2, high=60)))


def _each(function, x):
    """A function of one Python number, applied to each element."""
    return np.vectorize(function, otypes=["float64"])(x)


@operator(rules.floating, *_ANY, takes=REALS_AND_BOOL, precision="float32", onnx="Erf")
def erf(x, /):
    """The error function, 2 / sqrt(pi) times the integral of exp(-t²) from 0 to x."""
    return _each(math.erf, x)


@operator(rules.floating, case(floats(2, 3)), case(floats(4, low=2, high=8)), takes=REALS_AND_BOOL, precision="float32")
def erfc(x, /):
    """1 - erf(x), accurate for large x."""
    return _each(math.erfc, x)


@operator(
    rules.floating,
    case(floats(2, 3, low=-0.9, high=0.9)),
    case(floats(4, low=0.9, high=0.99)),
    takes=REALS_AND_BOOL,
    precision="float32",
    without_onnx="no such function",
)
def erfinv(x, /):
    """The inverse of `erf`: infinite at -1 and 1, NaN beyond."""
    y = _fractions(x).astype("float64")
    size = np.minimum(np.abs(y), 1.0)
    # Winitzki's approximation, then Newton's method: on erfc near 1, where erf loses all digits
    a = 0.147
    logs = np.log1p(-size * size)
    half = 2 / (math.pi * a) + logs / 2
    root = np.sqrt(np.maximum(np.sqrt(half * half - logs / a) - half, 0))
    for _ in range(4):
        short = np.where(size < 0.5, size - _each(math.erf, root), _each(math.erfc, root) - (1 - size))
        root = root + short * math.sqrt(math.pi) / 2 * np.exp(root * root)
    root = np.where(size == 1, np.inf, root)
    return np.where(np.abs(y) <= 1, np.copysign(root, y), np.nan)


def _lgamma(value: float) -> float:
    if value > 2.5e305 or (value <= 0 and value % 1 == 0):
        return math.inf
    return math.lgamma(value)


@operator(rules.floating, *_GAMMA, takes=REALS_AND_BOOL, precision="float32", without_onnx="no such function")
def lgamma(x, /):
    """Logarithm of the absolute value of the gamma function: infinite at 0, -1, -2, ..."""
    return _each(_lgamma, x)


def _digamma(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, -float(value))
    if value < 0:
        fraction = value - math.floor(value) if value > -math.inf else 0
        return math.nan if fraction == 0 else _digamma(1 - value) - math.pi / math.tan(math.pi * fraction)
    shift = 0.0
    while value < 10:  # the recurrence, until the asymptotic series is accurate
        shift, value = shift - 1 / value, value + 1
    square = 1 / value / value
    series = sum(
        c * square**k for k, c in enumerate((-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12), 1)
    )
    return shift + math.log(value) - 0.5 / value + series


@operator(rules.floating, *_GAMMA, takes=REALS_AND_BOOL, precision="float32", without_onnx="no such function")
def digamma(x, /):
    """Derivative of `lgamma`: -infinity at 0, NaN at -1, -2, ..."""
    return _each(_digamma, x)


@operator(
    rules.floating,
    case(floats(2, 3)),
    case(floats(4, low=-8, high=8)),
    takes=REALS_AND_BOOL,
    precision="float32",
    without_onnx="no such function",
)
def i0(x, /):
    """Modified Bessel function of the first kind and order 0, as in the Kaiser window. Semantics: torch.special.i0."""
    return np.i0(_fractions(x).astype("float64"))


@operator(None, case(floats(2, 3)), case(floats(2, 3, low=0.1)), takes=REALS, precision="float32")
def sinc(x, /):
    """sin(pi x) / (pi x), and 1 at 0. Semantics: torch.sinc."""
    at_zero = equal(x, 0)
    angle = where(at_zero, 1.0, x * math.pi)  # both branches are finite, and so are their gradients
    return where(at_zero, 1.0, sin(angle) / angle)


@operator(
    None,
    case(floats(2, 3, low=0.1, high=0.9)),
    case(floats(4, low=0.01, high=0.99), eps=0.1),
    precision="float32",
    checked=True,
)
def logit(x, /, eps=None):
    """log(x / (1 - x)), the inverse of `sigmoid`; ``eps`` limits x to the range from eps to 1 - eps first.

    Semantics: torch.logit.
    """
    x = x if eps is None else clip(x, eps, 1 - eps)
    return log(x) - log1p(-x)


@operator(
    None,
    case(floats(2, 3), floats(2, 3, low=0.1)),
    case(floats(2, 1), floats(3, low=0.1)),
    takes=FLOATS,
    precision="float32",
)
def xlogy(x, y, /):
    """x * log(y), and 0 where x is 0 whatever log(y) is; NaN where y is. Semantics: torch.xlogy."""
    vanishes = logical_and(equal(x, 0), logical_or(less_equal(y, 0), isinf(y)))
    return where(vanishes, 0.0, x * log(where(vanishes, 1.0, y)))
