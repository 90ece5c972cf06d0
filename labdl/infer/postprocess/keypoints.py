"""Post-processor of keypoint detectors."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.base import PostProcessor, postprocessor, single_array
from labdl.infer.postprocess.classification import check_names
from labdl.settings import INNER


@dataclass(frozen=True, eq=False)
class Points:
    """Keypoints (points, 2) as x, y, their scores (points), whether these are above the threshold, and their names."""

    points: np.ndarray
    scores: np.ndarray
    visible: np.ndarray
    names: tuple[str, ...] | None = None


@postprocessor
class Keypoints(PostProcessor):
    """Keypoints at the maxima of heat maps, shifted by a quarter of a cell toward the higher neighbor.

    Heat maps (points, height, width), whose largest values are the scores; or coordinates (points, 2), (points * 2), or with
    a score (points, 3). ``offset="none"`` omits the shift, which as in the reference code is not applied in the first two
    and the last row and column. A map without positive values gives the point (0, 0) with its maximum as score.
    ``affine`` is a matrix (2, 3) from positions in the map (or coordinates) to the image: see `box_affine`.
    ``visible`` are the points with a score above ``threshold``.

    Source: Xiao, Wu & Wei, Simple Baselines for Human Pose Estimation and Tracking, 2018, whose decoding HRNet uses as well.
    """

    offset: Literal["quarter", "none"] = "quarter"
    threshold: float = 0.0
    affine: Any = dataclasses.field(default=None, metadata=INNER)
    names: tuple[str, ...] | None = None

    def check(self) -> None:
        if self.affine is not None and np.shape(self.affine) != (2, 3):
            raise ConfigError(f"Keypoints: affine wants a matrix (2, 3), received the shape {np.shape(self.affine)}")

    def __call__(self, output) -> Points:
        found = single_array(self, output, "heat maps (points, height, width) or coordinates (points, 2)", 1, 2, 3)
        if found.ndim == 3:
            points, scores = self._peaks(found)
        elif (found.ndim == 1 and found.size % 2 == 0) or (found.ndim == 2 and found.shape[1] in (2, 3)):
            rows = found.reshape(-1, 2 if found.ndim == 1 else found.shape[1]).astype("float64")
            points, scores = rows[:, :2], rows[:, 2] if rows.shape[1] == 3 else np.ones(len(rows))
        else:
            raise ModelError(
                f"Keypoints wants coordinates (points, 2) or (points, 3), received the shape {found.shape}"
            )
        if self.affine is not None:
            matrix = np.asarray(self.affine, "float64")
            points = points @ matrix[:, :2].T + matrix[:, 2]
        return Points(points, scores, scores > self.threshold, check_names(self, self.names, len(points), "points"))

    def _peaks(self, maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (points, 2) of the maxima, and their values."""
        count, height, width = maps.shape
        flat = maps.reshape(count, -1).argmax(1)
        scores = maps.reshape(count, -1).max(1)
        x, y = flat % width, flat // width
        points = np.stack([x, y], 1).astype("float64")
        if self.offset == "quarter":
            at = np.flatnonzero((x > 1) & (x < width - 1) & (y > 1) & (y < height - 1))
            x, y = x[at], y[at]
            slopes = np.stack([maps[at, y, x + 1] - maps[at, y, x - 1], maps[at, y + 1, x] - maps[at, y - 1, x]], 1)
            points[at] += 0.25 * np.sign(slopes)
        points[scores <= 0] = 0.0
        return points, scores

    def for_metrics(self, results) -> np.ndarray:
        """Points (N, points, 2), for metrics such as `PCK`."""
        return np.stack([found.points for found in results])


def box_affine(box, size: tuple[int, int]) -> np.ndarray:
    """Affine matrix (2, 3) from positions in a map of ``size`` (height, width) to a crop of an image.

    ``box`` is the crop, x1, y1, x2, y2 in the image, that was resized to the model's input.
    """
    x1, y1, x2, y2 = (float(v) for v in box)
    height, width = size
    return np.array([[(x2 - x1) / width, 0.0, x1], [0.0, (y2 - y1) / height, y1]])
