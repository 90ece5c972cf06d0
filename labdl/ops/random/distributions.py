"""Random operators whose parameters are tensors: categories, Poisson and gamma distributions.

The composites compute in float64 from uniform and normal numbers, so that portable ones are equal on every backend; many
candidates are drawn at once, and the first that rejection sampling accepts is taken.
"""

import math

import numpy as np

from labdl import dispatch
from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.shape import (
    astype,
    expand_dims,
    reshape,
    squeeze,
    take_along_axis,
    tile,
    zeros_like,
)
from labdl.ops.array.sorting import searchsorted, topk
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import clip, exp, floor, log, maximum, minimum, multiply, pow, sqrt
from labdl.ops.math.comparison import greater, greater_equal, less, less_equal, logical_and, logical_or, where
from labdl.ops.math.reduction import argmax, cumulative_sum, sum
from labdl.ops.math.special import lgamma
from labdl.ops.neural.gradient import stop_gradient
from labdl.ops.neural.linear import tensor_like
from labdl.ops.operator import Number, case, floats, operator
from labdl.ops.operator.readable import values_are_at_hand
from labdl.ops.random.like import random_normal_like, random_uniform_like

_SMALL = 10.0  # rates up to which the distribution function of Poisson's distribution is tabulated
_TABLE = 64  # of which more than this number is never drawn
_TINY = 1e-300
_NEVER = -1e6  # after all that is possible, and still in random order


@operator(
    rules.multinomial,
    case(floats(6, low=0.1), 4),
    case(floats(2, 5, low=0.1), 3),
    case(floats(2, 4, low=0.1), 7, replacement=True),
    case(floats(4, low=0.1), 7, replacement=True),
    differentiable=False,
    composite=True,
    random=True,
    checked=True,
    options={"num_samples": Number(1, integer=True)},
)
def multinomial(x, num_samples, replacement=False):
    """Positions drawn with the probabilities ``x`` (classes) or (N, classes): (num_samples) or (N, num_samples), int64.

    The rows are divided by their sums, which must be above 0. Without ``replacement`` each position is drawn at most
    once, one of probability 0 only after all others. Rows of zeros, or with NaN, infinities or negative numbers, are a
    ValueError on the CPU; in a compiled program and on other devices, which a check would wait for, their positions mean
    nothing. Semantics: torch.multinomial.
    """
    _check_weights(x)
    shares = astype(stop_gradient(x), "float64")
    if not replacement:
        gumbel = -log(maximum(-log(maximum(random_uniform_like(shares), _TINY)), _TINY))
        possible = greater(shares, 0)
        logarithms = where(possible, log(where(possible, shares, 1.0)), _NEVER)
        return topk(logarithms + gumbel, num_samples)[1]
    below = cumulative_sum(shares / sum(shares, axis=-1, keepdims=True), axis=-1)
    classes = spec_of(x).shape[-1]
    last = sum(less(below, below[..., -1:]), axis=-1, keepdims=True)  # rounding must not reach beyond the last one
    if spec_of(x).ndim == 1:
        drawn = random_uniform_like(tile(below[:1], (num_samples,)))
        return minimum(searchsorted(below, drawn, side="right"), last)
    drawn = random_uniform_like(tile(below[:, :1], (1, num_samples)))
    row = cumulative_sum(zeros_like(below[:, :1], dtype="int64") + 1, axis=0) - 1
    found = searchsorted(reshape(below + row, (-1,)), drawn + row, side="right") - multiply(row, classes)
    return minimum(found, last)


def _check_weights(x) -> None:
    owner = dispatch.owner(x)
    if not values_are_at_hand(owner):
        return
    weights = np.asarray(owner.to_numpy(x))
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any(-1).all():
        raise ValueError(
            "multinomial wants weights of at least 0 that are finite, in each row one above 0, received values from "
            f"{weights.min(initial=np.inf):g} to {weights.max(initial=-np.inf):g}"
        )


@operator(
    rules.elementwise,
    case(floats(3, 4, low=0.1, high=5.0)),
    case(floats(6, low=20.0, high=400.0)),
    differentiable=False,
    composite=True,
    random=True,
)
def poisson(x):
    """Random numbers of Poisson's distribution with the rates ``x``, in its shape and dtype; not differentiable.

    Semantics: torch.poisson. Composed of the tabulated distribution function up to a rate of 10, above of transformed rejection
    (Hörmann, 1993).
    """
    rate = astype(stop_gradient(x), "float64")
    drawn = where(less(rate, _SMALL), _tabulated_poisson(rate), _rejected_poisson(maximum(rate, _SMALL)))
    return astype(where(greater_equal(rate, 0), drawn, math.nan), spec_of(x).dtype)


def _candidates(x, count: int):
    """A new last axis of ``count`` elements."""
    return expand_dims(x, -1) + tensor_like(x, np.zeros(count))


def _first_accepted(values, accepted):
    return squeeze(take_along_axis(values, argmax(accepted, axis=-1, keepdims=True), axis=-1), -1)


def _tabulated_poisson(rate):
    rate = _candidates(clip(rate, _TINY, _SMALL), 1)
    k = tensor_like(rate, np.arange(_TABLE))
    logarithms = tensor_like(rate, np.array([math.lgamma(n + 1) for n in range(_TABLE)]))
    below = cumulative_sum(exp(k * log(rate) - rate - logarithms), axis=-1)
    return astype(sum(greater_equal(random_uniform_like(rate), below), axis=-1), "float64")


def _rejected_poisson(rate):
    rate = _candidates(rate, 24)
    b = 0.931 + 2.53 * sqrt(rate)
    a = 0.02483 * b - 0.059
    u, v = random_uniform_like(rate) - 0.5, maximum(random_uniform_like(rate), _TINY)
    edge = maximum(0.5 - absolute(u), _TINY)
    k = floor((2 * a / edge + b) * u + rate + 0.43)
    inside = logical_and(greater_equal(edge, 0.07), less_equal(v, 0.9277 - 3.6224 / (b - 2)))
    possible = logical_and(greater_equal(k, 0), logical_or(greater_equal(edge, 0.013), less_equal(v, edge)))
    left = log(v) + log(1.1239 + 1.1328 / (b - 3.4)) - log(a / (edge * edge) + b)
    right = k * log(rate) - rate - lgamma(maximum(k, 0.0) + 1)
    return _first_accepted(k, logical_or(inside, logical_and(possible, less_equal(left, right))))


@operator(
    rules.elementwise,
    case(floats(3, 4, low=0.1, high=5.0)),
    case(floats(6, low=0.01, high=1.0)),
    differentiable=False,
    composite=True,
    random=True,
)
def standard_gamma(x):
    """Random numbers of the gamma distribution with the concentrations ``x`` (above 0) and rate 1, in its shape and dtype.

    Divided by a rate they have that rate. PyTorch and TensorFlow differentiate the numbers with respect to the concentrations
    (implicit reparameterization: Figurnov et al., 2018); elsewhere, and in portable mode, they are constants. Composed
    as by Marsaglia and Tsang (2000). Semantics: numpy.random.standard_gamma.
    """
    concentration = astype(stop_gradient(x), "float64")
    small = less(concentration, 1)
    d = _candidates(where(small, concentration + 1, concentration) - 1 / 3, 8)
    normal, uniform = random_normal_like(d), maximum(random_uniform_like(d), _TINY)
    root = 1 + normal / (3 * sqrt(d))
    v = root * root * root
    height = 0.5 * normal * normal + d - d * v + d * log(maximum(v, _TINY))
    drawn = _first_accepted(d * v, logical_and(greater(v, 0), less(log(uniform), height)))
    boost = pow(maximum(random_uniform_like(concentration), _TINY), 1 / where(small, concentration, 1.0))
    drawn = where(small, drawn * boost, drawn)
    return astype(where(greater(concentration, 0), drawn, math.nan), spec_of(x).dtype)
