"""Mu-law companding of sound (ITU-T G.711, without its piecewise approximation)."""

import math

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.shape import astype
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import add, divide, expm1, log1p, multiply, sign, subtract
from labdl.ops.operator import case, floats, operator
from labdl.spec import REALS


def _widen(x):
    """Half precision has too few digits for 256 steps."""
    return x if spec_of(x).dtype == "float64" else astype(x, "float32")


@operator(
    rules.mu_law_encoding,
    case(floats(2, 7, low=-1.0, high=1.0)),
    case(floats(9, low=-1.0, high=1.0), 16),
    differentiable=False,
    composite=True,
    checked=True,
)
def mu_law_encoding(x, channels=256):
    """A signal from -1 to 1 as integers from 0 to channels - 1 in logarithmic steps (van den Oord et al., 2016).

    Semantics: torchaudio.functional.mu_law_encoding.
    """
    x, mu = _widen(x), channels - 1
    compressed = multiply(sign(x), divide(log1p(multiply(absolute(x), mu)), math.log1p(mu)))
    return astype(add(multiply(add(compressed, 1.0), mu / 2), 0.5), "int64")


@operator(
    rules.mu_law_decoding,
    case(floats(2, 7, low=0.0, high=100.0)),
    case(floats(9, low=0.0, high=15.0), 16),
    takes=REALS,
    composite=True,
    checked=True,
)
def mu_law_decoding(x, channels=256):
    """The signal from -1 to 1 of integers from 0 to channels - 1, the inverse of `mu_law_encoding` up to its steps.

    Semantics: torchaudio.functional.mu_law_decoding.
    """
    dtype, mu = rules.mu_law_decoding(spec_of(x), channels).dtype, channels - 1
    compressed = subtract(multiply(divide(_widen(x), mu), 2.0), 1.0)
    size = divide(expm1(multiply(absolute(compressed), math.log1p(mu))), mu)
    return astype(multiply(sign(compressed), size), dtype)
