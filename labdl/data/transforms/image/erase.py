"""Rectangles of a picture replaced by a colour or by noise."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from labdl.data.transforms.ranges import check_order, draw, draw_integer
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import brightest
from labdl.errors import DataError
from labdl.settings import Share

Color = float | tuple[float, ...]
Positive = Annotated[float, Gt(0)]
Length = Annotated[int, Ge(1)]
Part = Annotated[float, Gt(0), Le(1)]

_ATTEMPTS = 10


@transform
class Erase(Transform):
    """Replace a random rectangle by ``value``: a number, one for each channel, or "random" for noise.

    Its area is drawn from ``scale``, a range of shares of the picture, its height / width from ``ratio``; if none fits in
    ten attempts the picture stays. ``value`` is in units of the picture. Boxes and masks stay.
    Source: torchvision.transforms.v2.RandomErasing; Zhong et al. 2017.
    """

    scale: tuple[Share, Share] = (0.02, 0.33)
    ratio: tuple[Positive, Positive] = (0.3, 3.3)
    value: Color | Literal["random"] = 0.0
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "scale", "ratio")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        height, width = part.canvas
        seed = int(rng.integers(1 << 62))
        for _ in range(_ATTEMPTS):
            area = height * width * rng.uniform(*self.scale)
            aspect = np.exp(rng.uniform(*np.log(self.ratio)))
            h, w = round(np.sqrt(area * aspect)), round(np.sqrt(area / aspect))
            if 0 < h < height and 0 < w < width:
                top, left = rng.integers(height - h, endpoint=True), rng.integers(width - w, endpoint=True)
                return {"rectangles": [(int(top), int(left), h, w)], "seed": seed}
        return {"rectangles": [], "seed": seed}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return _fill(self, image, params, self.value)

    apply_to_video = apply_to_image


@transform({"length": 16})
class Cutout(Transform):
    """Replace ``num_patches`` squares of ``length`` pixels with centres anywhere by ``value``; they may cross the border.

    Source: DeVries and Taylor 2017; mindspore.dataset.vision.CutOut.
    """

    length: Length
    num_patches: Length = 1
    value: Color = 0.0
    p: Share = 1.0

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        height, width = part.canvas
        rectangles = []
        for _ in range(self.num_patches):
            top, left = int(rng.integers(height)) - self.length // 2, int(rng.integers(width)) - self.length // 2
            bottom, right = min(top + self.length, height), min(left + self.length, width)
            top, left = max(top, 0), max(left, 0)
            rectangles.append((top, left, bottom - top, right - left))
        return {"rectangles": rectangles}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return _fill(self, image, params, self.value)

    apply_to_video = apply_to_image


@transform
class GridMask(Transform):
    """Replace the squares of a regular grid by ``value``.

    ``unit`` is the distance of the squares in pixels, or a range to draw it from, ``ratio`` their side as a share of it;
    the grid begins anywhere. Source: Chen et al. 2020, GridMask Data Augmentation.
    """

    unit: Length | tuple[Length, Length] = (24, 64)
    ratio: Part | tuple[Part, Part] = 0.5
    value: Color = 0.0
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "unit", "ratio")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        height, width = part.canvas
        unit = draw_integer(self.unit, rng)
        side = round(unit * draw(self.ratio, rng))
        first = rng.integers(unit, size=2)
        inside = [(np.arange(size) + begin) % unit < side for size, begin in zip((height, width), first, strict=True)]
        return {"erased": inside[0][:, None] & inside[1]}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.array(image)
        if array.shape[-3:-1] != params["erased"].shape:
            raise DataError(f"GridMask wants pictures of one size in a sample, received {array.shape} beside others")
        array[..., params["erased"], :] = _color(self, self.value, array)
        return array

    apply_to_video = apply_to_image


def _fill(owner: Transform, image: np.ndarray, params: Parameters, value: Any) -> np.ndarray:
    array = np.array(image)
    for top, left, height, width in params["rectangles"]:
        place = array[..., top : top + height, left : left + width, :]
        place[...] = _noise(place, params["seed"]) if isinstance(value, str) else _color(owner, value, array)
    return array


def _noise(place: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if place.dtype.kind == "f":
        return rng.standard_normal(place.shape, "float32")
    return rng.integers(int(brightest(place.dtype)), size=place.shape, endpoint=True)


def _color(owner: Transform, value: Color, array: np.ndarray) -> np.ndarray:
    color = np.asarray(value)
    if color.size not in (1, array.shape[-1]):
        raise DataError(
            f"{type(owner).__name__} has a colour of {color.size} channels, received a picture of {array.shape[-1]}"
        )
    if array.dtype.kind != "f":
        color = np.clip(np.rint(color), 0, brightest(array.dtype))
    return color.astype(array.dtype)
