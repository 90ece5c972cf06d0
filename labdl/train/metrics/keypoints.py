"""Keypoint metrics, relative to the size of the object."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Gt, MinLen

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, metric

__all__ = ["PCK", "NormalizedMeanError", "ObjectKeypointSimilarity"]

Positive = Annotated[float, Gt(0)]
# annotation deviations of nose, eyes, ears, shoulders, elbows, wrists, hips, knees and ankles in the COCO challenge
COCO = (
    0.026,
    0.025,
    0.025,
    0.035,
    0.035,
    0.079,
    0.079,
    0.072,
    0.072,
    0.062,
    0.062,
    0.107,
    0.107,
    0.087,
    0.087,
    0.089,
    0.089,
)


Sigmas = Annotated[tuple[Positive, ...], MinLen(1)]


def _distances(name: str, output, target) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances (N, points), whether points are labeled, and the labeled points with NaN for the others."""
    output, target = np.asarray(output, "float64"), np.asarray(target, "float64")
    if (
        output.ndim != 3
        or output.shape[2] != 2
        or target.shape[:2] != output.shape[:2]
        or target.shape[2:] not in ((2,), (3,))
    ):
        raise ModelError(
            f"{name} wants keypoints (N, points, 2), and as targets (N, points, 2) or with a third number that is "
            f"0 for unlabeled points, received {output.shape} and {target.shape}"
        )
    seen = target[..., 2] > 0 if target.shape[2] == 3 else np.ones(target.shape[:2], bool)
    true = np.where(seen[..., None], target[..., :2], np.nan)
    return np.linalg.norm(output - target[..., :2], axis=-1), seen, true


def _sides(true: np.ndarray) -> np.ndarray:
    """Width and height of the bounding box of the labeled points (N, 2); 0 without points."""
    low = np.where(np.isnan(true), np.inf, true).min(1, initial=np.inf)
    high = np.where(np.isnan(true), -np.inf, true).max(1, initial=-np.inf)
    return np.where(high > low, high - low, 0.0)


def _relative(owner, output, target) -> tuple[np.ndarray, np.ndarray]:
    """Distances relative to the reference length of the sample, and whether they are valid."""
    name = type(owner).__name__
    distances, seen, true = _distances(name, output, target)
    if owner.pair is None:
        length = _sides(true).max(1)
    else:
        if max(owner.pair) >= true.shape[1] or min(owner.pair) < 0:
            raise ModelError(f"{name}(pair={owner.pair}) has a keypoint out of range: there are {true.shape[1]}")
        length = np.linalg.norm(true[:, owner.pair[0]] - true[:, owner.pair[1]], axis=-1)
    counted = seen & (length > 0)[:, None]
    return np.divide(distances, length[:, None], out=np.zeros_like(distances), where=counted), counted


@metric
class PCK(Metric):
    """Percentage of correct keypoints: those within ``threshold`` times a reference length (Yang & Ramanan, 2013).

    Keypoints (N, points, 2); targets (N, points, 2), or (N, points, 3) with 0 for unlabeled points. The reference is the
    longer side of the bounding box of the true keypoints, or the distance of a ``pair`` of them, such as hip and shoulder.
    """

    task = "keypoints"
    higher_is_better = True

    threshold: Positive = 0.2
    pair: tuple[int, int] | None = None

    def statistics(self, output, target):
        distances, counted = _relative(self, output, target)
        return np.count_nonzero((distances <= self.threshold) & counted), np.count_nonzero(counted)

    def value(self, right, n):
        return right / n if n else float("nan")


@metric
class NormalizedMeanError(Metric):
    """Mean distance from the true keypoints, relative to a reference length; inputs as in PCK.

    For facial landmarks ``pair`` are the outer eye corners (Sagonas et al., 2013).
    """

    task = "keypoints"
    higher_is_better = False

    pair: tuple[int, int] | None = None

    def statistics(self, output, target):
        distances, counted = _relative(self, output, target)
        return distances[counted].sum(), np.count_nonzero(counted)

    def value(self, total, n):
        return float(total / n) if n else float("nan")


@metric
class ObjectKeypointSimilarity(Metric):
    """COCO's OKS: mean of exp(-distance² / (2 area (2 sigma)²)) over the labeled keypoints of a sample, then over samples.

    Inputs as in PCK; the area is that of the bounding box of the true keypoints. ``sigmas`` are the annotation deviations of
    the keypoints; the default is COCO's for the 17 keypoints of a person.
    """

    task = "keypoints"
    higher_is_better = True

    sigmas: Sigmas = COCO

    def statistics(self, output, target):
        distances, seen, true = _distances("ObjectKeypointSimilarity", output, target)
        if distances.shape[1] != len(self.sigmas):
            raise ModelError(
                f"ObjectKeypointSimilarity has {len(self.sigmas)} sigmas, received {distances.shape[1]} "
                "keypoints: give it one sigma for each"
            )
        area = _sides(true).prod(1)
        counted = seen & (area > 0)[:, None]
        spread = 2 * np.maximum(area, np.finfo("float64").tiny)[:, None] * (2 * np.array(self.sigmas)) ** 2
        near = np.where(counted, np.exp(-(distances**2) / spread), 0.0).sum(1)
        some = counted.any(1)
        return (near[some] / counted[some].sum(1)).sum(), np.count_nonzero(some)

    def value(self, total, n):
        return float(total / n) if n else float("nan")
