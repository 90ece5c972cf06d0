"""Rectangles of pictures, resized."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from labdl.data.boxes import convert_boxes
from labdl.data.parts import BoundingBoxes, Image
from labdl.data.transforms.image.scaling import Scaling
from labdl.data.transforms.image.sizes import Pixels, Size, pair
from labdl.data.transforms.transform import Parameters, Transform, check_finite, iterate_parts, map_parts, transform
from labdl.data.vision.glimpses import CropMethod, crop_and_resize
from labdl.data.vision.resampling import Interpolation
from labdl.errors import ConfigError, DataError

Above0 = Annotated[float, Gt(0)]


@transform({"top": 2, "left": 3, "height": 24, "width": 32, "size": (20, 28)})
class ResizedCrop(Scaling):
    """Cut out a rectangle given in pixels and resize it to (height, width).

    Source: torchvision.transforms.v2.functional.resized_crop.
    """

    top: int
    left: int
    height: Pixels
    width: Pixels
    size: Size
    interpolation: Interpolation = "bilinear"
    antialias: bool = True

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        box = (self.top, self.left, self.height, self.width)
        return self.scaling(part.canvas, pair(self.size), box=box)


@transform({"size": 24})
class RandomResizedCrop(Scaling):
    """Cut out a random rectangle and resize it to (height, width), or to a square of one number.

    ``scale`` bounds its part of the area, ``ratio`` its width over its height. ``antialias=False`` is about three times as
    fast. Source: torchvision.transforms.v2.RandomResizedCrop (Szegedy et al. 2015).
    """

    size: Size
    scale: tuple[Above0, Above0] = (0.08, 1.0)
    ratio: tuple[Above0, Above0] = (3 / 4, 4 / 3)
    interpolation: Interpolation = "bilinear"
    antialias: bool = True

    def check_settings(self) -> None:
        check_ranges(self)

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        box = random_box(rng, part.canvas, self.scale, self.ratio)
        return self.scaling(part.canvas, pair(self.size), box=box)


@transform({"size": 24})
class CropAndResize(Transform):
    """Replace the picture by the contents of boxes, resized: an array (boxes, height, width, channels) of float32.

    The boxes are those of the sample; or ``boxes`` (top, left, bottom, right) from 0 to 1 of the picture. Corners of a box
    are centers of pixels, without antialias; positions outside of the picture are ``extrapolation_value``. Boxes, masks and
    key points stay those of the whole picture. Source: tf.image.crop_and_resize.
    """

    size: Size
    boxes: tuple[tuple[float, float, float, float], ...] | None = None
    method: CropMethod = "bilinear"
    extrapolation_value: float = 0.0

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if self.boxes is not None:
            return self._cut(sample, np.array(self.boxes, "float32").reshape(-1, 4))
        picture = next((p for p in iterate_parts(sample) if isinstance(p, Image)), None)
        labels = next((p for p in iterate_parts(sample) if isinstance(p, BoundingBoxes)), None)
        if picture is None or labels is None:
            raise DataError(
                "CropAndResize wants an Image and BoundingBoxes, or its setting boxes, received neither boxes"
            )
        check_finite(self, labels)
        left, top, right, bottom = convert_boxes(labels.array, labels.format, "xyxy").T
        height, width = picture.canvas
        # the last pixel of a box is the one before its edge
        rows, columns = max(height - 1, 1), max(width - 1, 1)
        return self._cut(sample, np.stack([top / rows, left / columns, (bottom - 1) / rows, (right - 1) / columns], 1))

    def _cut(self, sample: Any, boxes: np.ndarray) -> Any:
        return map_parts(
            lambda part: self.apply_to(part, {"boxes": boxes}) if isinstance(part, Image) else part, sample
        )

    def apply_to(self, part: Any, params: Parameters) -> Any:
        return self.compute(self.apply_to_image, part, params) if isinstance(part, Image) else part

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return crop_and_resize(
            image.view(np.ndarray),
            params["boxes"],
            pair(self.size),
            method=self.method,
            extrapolation_value=self.extrapolation_value,
        )


def check_ranges(owner: Any) -> None:
    """Raise ConfigError for a ``scale`` or ``ratio`` of a random rectangle whose ends are in the wrong order."""
    for name, (low, high) in (("scale", owner.scale), ("ratio", owner.ratio)):
        if low > high:
            raise ConfigError(f"{type(owner).__name__}: {name} wants (low, high), received {(low, high)}")


def random_box(
    rng: np.random.Generator, canvas: tuple[int, int], scale: tuple[float, float], ratio: tuple[float, float]
) -> tuple[int, int, int, int]:
    """Top, left, height and width of a random rectangle; after ten that do not fit, the largest in the center."""
    rows, columns = canvas
    area, log_ratio = rows * columns, (math.log(ratio[0]), math.log(ratio[1]))
    for _ in range(10):
        wanted = area * rng.uniform(*scale)
        aspect = math.exp(rng.uniform(*log_ratio))
        width, height = round(math.sqrt(wanted * aspect)), round(math.sqrt(wanted / aspect))
        if 0 < width <= columns and 0 < height <= rows:
            return int(rng.integers(rows - height + 1)), int(rng.integers(columns - width + 1)), height, width
    height, width = rows, columns
    if columns / rows < ratio[0]:
        height = max(1, min(rows, round(columns / ratio[0])))
    elif columns / rows > ratio[1]:
        width = max(1, min(columns, round(rows * ratio[1])))
    return (rows - height) // 2, (columns - width) // 2, height, width
