"""Object detection metrics of the COCO challenge (Lin et al., 2014)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Le, MinLen

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, extend_statistics, metric

__all__ = ["BoxRecall", "MeanAveragePrecision"]

Thresholds = Annotated[tuple[Annotated[float, Gt(0), Le(1)], ...], MinLen(1)]
COCO = tuple(round(0.5 + 0.05 * i, 2) for i in range(10))
_RECALLS = np.linspace(0, 1, 101)


def overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of boxes (N, D, 4) with boxes (N, G, 4) of the same image: (N, D, G)."""
    first, second = boxes[:, :, None], others[:, None]
    sides = np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2])
    shared = np.clip(sides, 0, None).prod(-1)
    areas = [np.clip(b[..., 2:] - b[..., :2], 0, None).prod(-1) for b in (first, second)]
    union = areas[0] + areas[1] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def _match_boxes(owner, output, target) -> tuple[list, list, list, list]:
    """Match detections to objects: scores and classes, matched thresholds of each detection, and classes of objects."""
    name = type(owner).__name__
    output, target = np.asarray(output, "float64"), np.asarray(target, "float64")
    if (
        output.ndim != 3
        or target.ndim != 3
        or output.shape[2] != 6
        or target.shape[2] != 5
        or len(output) != len(target)
    ):
        raise ModelError(
            f"{name} wants detections (N, boxes, 6) as x1, y1, x2, y2, score, class and objects (N, boxes, 5) "
            f"as x1, y1, x2, y2, class, received {output.shape} and {target.shape}"
        )
    order = np.argsort(-np.where(output[..., 5] < 0, -np.inf, output[..., 4]), axis=1, kind="stable")
    output = np.take_along_axis(output, order[..., None], 1)
    classes, objects = output[..., 5], target[..., 4]
    real = classes >= 0
    alike = (classes[:, :, None] == classes[:, None]) & real[:, None]
    kept = real & (np.tril(alike).sum(-1) <= owner.max_detections)  # the highest scores of each class in each image
    same = (classes[:, :, None] == objects[:, None]) & (objects >= 0)[:, None] & kept[:, :, None]
    shares = np.where(same, overlaps(output[..., :4], target[..., :4]), -1.0)
    levels = np.minimum(np.array(owner.iou_thresholds), 1 - 1e-10)
    images, found = np.arange(len(output)), np.zeros((*classes.shape, len(levels)), bool)
    free = np.ones((len(output), len(levels), target.shape[1]), bool)
    for place in range(classes.shape[1] if target.shape[1] else 0):  # by descending score, each object is matched once
        offered = np.where(free, shares[:, place, None], -1.0)
        best = offered.argmax(-1)
        hit = np.take_along_axis(offered, best[..., None], -1)[..., 0] >= levels
        found[:, place] = hit
        at, level = np.nonzero(hit)
        free[images[at], level, best[at, level]] = False
    return [output[..., 4][kept]], [classes[kept]], [found[kept]], [objects[objects >= 0]]


def _concatenate(*parts: list) -> list[np.ndarray]:
    return [np.concatenate(p) for p in parts]


@metric
class MeanAveragePrecision(Metric):
    """COCO's AP: mean over classes and IoU thresholds of the precision at 101 recalls.

    Detections (N, boxes, 6) are x1, y1, x2, y2, score, class; objects (N, boxes, 5) are x1, y1, x2, y2, class; padded
    with rows of class -1. ``iou_thresholds`` are 0.5 to 0.95 as in COCO, ``(0.5,)`` gives AP50 as in PASCAL VOC. The best
    ``max_detections`` of each class are used in each image. Semantics: pycocotools, for objects of all sizes and no crowds.
    """

    task = "detection"
    higher_is_better = True

    join = staticmethod(extend_statistics)
    costly: ClassVar[bool] = True
    iou_thresholds: Thresholds = COCO
    max_detections: Annotated[int, Ge(1)] = 100

    def statistics(self, output, target):
        return _match_boxes(self, output, target)

    def value(self, *parts):
        scores, classes, found, objects = _concatenate(*parts)
        order = np.argsort(-scores, kind="stable")
        classes, found = classes[order], found[order]
        kinds, wanted = np.unique(objects, return_counts=True)
        if not kinds.size:
            return float("nan")
        return float(np.mean([_precisions(found[classes == k], n) for k, n in zip(kinds, wanted, strict=True)]))


def _precisions(found: np.ndarray, wanted: int) -> np.ndarray:
    """Mean interpolated precision over recalls, for the sorted detections of one class."""
    if not len(found):
        return np.zeros(found.shape[1])
    hits = np.cumsum(found, axis=0)
    precision = hits / np.arange(1, len(found) + 1)[:, None]
    best = np.maximum.accumulate(precision[::-1], axis=0)[::-1]
    best = np.vstack([best, np.zeros(best.shape[1])])  # for recalls that are not reached
    places = (hits[:, :, None] / wanted < _RECALLS).sum(0)
    return np.take_along_axis(best, places.T, axis=0).mean(0)


@metric
class BoxRecall(Metric):
    """COCO's AR: fraction of detected objects, mean over classes and IoU thresholds.

    Detections, objects and settings as in MeanAveragePrecision; scores only select the best ``max_detections``.
    """

    task = "detection"
    higher_is_better = True

    join = staticmethod(extend_statistics)
    costly: ClassVar[bool] = True
    iou_thresholds: Thresholds = COCO
    max_detections: Annotated[int, Ge(1)] = 100

    def statistics(self, output, target):
        return _match_boxes(self, output, target)

    def value(self, *parts):
        _, classes, found, objects = _concatenate(*parts)
        kinds, wanted = np.unique(objects, return_counts=True)
        if not kinds.size:
            return float("nan")
        return float(np.mean([found[classes == k].sum(0) / n for k, n in zip(kinds, wanted, strict=True)]))
