"""Segmentation metrics."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.metric import Average, Metric, average_classes, metric, ratio
from labdl.train.metrics.outputs import classify_outputs, count_classes

__all__ = ["Dice", "MeanIoU", "PanopticQuality", "PixelAccuracy"]


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
    ignored = owner.ignored_target
    counted = np.ones(target.shape, bool) if ignored is None else target != ignored
    chosen, true, classes, _ = classify_outputs(name, output[counted], target[counted], owner.score_threshold)
    return tuple(count_classes(v, classes) for v in (chosen[chosen == true], chosen, true))


@metric
class PixelAccuracy(Metric):
    """Fraction of pixels that are classified correctly.

    Scores (N, ..., classes), or with the classes on another ``axis`` (1: channels first), or class numbers, or one score per
    pixel; masks (N, ...) of class numbers, in which ``ignore_index`` is ignored, by default that of the loss of the training.
    Pixels with a score of NaN are wrong.
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


def _segments(name: str, maps, ignored: int) -> np.ndarray:
    """Maps (N, pixels, 2) of class and segment numbers. Raises ModelError for other forms."""
    maps = np.asarray(maps)
    if maps.ndim < 3 or maps.shape[-1] != 2 or maps.dtype.kind not in "iu":
        raise ModelError(
            f"{name} wants integers (N, ..., 2), a class and a segment number for each pixel, received {maps.dtype} "
            f"{maps.shape}"
        )
    maps = maps.reshape(len(maps), math.prod(maps.shape[1:-1]), 2).astype("int64")
    classes = maps[..., 0]
    if (classes[classes != ignored] < 0).any():
        raise ModelError(f"{name} wants classes from 0, or {ignored} for pixels without one, received {classes.min()}")
    return maps


@metric
class PanopticQuality(Metric):
    """Panoptic quality (Kirillov et al., 2019): mean IoU of matched segments times their F1 score, mean over classes.

    Outputs and targets are integers (N, ..., 2): the class and the segment number of each pixel. Segments of a class match
    if their IoU is above 0.5. The pixels of a class in ``stuff`` are one segment, whatever their numbers. Pixels of the class
    ``ignore_index`` have no class: in the target they are left out, and so is a predicted segment that lies in them by more
    than half. ``quality`` is "panoptic" or one of its factors: "segmentation" (the mean IoU) or "recognition" (the F1 score).
    ``average="none"`` returns all classes, NaN for those that do not occur. Semantics: panopticapi, without crowds.
    """

    task = "segmentation"
    higher_is_better = True

    stuff: tuple[int, ...] = ()
    ignore_index: int = -1
    quality: Literal["panoptic", "segmentation", "recognition"] = "panoptic"
    average: Literal["macro", "none"] = "macro"

    def statistics(self, output, target):
        predicted, true = (_segments("PanopticQuality", side, self.ignore_index) for side in (output, target))
        if predicted.shape != true.shape:
            raise ModelError(
                f"PanopticQuality wants output and target of the same shape, received {predicted.shape} and {true.shape}"
            )
        classes = int(max(predicted[..., 0].max(initial=-1), true[..., 0].max(initial=-1))) + 1
        found = np.zeros((4, classes))
        for one, other in zip(predicted, true, strict=True):
            self._match(one, other, found)
        return tuple(found)

    def _match(self, predicted: np.ndarray, true: np.ndarray, found: np.ndarray) -> None:
        """Add the IoUs of matches, and the numbers of matches, predicted and true segments of an image, per class."""
        counted = true[:, 0] != self.ignore_index
        sides = []
        for side in (predicted, true):
            number = np.where(np.isin(side[:, 0], self.stuff), 0, side[:, 1])
            numbers, place = np.unique(number, return_inverse=True)
            kinds, at = np.unique(side[:, 0] * len(numbers) + place.reshape(-1), return_inverse=True)
            sides.append((kinds // max(len(numbers), 1), at.reshape(-1)))
        (own, own_at), (real, real_at) = sides
        shared = np.zeros((len(own), len(real)), "int64")
        np.add.at(shared, (own_at[counted], real_at[counted]), 1)
        own_size, real_size = np.bincount(own_at, minlength=len(own)), np.bincount(real_at, minlength=len(real))
        own_counted = shared.sum(1)
        union = own_counted[:, None] + real_size - shared
        alike = (own[:, None] == real) & (own != self.ignore_index)[:, None]
        ours, theirs = np.nonzero(alike & (2 * shared > union))
        kept = (own != self.ignore_index) & (2 * own_counted >= own_size)
        kept[ours] = True  # a match counts even where most of it has no class
        np.add.at(found[0], own[ours], shared[ours, theirs] / union[ours, theirs])
        np.add.at(found[1], own[ours], 1)
        np.add.at(found[2], own[kept], 1)
        np.add.at(found[3], real[real != self.ignore_index], 1)

    def value(self, overlap, matched, predicted, true):
        present = predicted + true > 0
        segmentation, recognition = ratio(overlap, matched), ratio(2 * matched, predicted + true)
        quality = {
            "segmentation": segmentation,
            "recognition": recognition,
            "panoptic": segmentation * recognition,
        }[self.quality]
        if self.average == "none":
            return np.where(present, quality, np.nan)
        return average_classes(quality, true, present, "macro")
