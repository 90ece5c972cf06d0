"""Pictures with a margin, and pictures cut out of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from labdl.errors import ConfigError

PaddingMode = Literal["constant", "edge", "reflect", "symmetric"]
Fill = float | tuple[float, ...]


def crop_pad(
    image: np.ndarray, top: int, left: int, height: int, width: int, *, mode: PaddingMode = "constant", fill: Fill = 0
) -> np.ndarray:
    """The rectangle of a picture (height, width, channels) that may reach beyond it; inside, a view without a copy.

    Beyond the picture there is ``fill``, one number or one for each channel, or the nearest pixel ("edge"), or the mirrored
    picture without ("reflect") or with ("symmetric") its border pixel.
    """
    rows, columns = image.shape[:2]
    if is_inside((top, left, height, width), (rows, columns)):
        return image[top : top + height, left : left + width]
    if mode != "constant":
        at = mirror_index(rows, top, height, mode), mirror_index(columns, left, width, mode)
        return image[at[0][:, None], at[1]]
    result = np.empty((height, width, *image.shape[2:]), image.dtype)
    result[...] = fill_values(fill, image)
    inner_top, inner_left = max(top, 0), max(left, 0)
    inner = image[inner_top : max(top + height, inner_top), inner_left : max(left + width, inner_left)]
    if inner.size:
        y, x = inner_top - top, inner_left - left
        result[y : y + inner.shape[0], x : x + inner.shape[1]] = inner
    return result


def is_inside(box: tuple[int, int, int, int], canvas: tuple[int, int]) -> bool:
    """Whether a rectangle (top, left, height, width) does not reach beyond a picture of the size ``canvas``."""
    top, left, height, width = box
    return top >= 0 and left >= 0 and top + height <= canvas[0] and left + width <= canvas[1]


def crop_pad_mask(
    mask: np.ndarray, top: int, left: int, height: int, width: int, *, mode: PaddingMode = "constant", fill=0
):
    """`crop_pad` of a mask (height, width) or (objects, height, width); masks of objects have no fill but 0."""
    if mask.ndim == 2:
        return crop_pad(mask, top, left, height, width, mode=mode, fill=fill)
    return np.moveaxis(crop_pad(np.moveaxis(mask, 0, -1), top, left, height, width, mode=mode), -1, 0)


def fill_values(fill: Fill, image: np.ndarray) -> np.ndarray:
    """A fill as values of the dtype of a picture, rounded and clipped. Raises ConfigError for a wrong number of channels."""
    values = np.asarray(fill, "float64")
    if values.ndim and image.ndim == 3 and len(values) not in (1, image.shape[2]):
        raise ConfigError(f"a fill has one number or one for each of {image.shape[2]} channels, received {fill}")
    if image.dtype.kind in "ui":
        limits = np.iinfo(image.dtype)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values.astype(image.dtype)


def mirror_index(length: int, first: int, count: int, mode: PaddingMode) -> np.ndarray:
    """The positions 0 … length - 1 that a padding mode reads for positions from ``first`` on."""
    at = np.arange(first, first + count)
    if mode == "edge" or length == 1:
        return np.clip(at, 0, length - 1)
    if mode == "symmetric":
        at %= 2 * length
        return np.minimum(at, 2 * length - 1 - at)
    at %= 2 * (length - 1)
    return np.minimum(at, 2 * (length - 1) - at)


def read_padding(padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a padding that is one number, (left and right, top and bottom), or all four."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    left, top, right, bottom = padding
    return left, top, right, bottom
