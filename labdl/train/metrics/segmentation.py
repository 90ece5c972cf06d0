"""How well masks cover what they should."""

from __future__ import annotations

import dataclasses

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.decisions import decided
from labdl.train.metrics.metric import Average, Metric, averaged, metric, ratio


def _pixels(asked, output, target) -> tuple[np.ndarray, ...]:
    """For each class: pixels given to it rightly, given to it, and of it; what has ``ignore_index`` does not count."""
    name = type(asked).__name__
    output, target = np.asarray(output), np.asarray(target)
    if output.ndim == target.ndim + 1:
        output = np.moveaxis(output, asked.axis, -1)
    if output.shape not in (target.shape, (*target.shape, output.shape[-1])):
        raise ModelError(f"{name} wants class numbers {target.shape}, or scores with the classes on one axis more (axis="
                         f"{asked.axis}; axis=1 is for channels first), received {output.shape}")  # fmt: skip
    counted = np.ones(target.shape, bool) if asked.ignore_index is None else target != asked.ignore_index
    chosen, true, classes, _ = decided(name, output[counted], target[counted], asked.threshold)
    return tuple(np.bincount(v, minlength=classes) for v in (chosen[chosen == true], chosen, true))


@metric
class PixelAccuracy(Metric):
    """Share of pixels whose class is right.

    Scores (N, ..., classes), or with the classes on another ``axis`` (1: channels first), or class numbers, or one score a
    pixel; masks (N, ...) of class numbers, in which ``ignore_index`` does not count.
    """

    higher_is_better = True

    axis: int = -1
    ignore_index: int | None = None
    threshold: float = 0.0

    def statistics(self, output, target):
        return _pixels(self, output, target)

    def value(self, right, chosen, true):
        return float(ratio(right.sum(), true.sum()))


@dataclasses.dataclass
class _Overlap(Metric):
    """What overlaps of pixels share: they differ in the ratio that they take."""

    higher_is_better = True

    average: Average = "macro"
    axis: int = -1
    ignore_index: int | None = None
    threshold: float = 0.0

    def statistics(self, output, target):
        return _pixels(self, output, target)

    def value(self, right, chosen, true):
        if self.average == "micro":
            return float(self.share(right.sum(), chosen.sum(), true.sum()))
        return averaged(self.share(right, chosen, true), true, (chosen > 0) | (true > 0), self.average)

    def share(self, right, chosen, true):
        """The number for each class, from counts of pixels."""
        raise NotImplementedError(f"{type(self).__name__} has no share")


@metric
class MeanIoU(_Overlap):
    """Overlap of predicted and true pixels of a class over their union, the mean over classes that occur.

    Inputs as in PixelAccuracy; counts go over all images, as in the PASCAL VOC challenge (Everingham et al., 2015).
    """

    def share(self, right, chosen, true):
        return ratio(right, chosen + true - right)


@metric
class Dice(_Overlap):
    """Twice the overlap of predicted and true pixels of a class over the sum of both, the mean over classes that occur.

    Inputs as in PixelAccuracy; counts go over all images (Dice, 1945). It is the F1 of pixels.
    """

    def share(self, right, chosen, true):
        return ratio(2 * right, chosen + true)
