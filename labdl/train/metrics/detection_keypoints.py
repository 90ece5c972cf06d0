"""Similarity of the keypoints of detections and objects, by which the COCO challenge matches them (Lin et al., 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.errors import ModelError

_SMALLEST = np.spacing(1)  # added to areas, as in pycocotools


def keypoint_similarities(
    name: str, points: Any, true: Any, boxes: np.ndarray, areas: np.ndarray, sigmas: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Object keypoint similarities (N, D, G), the areas around the points of detections (N, D), and which objects have points.

    ``points`` (N, D, K, 2), or with a third number that does not count, ``true`` (N, G, K, 3), where 0 is an unlabeled point;
    ``boxes`` (N, G, 4) and ``areas`` (N, G) are those of the objects. Of an object without labeled points the distance is that
    from its box, doubled in size. Raises ModelError for inputs of other forms.
    """
    points, true = np.asarray(points, "float64"), np.asarray(true, "float64")
    count, objects = boxes.shape[:2]
    if (
        points.ndim != 4
        or points.shape[3] not in (2, 3)
        or true.shape != (count, objects, points.shape[2], 3)
        or len(points) != count
        or points.shape[2] != len(sigmas)
    ):
        raise ModelError(
            f"{name}(keypoints=True) wants keypoints (N, boxes, points, 2) of detections and (N, boxes, points, 3) of objects, "
            f"with a sigma for each of the points, of which there are {len(sigmas)}, received {points.shape} and {true.shape}"
        )
    visible = true[..., 2] > 0
    labeled = visible.any(-1)
    variance = (2 * np.asarray(sigmas, "float64")) ** 2
    similarities = np.zeros((count, points.shape[1], objects))
    for g in range(objects):
        inside = points[..., :2] - true[:, None, g, :, :2]
        size = boxes[:, g, 2:] - boxes[:, g, :2]
        low, high = boxes[:, g, :2] - size, boxes[:, g, 2:] + size
        outside = np.maximum(low[:, None, None] - points[..., :2], 0) + np.maximum(
            points[..., :2] - high[:, None, None], 0
        )
        apart = np.where(labeled[:, g, None, None, None], inside, outside)
        error = (apart**2).sum(-1) / variance / (areas[:, g, None, None] + _SMALLEST) / 2
        counted = np.where(labeled[:, g, None], visible[:, g], True)[:, None]
        similarities[..., g] = (np.exp(-error) * counted).sum(-1) / counted.sum(-1)
    sides = points[..., :2].max(2, initial=-np.inf) - points[..., :2].min(2, initial=np.inf)
    return similarities, sides.prod(-1), labeled
