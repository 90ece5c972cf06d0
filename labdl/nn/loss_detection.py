"""Losses of masks and boxes: segmentation and detection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from labdl import ops
from labdl.nn.loss import Reduction, alike, reduced
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import Sample, floats
from labdl.spec import show

_EACH = {"reduction": "none"}
_MASKS = (floats(2, 3, 4, low=0.1, high=0.9), floats(2, 3, 4, low=0.1, high=0.9))


def _corners(values: np.ndarray) -> np.ndarray:
    """Random numbers as boxes that have a size."""
    return np.concatenate([values[..., :2], values[..., :2] + np.abs(values[..., 2:]) + 0.5], -1)


def _boxes(*shape: int) -> Sample:
    return floats(*shape, made=_corners)


@layer(_EACH, *_MASKS, category="loss")
class DiceLoss(Module):
    """1 less twice the overlap of predicted and true masks over the sum of both, for each sample (Milletari et al., 2016).

    Probabilities (N, ...) and targets between 0 and 1 of the same shape; ``epsilon`` keeps empty masks finite.
    """

    epsilon: Positive = 1e-5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.dice_loss(output, target, epsilon=self.epsilon, reduction=self.reduction)


@layer({**_EACH, "alpha": 0.3, "beta": 0.7}, *_MASKS, category="loss")
class TverskyLoss(Module):
    """Dice loss with a weight of its own for what is found wrongly and what is missed (Salehi et al., 2017).

    1 - overlap / (overlap + alpha * false positives + beta * false negatives) for each sample; probabilities (N, ...) and
    targets of the same shape. 0.5 and 0.5 is the Dice loss, 1 and 1 the Jaccard loss; ``gamma`` above 1 makes it the focal
    Tversky loss, (...) ** (1 / gamma) (Abraham & Khan, 2019).
    """

    alpha: Annotated[float, Ge(0)] = 0.5
    beta: Annotated[float, Ge(0)] = 0.5
    gamma: Positive = 1.0
    epsilon: Positive = 1e-5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        losses = _tversky("TverskyLoss", output, target, self.alpha, self.beta, self.epsilon)
        return reduced(losses if self.gamma == 1 else ops.pow(losses, 1 / self.gamma), self.reduction)


@layer(_EACH, *_MASKS, category="loss")
class JaccardLoss(Module):
    """1 less the overlap of predicted and true masks over their union, for each sample (Rahman & Wang, 2016).

    Probabilities (N, ...) and targets between 0 and 1 of the same shape; ``epsilon`` keeps empty masks finite.
    """

    epsilon: Positive = 1e-5
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return reduced(_tversky("JaccardLoss", output, target, 1.0, 1.0, self.epsilon), self.reduction)


def _tversky(name: str, output, target, alpha: float, beta: float, epsilon: float):
    alike(name, output, target)
    axes = tuple(range(1, len(output.shape)))
    if not axes:
        raise ValueError(f"{name} wants masks (N, ...), received {show(output.shape)}")
    overlap, found, wanted = (ops.sum(v, axis=axes) for v in (output * target, output, target))
    whole = overlap + alpha * (found - overlap) + beta * (wanted - overlap)
    return 1 - (overlap + epsilon) / (whole + epsilon)


@dataclass(eq=False, repr=False)
class _BoxLoss(Module):
    """What losses of pairs of boxes share: they differ in the operator."""

    reduction: Reduction = "mean"

    operator: ClassVar[Callable]

    def forward(self, output, target):
        return type(self).operator(output, target, reduction=self.reduction)


@layer(_EACH, _boxes(4, 4), _boxes(4, 4), category="loss")
class GIoULoss(_BoxLoss):
    """1 less the generalized IoU of each box (..., 4) as corners and the one at its place (Rezatofighi et al., 2019).

    Semantics: torchvision.ops.generalized_box_iou_loss, with the mean as the default.
    """

    operator = ops.generalized_box_iou_loss


@layer(_EACH, _boxes(4, 4), _boxes(4, 4), category="loss")
class DIoULoss(_BoxLoss):
    """1 less the distance IoU of each box (..., 4) as corners and the one at its place (Zheng et al., 2020).

    Semantics: torchvision.ops.distance_box_iou_loss, with the mean as the default.
    """

    operator = ops.distance_box_iou_loss


@layer(_EACH, _boxes(4, 4), _boxes(4, 4), category="loss")
class CIoULoss(_BoxLoss):
    """1 less the complete IoU of each box (..., 4) as corners and the one at its place (Zheng et al., 2020).

    Semantics: torchvision.ops.complete_box_iou_loss, with the mean as the default.
    """

    operator = ops.complete_box_iou_loss
