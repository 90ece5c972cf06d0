"""Losses whose samples are weighted while training: by their class, by a weight of their own, or by both."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from labdl import ops
from labdl.errors import ConfigError
from labdl.nn.initializers import from_values
from labdl.nn.loss.classification import counted_weight
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer


class WeightedLoss(Module):
    """A loss whose samples are weighted while training; validation computes the loss itself.

    ``weights`` are those of the classes. With ``by_sample`` the target of a training is a pair of the target and the weights
    (N,) of its samples. The mean divides by the number of what counts, not by the sum of the weights. Semantics: class_weight
    and sample_weight of keras.Model.fit.
    """

    def __init__(self, loss: Any, weights: Sequence[float] | None = None, *, by_sample: bool = False):
        self.unweighted, self.each = loss, copy.deepcopy(loss)
        self.each.reduction = "none"
        self.weights, self.by_sample, self.reduction = weights and tuple(weights), by_sample, loss.reduction
        self.layer_task = loss.layer_task
        self.by_number = self.layer_task == "classification"
        self.ignore_index = getattr(loss, "ignore_index", None)

    def setup(self, output, target):
        self.weight = None if self.weights is None else Buffer((len(self.weights),), from_values(self.weights))
        self.unweighted.prepare(output, target)
        self.each.prepare(output, target)

    def forward(self, output, target):
        if not self.training:
            return self.unweighted(output, target)
        target, of_samples = target if type(target) is tuple else (target, None)  # none when shapes are inferred
        losses = self.each(output, target)
        if self.weights is not None:
            losses = losses * self._of_classes(output, target)
        if of_samples is not None:
            if not losses.shape:
                raise ConfigError(
                    f"sample_weight wants a loss of each sample, {type(self.unweighted).__name__} has none"
                )
            losses = losses * ops.reshape(of_samples, (-1, *[1] * (len(losses.shape) - 1)))
        if self.reduction == "sum":
            return ops.sum(losses)
        if not self._ignores(output, target):
            return ops.mean(losses)
        counted = ops.sum(ops.astype(ops.not_equal(target, self.ignore_index), "float32"))
        return ops.sum(losses) / ops.maximum(counted, 1.0)

    def _ignores(self, output, target) -> bool:
        """Whether targets may be ignored: class numbers, of a loss that has a number for it."""
        return self.ignore_index is not None and len(target.shape) < len(output.shape)

    def _of_classes(self, output, target):
        if not self.by_number:
            assert self.weights is not None
            below, above = self.weights
            return ops.where(target >= 0.5, above, below)
        if len(target.shape) == len(output.shape):
            return ops.take(self.weight, ops.argmax(target, axis=-1), axis=0)
        if self._ignores(output, target):
            target = ops.where(ops.not_equal(target, self.ignore_index), target, ops.zeros_like(target))
        return ops.take(self.weight, target, axis=0)

    def normalizer(self, target: Any, axes: int) -> float:
        """The divisor of the mean, for targets of an output of ``axes`` axes."""
        target = target[0] if type(target) is tuple else target
        if self.training and self.by_number:
            return counted_weight(target, axes, self.ignore_index)
        own = None if self.training else getattr(self.unweighted, "normalizer", None)
        return float(len(target)) if own is None else own(target, axes)


def plain_loss(loss: Any) -> Any:
    """The loss without weights."""
    return loss.unweighted if isinstance(loss, WeightedLoss) else loss


def weighs_samples(loss: Any) -> bool:
    """True if the targets of a training are pairs with the weights of the samples."""
    return isinstance(loss, WeightedLoss) and loss.by_sample


def targets_of(loss: Any, y: Any) -> Any:
    """The targets of a batch without the weights of its samples."""
    return y[0] if type(y) is tuple and weighs_samples(loss) else y
