"""Key points within the picture, and without those outside of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.data.parts import KeyPoints
from labdl.data.transforms.image.sizes import Offset
from labdl.data.transforms.objects import keep_objects
from labdl.data.transforms.transform import Parameters, Transform, iterate_parts, transform
from labdl.errors import DataError


@transform
class ClampKeypoints(Transform):
    """Move key points outside of the picture to its border pixels. Source: torchvision.transforms.v2.ClampKeyPoints."""

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return {"canvas": canvas_of(self, part)}

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        height, width = params["canvas"]
        return np.clip(points, 0, np.array([width - 1, height - 1], points.dtype))


@transform
class SanitizeKeypoints(Transform):
    """Remove objects with fewer than ``min_points`` points in the picture; points outside become invisible.

    Of key points (objects, points, 2 or 3) objects go, with the rows of labels, boxes and masks in the same dictionary or
    tuple; of key points (points, 2 or 3) every point outside. A third number, the visibility, becomes 0 outside; points
    whose visibility is 0 do not count. Source: torchvision.transforms.v2.SanitizeKeyPoints, COCO.
    """

    min_points: Offset = 1

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        found = [part for part in iterate_parts(sample) if isinstance(part, KeyPoints)]
        for points in found:
            inside = self._inside(points)
            kept = inside if points.ndim == 2 else inside.sum(1) >= self.min_points
            if points.ndim == 2:
                sample = _replace(sample, points, points.like(points.array[kept]))
                continue
            if points.shape[-1] == 3:
                hidden = np.array(points.array)
                hidden[~inside, 2] = 0
                marked = points.like(hidden)
                sample = _replace(sample, points, marked)
                points = marked
            sample = keep_objects(sample, points, kept)
        return sample

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        return points[self._inside(KeyPoints(points, canvas_size=params["canvas"]))]

    def _inside(self, points: KeyPoints) -> np.ndarray:
        height, width = canvas_of(self, points)
        x, y = points.array[..., 0], points.array[..., 1]
        inside = (x > -0.5) & (y > -0.5) & (x < width - 0.5) & (y < height - 0.5)
        return inside & (points.array[..., 2] > 0) if points.shape[-1] == 3 else inside


def canvas_of(owner: Transform, points: Any) -> tuple[int, int]:
    """Height and width of the picture of key points. Raises DataError if they are unknown."""
    if points.canvas is None:
        raise DataError(
            f"{type(owner).__name__} wants the size of the picture that KeyPoints belong to: write "
            "KeyPoints(…, canvas_size=(height, width))"
        )
    return points.canvas


def _replace(sample: Any, old: Any, new: Any) -> Any:
    if isinstance(sample, dict):
        return {name: _replace(value, old, new) for name, value in sample.items()}
    if type(sample) in (tuple, list):
        return type(sample)(_replace(value, old, new) for value in sample)
    return new if sample is old else sample
