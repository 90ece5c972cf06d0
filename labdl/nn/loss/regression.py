"""Regression losses of values and distributions."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Lt

from labdl import ops
from labdl.nn.loss.classification import Reduction, check_same_rank, reduce_losses
from labdl.nn.loss.target_values import COUNTS, TargetValues
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import floats

_EACH = {"reduction": "none"}
_PAIR = (floats(4, 3), floats(4, 3))


@layer(_EACH, *_PAIR, task="regression")
class MeanSquaredErrorLoss(Module):
    """Mean of the squared differences; output and target have the same shape. Semantics: torch.nn.MSELoss."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.mean_squared_error(output, target, reduction=self.reduction)


@layer(_EACH, *_PAIR, task="regression")
class MeanAbsoluteErrorLoss(Module):
    """Mean of the absolute differences; output and target have the same shape. Semantics: torch.nn.L1Loss."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.mean_absolute_error(output, target, reduction=self.reduction)


@layer(_EACH, *_PAIR, task="regression")
class HuberLoss(Module):
    """Huber loss: quadratic for differences up to delta, linear beyond. Semantics: torch.nn.HuberLoss."""

    delta: Positive = 1.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.huber_loss(output, target, self.delta, reduction=self.reduction)


@layer(_EACH, *_PAIR, task="regression")
class SmoothL1Loss(Module):
    """Quadratic for differences below beta, with slope 1 beyond (Girshick, 2015). Semantics: torch.nn.SmoothL1Loss."""

    beta: Annotated[float, Ge(0)] = 1.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.smooth_l1_loss(output, target, self.beta, reduction=self.reduction)


@layer(_EACH, *_PAIR, task="regression")
class LogCoshLoss(Module):
    """log(cosh(difference)): quadratic near 0, linear far from it, smooth everywhere. Semantics: keras.losses.LogCosh."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.log_cosh_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_PAIR, task="regression")
class QuantileLoss(Module):
    """Pinball loss, minimized by a quantile of the target (Koenker & Bassett, 1978).

    max(quantile * gap, (quantile - 1) * gap) with gap = target - output; 0.5 is half the absolute error.
    Semantics: sklearn.metrics.mean_pinball_loss.
    """

    quantile: Annotated[float, Gt(0), Lt(1)] = 0.5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        check_same_rank("QuantileLoss", output, target)
        gap = target - output
        return reduce_losses(ops.maximum(gap * self.quantile, gap * (self.quantile - 1)), self.reduction)


@layer(_EACH, floats(4, 3, low=0.1), floats(4, 3, low=0.1), task="regression")
class MeanSquaredLogarithmicErrorLoss(Module):
    """Mean of (log(1 + output) - log(1 + target))², for targets that span several orders of magnitude.

    Negative values are taken as 0. Semantics: keras.losses.MeanSquaredLogarithmicError.
    """

    reduction: Reduction = "mean"

    def forward(self, output, target):
        logs = [ops.log1p(ops.relu(v)) for v in (output, target)]
        return ops.mean_squared_error(*logs, reduction=self.reduction)


@layer(_EACH, floats(4, 3, low=-3, high=-0.5), floats(4, 3, low=0.1, high=1), task="regression")
class KLDivergenceLoss(Module):
    """Kullback-Leibler divergence of predicted log-probabilities from target probabilities, element by element.

    ``log_target``: the target is given as logarithms too. ``reduction="batchmean"`` divides the sum by the size of the
    batch, as in the mathematical definition. Semantics: torch.nn.KLDivLoss.
    """

    log_target: bool = False
    reduction: Literal["mean", "batchmean", "sum", "none"] = "mean"

    def forward(self, output, target):
        return ops.kl_divergence(output, target, log_target=self.log_target, reduction=self.reduction)


@layer(_EACH, floats(4, 3), floats(4, 3, low=0, high=5), task="regression")
class PoissonNLLLoss(Module):
    """Negative log-likelihood of counts under Poisson distributions; the output is the mean or its logarithm.

    ``full`` adds Stirling's approximation of log(target!). Semantics: torch.nn.PoissonNLLLoss.
    """

    target_values: ClassVar[TargetValues] = COUNTS

    log_input: bool = True
    full: bool = False
    epsilon: Positive = 1e-8
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.poisson_nll_loss(
            output, target, log_input=self.log_input, full=self.full, epsilon=self.epsilon, reduction=self.reduction
        )


@layer(_EACH, *_PAIR, floats(4, 3, low=0.2), task="regression")
class GaussianNLLLoss(Module):
    """Negative log-likelihood under normal distributions of predicted means and variances (Nix & Weigend, 1994).

    Output, target and variance have the same shape, or broadcast; variances are taken as at least ``epsilon``; ``full`` adds
    log(2 pi) / 2. Semantics: torch.nn.GaussianNLLLoss.
    """

    full: bool = False
    epsilon: Positive = 1e-6
    reduction: Reduction = "mean"

    def forward(self, output, target, variance):
        return ops.gaussian_nll_loss(
            output, target, variance, full=self.full, epsilon=self.epsilon, reduction=self.reduction
        )
