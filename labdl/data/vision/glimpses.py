"""Parts of pictures around boxes and points, read between pixels."""

from __future__ import annotations

from typing import Literal

import numpy as np

from labdl.data.vision.padding import crop_pad
from labdl.data.vision.warping import ArrayMaps, warp
from labdl.errors import ConfigError

CropMethod = Literal["bilinear", "nearest"]


def crop_and_resize(
    image: np.ndarray,
    boxes: np.ndarray,
    size: tuple[int, int],
    *,
    method: CropMethod = "bilinear",
    extrapolation_value: float = 0.0,
) -> np.ndarray:
    """The contents of boxes (N, 4) of a picture (height, width, channels): float32 (N, *size, channels).

    A box is (top, left, bottom, right), 0 the center of the first pixel and 1 that of the last; one with its bottom above
    its top is mirrored. Source: tf.image.crop_and_resize.
    """
    height, width, channels = image.shape
    boxes = np.asarray(boxes, "float64").reshape(-1, 4)
    result = np.empty((len(boxes), *size, channels), "float32")
    for at, (top, left, bottom, right) in enumerate(boxes):
        y, x = _positions(top, bottom, height, size[0]), _positions(left, right, width, size[1])
        outside = ((y < 0) | (y > height - 1))[:, None] | ((x < 0) | (x > width - 1))
        if method == "nearest":
            x, y = np.floor(x + 0.5), np.floor(y + 0.5)
        maps = ArrayMaps(*np.broadcast_arrays(np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)[:, None]))
        result[at] = warp(image.astype("float32", copy=False), maps, interpolation=method)
        result[at][outside] = extrapolation_value
    return result


def _positions(start: float, end: float, length: int, count: int) -> np.ndarray:
    if count == 1:
        return np.array([0.5 * (start + end) * (length - 1)])
    return start * (length - 1) + np.arange(count) * ((end - start) * (length - 1) / (count - 1))


def extract_glimpse(
    image: np.ndarray,
    size: tuple[int, int],
    offset: tuple[float, float],
    *,
    centered: bool = True,
    normalized: bool = True,
    fill: float = 0.0,
) -> np.ndarray:
    """A window (height, width) of a picture around an offset (y, x), filled beyond the picture.

    ``normalized`` offsets are from -1 to 1 if ``centered``, else from 0 to 1 of the picture; others are pixels, counted from
    the center if ``centered``. The middle of the window is at the offset if it is both,
    else its first pixel. Source: tf.image.extract_glimpse.
    """
    if len(size) != 2 or min(size) < 1:
        raise ConfigError(f"extract_glimpse wants a size of at least 1 × 1, received {size}")
    at = []
    for value, length, wanted in zip(offset, image.shape[:2], size, strict=True):
        position = value * length if normalized else value
        if centered and normalized:
            position = position / 2 + (length - wanted) / 2
        elif centered:  # TensorFlow's window begins there
            position += length / 2
        at.append(int(position))
    return crop_pad(image, at[0], at[1], *size, fill=fill)
