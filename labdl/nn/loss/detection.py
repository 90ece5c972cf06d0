"""Segmentation and detection losses: masks and boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from labdl import ops
from labdl.nn.loss.classification import Reduction, check_same_rank, reduce_losses
from labdl.nn.loss.target_values import PROBABILITIES, TargetValues
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import Sample, floats
from labdl.spec import show

_EACH = {"reduction": "none"}
_MASKS = (floats(2, 3, 4, low=0.1, high=0.9), floats(2, 3, 4, low=0.1, high=0.9))


def _corners(values: np.ndarray) -> np.ndarray:
    """Convert random numbers to boxes with positive sizes."""
    return np.concatenate([values[..., :2], values[..., :2] + np.abs(values[..., 2:]) + 0.5], -1)


def _boxes(*shape: int) -> Sample:
    return floats(*shape, transform=_corners)


@layer(_EACH, *_MASKS, task="segmentation")
class DiceLoss(Module):
    """Dice loss of each sample: 1 - 2 * overlap / sum of predicted and target mask (Milletari et al., 2016).

    Probabilities (N, ...) and targets between 0 and 1 of the same shape; ``epsilon`` keeps empty masks finite.
    """

    target_values: ClassVar[TargetValues] = PROBABILITIES

    epsilon: Positive = 1e-5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.dice_loss(output, target, epsilon=self.epsilon, reduction=self.reduction)


@layer({**_EACH, "alpha": 0.3, "beta": 0.7}, *_MASKS, task="segmentation")
class TverskyLoss(Module):
    """Tversky loss: Dice loss with separate weights for false positives and false negatives (Salehi et al., 2017).

    1 - overlap / (overlap + alpha * false positives + beta * false negatives) for each sample; probabilities (N, ...) and
    targets of the same shape. 0.5 and 0.5 is the Dice loss, 1 and 1 the Jaccard loss; ``gamma`` above 1 makes it the focal
    Tversky loss, (...) ** (1 / gamma) (Abraham & Khan, 2019).
    """

    target_values: ClassVar[TargetValues] = PROBABILITIES

    alpha: Annotated[float, Ge(0)] = 0.5
    beta: Annotated[float, Ge(0)] = 0.5
    gamma: Positive = 1.0
    epsilon: Positive = 1e-5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        losses = _tversky("TverskyLoss", output, target, self.alpha, self.beta, self.epsilon)
        return reduce_losses(losses if self.gamma == 1 else ops.pow(losses, 1 / self.gamma), self.reduction)


@layer(_EACH, *_MASKS, task="segmentation")
class JaccardLoss(Module):
    """Jaccard loss of each sample: 1 - overlap / union of predicted and target mask (Rahman & Wang, 2016).

    Probabilities (N, ...) and targets between 0 and 1 of the same shape; ``epsilon`` keeps empty masks finite.
    """

    target_values: ClassVar[TargetValues] = PROBABILITIES

    epsilon: Positive = 1e-5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return reduce_losses(_tversky("JaccardLoss", output, target, 1.0, 1.0, self.epsilon), self.reduction)


def _tversky(name: str, output, target, alpha: float, beta: float, epsilon: float):
    check_same_rank(name, output, target)
    axes = tuple(range(1, len(output.shape)))
    if not axes:
        raise ValueError(f"{name} wants masks (N, ...), received {show(output.shape)}")
    overlap, found, wanted = (ops.sum(v, axis=axes) for v in (output * target, output, target))
    whole = overlap + alpha * (found - overlap) + beta * (wanted - overlap)
    return 1 - (overlap + epsilon) / (whole + epsilon)


@dataclass(eq=False, repr=False)
class _BoxLoss(Module):
    """Base class of losses of pairs of boxes, which differ in the operator."""

    reduction: Reduction = "mean"

    operator: ClassVar[Callable]

    def forward(self, output, target):
        return type(self).operator(output, target, reduction=self.reduction)


@layer(_EACH, _boxes(4, 4), _boxes(4, 4), task="detection")
class GIoULoss(_BoxLoss):
    """1 - generalized IoU of predicted and target boxes (..., 4) as corners (Rezatofighi et al., 2019).

    Semantics: torchvision.ops.generalized_box_iou_loss, with the mean as the default.
    """

    operator = ops.generalized_box_iou_loss


@layer(_EACH, _boxes(4, 4), _boxes(4, 4), task="detection")
class DIoULoss(_BoxLoss):
    """1 - distance IoU of predicted and target boxes (..., 4) as corners (Zheng et al., 2020).

    Semantics: torchvision.ops.distance_box_iou_loss, with the mean as the default.
    """

    operator = ops.distance_box_iou_loss


@layer(_EACH, _boxes(4, 4), _boxes(4, 4), task="detection")
class CIoULoss(_BoxLoss):
    """1 - complete IoU of predicted and target boxes (..., 4) as corners (Zheng et al., 2020).

    Semantics: torchvision.ops.complete_box_iou_loss, with the mean as the default.
    """

    operator = ops.complete_box_iou_loss
