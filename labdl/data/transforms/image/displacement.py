"""Displacement: base class of transforms that move each point of the sample on its own."""

from __future__ import annotations

import numpy as np

from labdl.data.parts import Canvas
from labdl.data.transforms.transform import Parameters, Transform
from labdl.data.vision.padding import Fill
from labdl.data.vision.warping import MatrixMaps, WarpInterpolation, move_points, warp, warp_mask


class Displacement(Transform):
    """A subclass defines `get_params`, which returns what `displacement` does, and the settings of the interpolation.

    A box becomes the smallest upright one around its moved corners, as in torchvision.
    """

    interpolation: WarpInterpolation = "bilinear"
    fill: Fill = 0.0
    mask_fill: int = 0

    def displacement(self, canvas: Canvas, matrix: np.ndarray, size: tuple[int, int] | None = None) -> Parameters:
        """Parameters of a matrix (3, 3) that moves points; the origin of coordinates is the corner of the picture."""
        size = size or canvas
        return {"canvas": canvas, "size": size, "matrix": matrix, "maps": MatrixMaps(matrix, size)}

    def move(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        """Points (N, 2) after the transform; the origin of coordinates is the corner of the picture."""
        return move_points(points, params["matrix"])

    def canvas_after(self, canvas: Canvas, params: Parameters) -> Canvas:
        return params["size"]

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return warp(image.view(np.ndarray), params["maps"], interpolation=self.interpolation, fill=self.fill)

    def apply_to_mask(self, mask: np.ndarray, params: Parameters) -> np.ndarray:
        return warp_mask(mask.view(np.ndarray), params["maps"], fill=self.mask_fill)

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
        moved = self.move(corners, params).reshape(-1, 4, 2)
        return np.concatenate([moved.min(1), moved.max(1)], 1)

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        return self.move(points + 0.5, params) - 0.5  # a point is the center of a pixel, a box has its corners
