"""Object detection metrics of the COCO challenge (Lin et al., 2014)."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, MinLen

from labdl.errors import ModelError
from labdl.train.metrics.detection_matching import Matches, match_detections
from labdl.train.metrics.keypoints import COCO as KEYPOINT_SIGMAS
from labdl.train.metrics.keypoints import Sigmas
from labdl.train.metrics.metric import Metric, extend_statistics, metric

__all__ = ["BoxRecall", "MeanAveragePrecision"]

Thresholds = Annotated[tuple[Annotated[float, Gt(0), Le(1)], ...], MinLen(1)]
COCO = tuple(round(0.5 + 0.05 * i, 2) for i in range(10))
AREAS = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
_RECALLS = np.linspace(0, 1, 101)


@dataclasses.dataclass
class _Detection(Metric):
    """Base class of metrics of detections that are matched with objects."""

    task = "detection"
    higher_is_better = True

    join = staticmethod(extend_statistics)
    costly: ClassVar[bool] = True
    iou_thresholds: Thresholds = COCO
    max_detections: Annotated[int, Ge(1)] = 100
    masks: bool = False
    keypoints: bool = False
    sigmas: Sigmas = KEYPOINT_SIGMAS
    area: Literal["all", "small", "medium", "large"] = "all"

    def statistics(self, output, target):
        if self.masks and self.keypoints:
            raise ModelError(f"{type(self).__name__} compares masks or keypoints, not both")
        matches = match_detections(
            type(self).__name__,
            output,
            target,
            thresholds=self.iou_thresholds,
            limit=self.max_detections,
            masks=self.masks,
            sigmas=self.sigmas if self.keypoints else None,
            area=AREAS[self.area],
        )
        return tuple([part] for part in matches)

    def value(self, *parts):
        matches = Matches(*(np.concatenate(part) for part in parts))
        order = np.argsort(-matches.scores, kind="stable")
        classes, found, ignored = matches.classes[order], matches.found[order], matches.ignored[order]
        kinds, wanted = np.unique(matches.objects, return_counts=True)
        if not kinds.size:
            return float("nan")
        of_each = [
            self.of_class(found[classes == k], ignored[classes == k], n) for k, n in zip(kinds, wanted, strict=True)
        ]
        return float(np.mean(of_each))

    def of_class(self, found: np.ndarray, ignored: np.ndarray, wanted: int) -> np.ndarray:
        """The values of a class at each threshold, from its detections (D, thresholds) by falling score."""
        raise NotImplementedError(f"{type(self).__name__} has no of_class")


@metric
class MeanAveragePrecision(_Detection):
    """COCO's AP: mean over classes and IoU thresholds of the precision at 101 recalls.

    Detections (N, boxes, 6) are x1, y1, x2, y2, score, class; objects (N, boxes, 5) are x1, y1, x2, y2, class, padded
    with rows of class -1. A sixth number of objects is 1 for a crowd (iscrowd): detections in it count neither as found nor
    as wrong. A seventh is the area by which objects are small (up to 32²), medium (up to 96²) or large for ``area``; without
    it the area is that of the box or mask.
    ``masks=True`` compares masks: outputs and targets are then dictionaries of such ``boxes`` and of ``masks``
    (N, boxes, height, width), or a list of one array (boxes, height, width) for each picture. ``keypoints=True`` compares
    ``keypoints`` by their similarity with the ``sigmas`` of `ObjectKeypointSimilarity`: (N, boxes, points, 2) of detections,
    (N, boxes, points, 3) of objects with 0 for unlabeled points; objects without labeled ones are ignored as crowds are.
    ``iou_thresholds`` are 0.5 to 0.95 as in COCO, ``(0.5,)`` gives AP50 as in PASCAL VOC. The best ``max_detections`` of
    each class are used in each image. NaN without objects. Semantics: pycocotools, whose ``iouType="segm"`` is ``masks``, and
    "keypoints" ``keypoints`` with ``max_detections=20``.

    Example: ``MeanAveragePrecision(masks=True, area="small")({"boxes": boxes, "masks": masks}, target)``.
    """

    def of_class(self, found, ignored, wanted):
        if not len(found):
            return np.zeros(found.shape[1])
        hits, seen = np.cumsum(found & ~ignored, axis=0), np.cumsum(~ignored, axis=0)
        precision = hits / np.maximum(seen, 1)
        best = np.maximum.accumulate(precision[::-1], axis=0)[::-1]
        best = np.vstack([best, np.zeros(best.shape[1])])  # for recalls that are not reached
        places = (hits[:, :, None] / wanted < _RECALLS).sum(0)
        return np.take_along_axis(best, places.T, axis=0).mean(0)


@metric
class BoxRecall(_Detection):
    """COCO's AR: fraction of detected objects, mean over classes and IoU thresholds.

    Detections, objects and settings as in MeanAveragePrecision; scores only select the best ``max_detections``.
    """

    def of_class(self, found, ignored, wanted):
        return (found & ~ignored).sum(0) / wanted
