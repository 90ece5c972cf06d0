"""Grey levels of pictures: their range, their histogram, their number."""

from __future__ import annotations

from typing import Annotated, Any

import cv2
import numpy as np
from annotated_types import Ge, Le

from labdl.data.transforms.ranges import Range, check_order, draw, draw_integer
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import (
    brightest,
    check_color,
    from_float,
    lookup,
    map_values,
    shares_to_integers,
    to_float,
)
from labdl.errors import DataError
from labdl.settings import Share

Bits = Annotated[int, Ge(0), Le(8)]
PositiveInteger = Annotated[int, Ge(1)]


@transform
class AutoContrast(Transform):
    """Stretch each channel so that its darkest value is black and its lightest white.

    Source: torchvision.transforms.v2.RandomAutocontrast.
    """

    p: Share = 1.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        white = brightest(array.dtype)
        ends = [cv2.minMaxLoc(channel)[:2] for channel in cv2.split(to_float(array) if _is_odd(array) else array)]
        low, high = np.array(ends, to_float(array[:0]).dtype).T
        flat = low == high
        low[flat] = 0
        step = np.where(flat, low.dtype.type(1), (high - low) * low.dtype.type(1 / white))
        if array.dtype == np.uint8:
            levels = np.arange(256, dtype="float32")[:, None]
            return lookup(array, from_float((levels - low) / step, array.dtype))
        return from_float((to_float(array) - low) / step, array.dtype)


@transform
class Equalize(Transform):
    """Spread each channel over the grey levels so that every level is used about as often.

    Floating-point pictures go through uint8. Source: torchvision.transforms.v2.RandomEqualize.
    """

    p: Share = 1.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return _as_uint8(image, lambda levels: lookup(levels, _equal_levels(levels)), type(self).__name__)


@transform
class CLAHE(Transform):
    """Equalize parts of the picture, with a limit on contrast: contrast-limited adaptive histogram equalization.

    ``tile_grid_size`` is the number of parts (rows, columns); ``clip_limit``, or a range to draw it from, is the largest
    count of a level, in multiples of the mean count. Colour pictures change in lightness only. Source: cv2.createCLAHE.
    """

    clip_limit: Range = 4.0
    tile_grid_size: tuple[PositiveInteger, PositiveInteger] = (8, 8)
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "clip_limit")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"clip_limit": draw(self.clip_limit, rng)}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        name = type(self).__name__
        tiles = cv2.createCLAHE(params["clip_limit"], self.tile_grid_size[::-1])

        def equalize(levels: np.ndarray) -> np.ndarray:
            if check_color(levels, name) == 1:
                return tiles.apply(levels[..., 0])[..., None]
            lab = cv2.cvtColor(levels, cv2.COLOR_RGB2Lab)
            lab[..., 0] = tiles.apply(lab[..., 0])
            return cv2.cvtColor(lab, cv2.COLOR_Lab2RGB)

        return _as_uint8(image, equalize, name)


@transform
class Invert(Transform):
    """Exchange dark and light: white minus the value. Source: torchvision.transforms.v2.RandomInvert."""

    p: Share = 1.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        return np.subtract(array.dtype.type(brightest(array.dtype)), array)

    apply_to_video = apply_to_image


@transform({"bits": 4})
class Posterize(Transform):
    """Keep the upper ``bits`` of each value, 0 to 8; a pair is a range. Source: torchvision.transforms.v2.RandomPosterize."""

    bits: Bits | tuple[Bits, Bits]
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "bits")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"bits": draw_integer(self.bits, rng)}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array, bits = np.asarray(image), params["bits"]
        if array.dtype.kind == "f":
            levels = 1 << bits
            steps = np.clip(np.floor(to_float(array) * levels), 0, levels - 1)
            return (steps / levels).astype(array.dtype, copy=False)
        white = int(brightest(array.dtype))
        depth = white.bit_length()
        return np.bitwise_and(array, array.dtype.type(white & ~((1 << max(0, depth - bits)) - 1)))

    apply_to_video = apply_to_image


@transform({"threshold": 128.0})
class Solarize(Transform):
    """Invert the values of at least ``threshold``, in units of the picture (128 of uint8 is 0.5 of floats); a pair is a range.

    Source: torchvision.transforms.v2.RandomSolarize.
    """

    threshold: Range
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "threshold")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"threshold": draw(self.threshold, rng)}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        white = brightest(image.dtype)
        return map_values(image, lambda v: np.where(v >= params["threshold"], v.dtype.type(white) - v, v))

    apply_to_video = apply_to_image


def _is_odd(array: np.ndarray) -> bool:
    return array.dtype.name not in ("uint8", "uint16", "float32", "float64")  # what OpenCV splits


def _equal_levels(levels: np.ndarray) -> np.ndarray:
    """Tables (256, channels) that equalize a uint8 picture, the same integer arithmetic as Pillow's."""
    channels = levels.shape[-1]
    tables = np.tile(np.arange(256, dtype="uint8")[:, None], (1, channels))
    for at in range(channels):
        counts = cv2.calcHist([levels], [at], None, [256], [0, 256])[:, 0].astype("int64")
        step = (counts.sum() - counts[np.flatnonzero(counts)[-1]]) // 255
        if step:
            before = np.cumsum(counts) - counts
            tables[:, at] = np.minimum((before + step // 2) // step, 255)
    return tables


def _as_uint8(image: np.ndarray, function: Any, name: str) -> np.ndarray:
    """A function of the picture as uint8, back in its own dtype."""
    array = np.asarray(image)
    if array.dtype == np.uint8:
        return function(np.ascontiguousarray(array))
    if array.dtype.kind != "f":
        raise DataError(
            f"{name} wants uint8 or floating-point pictures, received {array.dtype}: write T.ToFloat() before it"
        )
    levels = shares_to_integers(to_float(array), np.dtype("uint8")).astype("uint8")
    return (function(levels) * to_float(array[:0]).dtype.type(1 / 255)).astype(array.dtype, copy=False)
