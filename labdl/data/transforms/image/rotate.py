"""Rotated, sheared and scaled pictures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from labdl.data.parts import Canvas, Video
from labdl.data.transforms.image.displacement import Displacement
from labdl.data.transforms.ranges import PositiveRange, Range, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.padding import Fill
from labdl.data.vision.warping import WarpInterpolation, affine_matrix, move_points
from labdl.errors import ConfigError


@transform({"degrees": (-30.0, 30.0)})
class Rotate(Displacement):
    """Rotate counter-clockwise by ``degrees``, or by an angle drawn from a pair.

    It turns about ``center`` (x, y), by default that of the picture; with ``expand``, the result is large enough for the
    whole picture and ``center`` has no effect. Source: torchvision.transforms.v2.RandomRotation.
    """

    degrees: Range
    interpolation: WarpInterpolation = "nearest"
    expand: bool = False
    center: tuple[float, float] | None = None
    fill: Fill = 0.0
    mask_fill: int = 0

    def check_settings(self) -> None:
        check_order(self, "degrees")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        height, width = canvas = part.canvas
        degrees = draw(self.degrees, rng)
        middle = (width / 2, height / 2)
        center = self.center if self.center is not None and not self.expand else middle
        matrix = affine_matrix(-degrees, (0, 0), 1, (0, 0), center)
        if not self.expand:
            return self.displacement(canvas, matrix)
        size = _size_around(canvas, matrix)
        matrix[:2, 2] += (size[1] - width) / 2, (size[0] - height) / 2
        return self.displacement(canvas, matrix, size)


@transform({"degrees": (-15.0, 15.0), "translate": ((-0.1, 0.1), 0.0), "scale": (0.8, 1.2)})
class Affine(Displacement):
    """Rotate clockwise, shear, scale and translate; each setting is a number, or drawn from a pair (low, high).

    ``degrees`` and ``shear`` (x, y) are angles in degrees, ``translate`` (x, y) parts of width and height. It turns about
    ``center`` (x, y), by default that of the picture. Source: torchvision.transforms.v2.RandomAffine.
    """

    degrees: Range = 0.0
    translate: tuple[Range, Range] = (0.0, 0.0)
    scale: PositiveRange = 1.0
    shear: tuple[Range, Range] = (0.0, 0.0)
    interpolation: WarpInterpolation = "nearest"
    center: tuple[float, float] | None = None
    fill: Fill = 0.0
    mask_fill: int = 0

    def check_settings(self) -> None:
        check_order(self, "degrees", "scale")
        for name, value in (("translate", self.translate), ("shear", self.shear)):
            for one in value:
                if isinstance(one, tuple) and one[0] > one[1]:
                    raise ConfigError(f"Affine: {name} wants (low, high) for x and for y, received {value}")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        height, width = canvas = part.canvas
        degrees, scale = draw(self.degrees, rng), draw(self.scale, rng)
        translate = draw(self.translate[0], rng) * width, draw(self.translate[1], rng) * height
        shear = draw(self.shear[0], rng), draw(self.shear[1], rng)
        center = self.center or (width / 2, height / 2)
        return self.displacement(canvas, affine_matrix(degrees, translate, scale, shear, center))


@transform
class Rot90(Transform):
    """Rotate counter-clockwise by ``k`` right angles, or by one of several numbers of them, exactly.

    The default is any of the four with the same probability. Source: tf.image.rot90.
    """

    k: int | tuple[int, ...] = (0, 1, 2, 3)

    def check_settings(self) -> None:
        if self.k == ():
            raise ConfigError("Rot90: k wants at least one number of right angles")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        k = self.k[int(rng.integers(len(self.k)))] if isinstance(self.k, tuple) else self.k
        return {"canvas": part.canvas, "k": k % 4}

    def canvas_after(self, canvas: Canvas, params: Parameters) -> Canvas:
        return (canvas[1], canvas[0]) if params["k"] % 2 else canvas

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return np.rot90(image.view(np.ndarray), params["k"])

    def apply_to_video(self, video: Video, params: Parameters) -> np.ndarray:
        return np.rot90(video.array, params["k"], axes=(1, 2))

    def apply_to_mask(self, mask: np.ndarray, params: Parameters) -> np.ndarray:
        return np.rot90(mask.view(np.ndarray), params["k"], axes=(-2, -1))

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        moved = self._turn(boxes.reshape(-1, 2), params).reshape(-1, 2, 2)
        return np.concatenate([moved.min(1), moved.max(1)], 1)

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        return self._turn(points + 0.5, params) - 0.5

    def _turn(self, points: np.ndarray, params: Parameters) -> Any:
        (height, width), x, y = params["canvas"], points[:, 0], points[:, 1]
        turned = {0: (x, y), 1: (y, width - x), 2: (width - x, height - y), 3: (height - y, x)}
        return np.stack(turned[params["k"]], 1)


def _size_around(canvas: Canvas, matrix: np.ndarray) -> tuple[int, int]:
    """Height and width of a picture around a rotated one, rounded as in torchvision."""
    height, width = canvas
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], "float64")
    moved = move_points(corners, matrix)
    # a hair beyond a whole number is rounding
    low, high = (np.trunc(ends * 1e4) * 1e-4 for ends in (moved.min(0), moved.max(0)))
    columns, rows = (math.ceil(end) - math.floor(start) for start, end in zip(low, high, strict=True))
    return rows, columns
