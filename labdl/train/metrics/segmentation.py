"""Segmentation metrics."""

from __future__ import annotations

import dataclasses

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.metric import Average, Metric, average_classes, metric, ratio
from labdl.train.metrics.outputs import classify_outputs

__all__ = ["Dice", "MeanIoU", "PixelAccuracy"]


def _pixels(owner, output, target) -> tuple[np.ndarray, ...]:
    """For each class: correct, predicted and true pixels; those with ``ignore_index`` are ignored."""
    name = type(owner).__name__
    output, target = np.asarray(output), np.asarray(target)
    if output.ndim == target.ndim + 1:
        output = np.moveaxis(output, owner.axis, -1)
    if output.shape not in (target.shape, (*target.shape, output.shape[-1])):
        raise ModelError(
            f"{name} wants class numbers {target.shape}, or scores with the classes on one axis more (axis="
            f"{owner.axis}; axis=1 is for channels first), received {output.shape}"
        )
    counted = np.ones(target.shape, bool) if owner.ignore_index is None else target != owner.ignore_index
    chosen, true, classes, _ = classify_outputs(name, output[counted], target[counted], owner.score_threshold)
    return tuple(np.bincount(v, minlength=classes) for v in (chosen[chosen == true], chosen, true))


@metric
class PixelAccuracy(Metric):
    """Fraction of pixels that are classified correctly.

    Scores (N, ..., classes), or with the classes on another ``axis`` (1: channels first), or class numbers, or one score per
    pixel; masks (N, ...) of class numbers, in which ``ignore_index`` is ignored.
    """

    task = "segmentation"
    higher_is_better = True

    axis: int = -1
    ignore_index: int | None = None
    threshold: float | None = None

    def statistics(self, output, target):
        return _pixels(self, output, target)

    def value(self, right, chosen, true):
        return float(ratio(right.sum(), true.sum()))


@dataclasses.dataclass
class _Overlap(Metric):
    """Base class of overlap metrics, which differ in the ratio."""

    task = "segmentation"
    higher_is_better = True

    average: Average = "macro"
    axis: int = -1
    ignore_index: int | None = None
    threshold: float | None = None

    def statistics(self, output, target):
        return _pixels(self, output, target)

    def value(self, right, chosen, true):
        if self.average == "micro":
            return float(self.share(right.sum(), chosen.sum(), true.sum()))
        return average_classes(self.share(right, chosen, true), true, (chosen > 0) | (true > 0), self.average)

    def share(self, right, chosen, true):
        """Compute the metric of each class from counts of pixels."""
        raise NotImplementedError(f"{type(self).__name__} has no share")


@metric
class MeanIoU(_Overlap):
    """Intersection over union of predicted and true pixels of a class, mean over classes that occur.

    Inputs as in PixelAccuracy; counts are summed over all images, as in the PASCAL VOC challenge (Everingham et al., 2015).
    """

    def share(self, right, chosen, true):
        return ratio(right, chosen + true - right)


@metric
class Dice(_Overlap):
    """Dice coefficient, the F1 score of pixels: 2 * overlap / sum of predicted and true pixels, mean over classes that occur.

    Inputs as in PixelAccuracy; counts are summed over all images (Dice, 1945).
    """

    def share(self, right, chosen, true):
        return ratio(2 * right, chosen + true)
