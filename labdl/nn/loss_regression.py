"""Losses of predicted numbers and distributions."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt

from labdl import ops
from labdl.nn.loss import Reduction, alike, reduced
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import floats

_EACH = {"reduction": "none"}
_PAIR = (floats(4, 3), floats(4, 3))


@layer(_EACH, *_PAIR, category="loss")
class MeanSquaredErrorLoss(Module):
    """Mean of the squared differences; output and target have the same shape. Semantics: torch.nn.MSELoss."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.mean_squared_error(output, target, reduction=self.reduction)


@layer(_EACH, *_PAIR, category="loss")
class MeanAbsoluteErrorLoss(Module):
    """Mean of the absolute differences; output and target have the same shape. Semantics: torch.nn.L1Loss."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.mean_absolute_error(output, target, reduction=self.reduction)


@layer(_EACH, *_PAIR, category="loss")
class HuberLoss(Module):
    """Quadratic for differences up to delta, linear beyond: outliers count less. Semantics: torch.nn.HuberLoss."""

    delta: Positive = 1.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.huber_loss(output, target, self.delta, reduction=self.reduction)


@layer(_EACH, *_PAIR, category="loss")
class SmoothL1Loss(Module):
    """Quadratic for differences below beta, with slope 1 beyond (Girshick, 2015). Semantics: torch.nn.SmoothL1Loss."""

    beta: Annotated[float, Ge(0)] = 1.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.smooth_l1_loss(output, target, self.beta, reduction=self.reduction)


@layer(_EACH, *_PAIR, category="loss")
class LogCoshLoss(Module):
    """log(cosh(difference)): quadratic near 0, linear far from it, smooth everywhere. Semantics: keras.losses.LogCosh."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.log_cosh_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_PAIR, category="loss")
class QuantileLoss(Module):
    """Pinball loss: its best output is a quantile of the target (Koenker & Bassett, 1978).

    max(quantile * gap, (quantile - 1) * gap) with gap = target - output; 0.5 is half the absolute error.
    Semantics: sklearn.metrics.mean_pinball_loss.
    """

    quantile: Annotated[float, Gt(0), Lt(1)] = 0.5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        alike("QuantileLoss", output, target)
        gap = target - output
        return reduced(ops.maximum(gap * self.quantile, gap * (self.quantile - 1)), self.reduction)


@layer(_EACH, floats(4, 3, low=0.1), floats(4, 3, low=0.1), category="loss")
class MeanSquaredLogarithmicErrorLoss(Module):
    """Mean of (log(1 + output) - log(1 + target))², for sizes and counts that grow without bound.

    What is below 0 counts as 0. Semantics: keras.losses.MeanSquaredLogarithmicError.
    """

    reduction: Reduction = "mean"

    def forward(self, output, target):
        logs = [ops.log1p(ops.relu(v)) for v in (output, target)]
        return ops.mean_squared_error(*logs, reduction=self.reduction)


@layer(_EACH, floats(4, 3, low=-3, high=-0.5), floats(4, 3, low=0.1, high=1), category="loss")
class KLDivergenceLoss(Module):
    """Kullback-Leibler divergence of predicted log-probabilities from target probabilities, element by element.

    ``log_target``: the target is given as logarithms too. ``reduction="batchmean"`` divides the sum by the size of the
    batch, as the mathematical definition asks for. Semantics: torch.nn.KLDivLoss.
    """

    log_target: bool = False
    reduction: Literal["mean", "batchmean", "sum", "none"] = "mean"

    def forward(self, output, target):
        return ops.kl_divergence(output, target, log_target=self.log_target, reduction=self.reduction)


@layer(_EACH, floats(4, 3), floats(4, 3, low=0, high=5), category="loss")
class PoissonNLLLoss(Module):
    """Negative log-likelihood of counts under Poisson distributions whose mean, or its logarithm, is predicted.

    ``full`` adds Stirling's approximation of log(target!). Semantics: torch.nn.PoissonNLLLoss.
    """

    log_input: bool = True
    full: bool = False
    epsilon: Positive = 1e-8
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.poisson_nll_loss(output, target, log_input=self.log_input, full=self.full, epsilon=self.epsilon,
                                    reduction=self.reduction)  # fmt: skip


@layer(_EACH, *_PAIR, floats(4, 3, low=0.2), category="loss")
class GaussianNLLLoss(Module):
    """Negative log-likelihood under normal distributions of predicted means and variances (Nix & Weigend, 1994).

    Output, target and variance have the same shape, or broadcast; variances are taken as at least ``epsilon``; ``full`` adds
    log(2 pi) / 2. Semantics: torch.nn.GaussianNLLLoss.
    """

    full: bool = False
    epsilon: Positive = 1e-6
    reduction: Reduction = "mean"

    def forward(self, output, target, variance):
        return ops.gaussian_nll_loss(output, target, variance, full=self.full, epsilon=self.epsilon,
                                     reduction=self.reduction)  # fmt: skip
