"""Pictures of another size."""

from __future__ import annotations

from typing import Literal, get_args

import cv2
import numpy as np
from PIL import Image

from labdl.data.vision.smooth_resizing import resize_smoothly
from labdl.errors import ConfigError

Interpolation = Literal["nearest", "nearest-exact", "bilinear", "bicubic", "box", "hamming", "lanczos"]

_OPENCV = {"bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC}
_PILLOW = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "box": Image.Resampling.BOX,
    "hamming": Image.Resampling.HAMMING,
    "lanczos": Image.Resampling.LANCZOS,
}
_MODES = {1: "L", 3: "RGB", 4: "RGBX"}
_OPENCV_TYPES = frozenset(map(np.dtype, ("uint8", "uint16", "int16", "float32", "float64")))


def resize(
    image: np.ndarray, size: tuple[int, int], *, interpolation: Interpolation = "bilinear", antialias: bool = True
) -> np.ndarray:
    """A picture (height, width, channels) of another size (height, width), of the same dtype.

    The values are those of torchvision.transforms.v2.functional.resize on tensors. Without ``antialias``, pixels between
    the positions that are read have no influence on a smaller picture; "box", "hamming" and "lanczos" always have it.
    Source: torchvision.
    """
    if interpolation not in get_args(Interpolation):
        raise ConfigError(
            f"resize wants the interpolation {', '.join(get_args(Interpolation))}, received {interpolation!r}"
        )
    height, width = image.shape[:2]
    if (height, width) == tuple(size):
        return image
    if not height or not width:
        raise ConfigError(f"resize wants a picture with pixels, received the shape {image.shape}")
    if interpolation.startswith("nearest"):
        return resize_nearest(image, size, axes=(0, 1), exact=interpolation == "nearest-exact")
    enlarges = size[0] >= height and size[1] >= width
    if interpolation in _OPENCV and (not antialias or (interpolation == "bilinear" and enlarges)):
        return _resize_opencv(image, size, _OPENCV[interpolation])
    if interpolation == "bilinear":
        return resize_smoothly(image, size)
    return _resize_pillow(image, size, _PILLOW[interpolation])


def resize_nearest(
    image: np.ndarray, size: tuple[int, int], *, axes: tuple[int, int] = (-2, -1), exact: bool = False
) -> np.ndarray:
    """An array with two axes of another length, values repeated or left out: for masks of any dtype.

    ``exact`` reads at the centers of pixels, as Pillow does, instead of at their corners.
    """
    for axis, length in zip(axes, size, strict=True):
        was = image.shape[axis]
        if was != length:
            positions = (np.arange(length, dtype="float32") + np.float32(0.5 if exact else 0)) * np.float32(
                was / length
            )
            image = np.take(image, np.minimum(positions.astype("intp"), was - 1), axis)
    return image


def _resize_opencv(image: np.ndarray, size: tuple[int, int], flag: int) -> np.ndarray:
    kind = image.dtype
    source = image if kind in _OPENCV_TYPES else image.astype("float32")
    if flag == cv2.INTER_CUBIC and source.dtype.kind in "ui":
        # torchvision and Pillow round and cut the values between the two axes
        source = cv2.resize(source, (size[1], len(source)), interpolation=flag)
    resized = cv2.resize(source, size[::-1], interpolation=flag).reshape(*size, image.shape[2])
    return _round(resized, kind)


def _resize_pillow(image: np.ndarray, size: tuple[int, int], resampling: Image.Resampling) -> np.ndarray:
    channels = image.shape[2]
    if image.dtype != np.uint8:
        result = np.empty((*size, channels), "float32")
        for c in range(channels):
            plane = Image.fromarray(np.ascontiguousarray(image[:, :, c], "float32"))
            result[:, :, c] = plane.resize((size[1], size[0]), resampling)
        return _round(result, image.dtype)
    if channels in _MODES:
        return _resize_bytes(image, size, resampling)
    result = np.empty((*size, channels), "uint8")
    for first in range(0, channels, 4):
        count = min(4, channels - first)
        step = count if count in _MODES else 1
        for c in range(first, first + count, step):
            result[:, :, c : c + step] = _resize_bytes(image[:, :, c : c + step], size, resampling)
    return result


def _resize_bytes(image: np.ndarray, size: tuple[int, int], resampling: Image.Resampling) -> np.ndarray:
    height, width, channels = image.shape
    # a mode without alpha: Pillow would multiply the colors by it
    mode = _MODES[channels]
    picture = Image.frombuffer(mode, (width, height), np.ascontiguousarray(image), "raw", mode, 0, 1)
    if size[0] < height and size[1] > width:  # Pillow would begin with the height, torchvision begins with the width
        picture = picture.resize((size[1], height), resampling)
    return np.array(picture.resize((size[1], size[0]), resampling)).reshape(*size, channels)


def _round(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    if values.dtype == kind:
        return values
    if kind.kind in "ui":
        limits = np.iinfo(kind)
        return np.clip(np.rint(values), limits.min, limits.max).astype(kind)
    return values.astype(kind)
