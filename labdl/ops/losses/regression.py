"""Losses of predicted values and distributions (PyTorch's semantics).

``reduction`` is "mean", "sum" or "none"; predictions and targets have the same shape unless a loss says otherwise.
"""

import math

from labdl.ops import rules
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import divide, exp, log, maximum, minimum, multiply, square
from labdl.ops.math.comparison import equal, greater, logical_and, where
from labdl.ops.math.reduction import mean
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.activation import softplus
from labdl.ops.operator import Choice, Number, case, floats, operator
from labdl.ops.precision.float32 import _narrow, _wide

_PAIR = (
    case(floats(4, 3), floats(4, 3)),
    case(floats(3), floats(3), reduction="sum"),
    case(floats(2, 3), floats(2, 1), reduction="none"),
)


def _reduce(losses, reduction):
    """The losses as they are, their sum or their mean."""
    return {"mean": mean, "sum": total, "none": lambda values: values}[reduction](losses)


@operator(rules.paired_loss, *_PAIR, composite=True, precision="float32")
def mean_squared_error(prediction, target, *, reduction="mean"):
    """Mean of the squared differences."""
    return _reduce(square(prediction - target), reduction)


@operator(rules.paired_loss, *_PAIR, composite=True, precision="float32")
def mean_absolute_error(prediction, target, *, reduction="mean"):
    """Mean of the absolute differences."""
    return _reduce(absolute(prediction - target), reduction)


def _huber(gap, delta):
    near = minimum(gap, delta)
    return 0.5 * square(near) + delta * (gap - near)


@operator(rules.paired_loss, *_PAIR, case(floats(4, 3), floats(4, 3), 0.5), composite=True, precision="float32")
def huber_loss(prediction, target, delta=1.0, *, reduction="mean"):
    """Quadratic for differences up to ``delta``, linear beyond (Huber, 1964)."""
    return _reduce(_huber(absolute(prediction - target), delta), reduction)


@operator(
    rules.paired_loss,
    *_PAIR,
    case(floats(4, 3), floats(4, 3), 0.5),
    case(floats(3), floats(3), 0.0),
    composite=True,
    precision="float32",
    options={"beta": Number(0)},
)
def smooth_l1_loss(prediction, target, beta=1.0, *, reduction="mean"):
    """Quadratic for differences below ``beta``, with slope 1 beyond: `huber_loss` divided by beta (Girshick, 2015)."""
    gap = absolute(prediction - target)
    return _reduce(_huber(gap, beta) * (1 / beta) if beta else gap, reduction)


@operator(rules.paired_loss, *_PAIR, composite=True, precision="float32")
def log_cosh_loss(prediction, target, *, reduction="mean"):
    """log(cosh(difference)): quadratic near 0, linear far from it, and smooth everywhere."""
    gap = absolute(prediction - target)
    return _reduce(gap + softplus(multiply(gap, -2.0)) - math.log(2), reduction)


@operator(
    rules.kl_divergence,
    case(floats(4, 3, low=-3, high=-0.5), floats(4, 3, low=0.1, high=1)),
    case(floats(4, 3, low=-3, high=-0.5), floats(4, 3, low=-3, high=-0.5), log_target=True, reduction="batchmean"),
    case(floats(2, 3, low=-3, high=-0.5), floats(2, 3, low=0.1, high=1), reduction="none"),
    composite=True,
    precision="float32",
    options={"reduction": Choice("mean", "sum", "none", "batchmean")},
)
def kl_divergence(log_probabilities, target, *, log_target=False, reduction="mean"):
    """target * (log(target) - log_probabilities): how far predicted probabilities, given as logarithms, are from the target.

    ``log_target=True``: the target is given as logarithms too. ``reduction="batchmean"`` divides the sum by the size of the
    first axis, as the mathematical definition asks for. Semantics: torch.nn.functional.kl_div.
    """
    if log_target:
        losses = multiply(exp(target), target - log_probabilities)
    else:
        positive = where(equal(target, 0), 1.0, target)  # 0 * log(0) counts as 0
        impossible = logical_and(equal(target, 0), equal(log_probabilities, -math.inf))
        losses = multiply(target, log(positive)) - multiply(target, where(impossible, 0.0, log_probabilities))
    if reduction == "batchmean":
        return total(mean(losses, axis=0))
    return _reduce(losses, reduction)


@operator(
    rules.paired_loss,
    case(floats(4, 3), floats(4, 3, low=0, high=5)),
    case(floats(4, 3, low=0.1), floats(4, 3, low=1.1, high=5), log_input=False, full=True, reduction="sum"),
    case(floats(3), floats(3, low=1.1, high=5), full=True, reduction="none"),
    composite=True,
    precision="float32",
)
def poisson_nll_loss(prediction, target, *, log_input=True, full=False, epsilon=1e-8, reduction="mean"):
    """Negative log-likelihood of counts under a Poisson distribution whose mean is predicted, or its logarithm.

    ``full`` adds Stirling's approximation of log(target!). Semantics: torch.nn.functional.poisson_nll_loss.
    """
    if log_input:
        losses = exp(prediction) - multiply(target, prediction)
    else:
        losses = prediction - multiply(target, log(prediction + epsilon))
    if full:
        large = where(greater(target, 1), target, 1.0)
        stirling = multiply(large, log(large)) - large + 0.5 * log(large * (2 * math.pi))
        losses = losses + where(greater(target, 1), stirling, 0.0)
    return _reduce(losses, reduction)


@operator(
    rules.paired_loss,
    case(floats(4, 3), floats(4, 3), floats(4, 3, low=0.2)),
    case(floats(4, 3), floats(4, 3), floats(4, 1, low=0.2), full=True, reduction="sum"),
    case(floats(3), floats(3), floats(3, low=0.2), reduction="none"),
    composite=True,
    precision="float32",
)
def gaussian_nll_loss(prediction, target, variance, *, full=False, epsilon=1e-6, reduction="mean"):
    """Negative log-likelihood under normal distributions of the predicted means and variances (Nix & Weigend, 1994).

    Variances are taken as at least ``epsilon``; ``full`` adds log(2 pi) / 2. Semantics: torch.nn.functional.gaussian_nll_loss.
    """
    spread = maximum(_wide(variance), epsilon)  # whose square would be 0 in half precision
    losses = 0.5 * (log(spread) + divide(square(_wide(prediction) - _wide(target)), spread))
    losses = losses + 0.5 * math.log(2 * math.pi) if full else losses
    return _narrow(_reduce(losses, reduction), prediction, target, variance)
