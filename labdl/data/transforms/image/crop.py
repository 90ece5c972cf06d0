"""Rectangles of pictures, in their size."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.data.codecs.image import EncodedImage
from labdl.data.parts import Canvas
from labdl.data.transforms.image.flip import HorizontalFlip, VerticalFlip
from labdl.data.transforms.image.region import Region
from labdl.data.transforms.image.sizes import Pixels, Size, pair
from labdl.data.transforms.transform import Parameters, transform
from labdl.data.vision.padding import Fill, PaddingMode, read_padding
from labdl.errors import DataError

Padding = int | tuple[int, int] | tuple[int, int, int, int]


@transform({"top": 2, "left": 3, "height": 24, "width": 32})
class Crop(Region):
    """Cut out a rectangle given in pixels; beyond the picture it is filled.

    Boxes are clipped to the rectangle; those that are outside have no area and leave with SanitizeBoundingBoxes.
    Source: torchvision.transforms.v2.functional.crop.
    """

    top: int
    left: int
    height: Pixels
    width: Pixels
    fill: Fill = 0.0
    mask_fill: int = 0

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return self.region(part.canvas, self.top, self.left, self.height, self.width)


@transform({"size": 24})
class CenterCrop(Region):
    """Cut out the center, of a size (height, width) or one number for both; a smaller picture is filled.

    Source: torchvision.transforms.v2.CenterCrop.
    """

    size: Size
    fill: Fill = 0.0
    mask_fill: int = 0

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return self.region(part.canvas, *center(part.canvas, pair(self.size)))


@transform({"size": 24})
class RandomCrop(Region):
    """Cut out a rectangle of a size (height, width) at a random place.

    ``padding`` (one number; left and right, top and bottom; or left, top, right, bottom) is a margin added before; with
    ``pad_if_needed``, pictures that are smaller than the size get one on both sides. Raises DataError for smaller pictures
    otherwise. Source: torchvision.transforms.v2.RandomCrop.
    """

    size: Size
    padding: Padding | None = None
    pad_if_needed: bool = False
    fill: Fill = 0.0
    mask_fill: int = 0
    padding_mode: PaddingMode = "constant"

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        height, width = pair(self.size)
        left, top, right, bottom = read_padding(self.padding or 0)
        rows, columns = part.canvas[0] + top + bottom, part.canvas[1] + left + right
        if self.pad_if_needed:
            more_rows, more_columns = max(0, height - rows), max(0, width - columns)
            top, left = top + more_rows, left + more_columns
            rows, columns = rows + 2 * more_rows, columns + 2 * more_columns
        if height > rows or width > columns:
            raise DataError(
                f"RandomCrop wants a picture of at least {height} × {width} pixels, received {rows} × {columns}: write "
                "pad_if_needed=True or put Resize before it"
            )
        at = int(rng.integers(rows - height + 1)), int(rng.integers(columns - width + 1))
        return self.region(part.canvas, at[0] - top, at[1] - left, height, width)


@transform({"size": 24})
class FiveCrop(Region):
    """Cut out the four corners and the center: a part becomes a tuple of five in the order of torchvision.

    The order is top left, top right, bottom left, bottom right, center. Raises DataError for smaller pictures.
    Source: torchvision.transforms.v2.FiveCrop.
    """

    size: Size

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return {"regions": _five(self, part.canvas, pair(self.size))}

    def apply_to(self, part: Any, params: Parameters) -> Any:
        if self.method_of(part) is None:
            return part
        part = part.decode() if isinstance(part, EncodedImage) else part
        return tuple(super(FiveCrop, self).apply_to(part, region) for region in params["regions"])


@transform({"size": 24})
class TenCrop(Region):
    """Cut out what FiveCrop does, and the same of the mirrored picture: a part becomes a tuple of ten.

    It is mirrored left and right, or top and bottom if ``vertical_flip``. Source: torchvision.transforms.v2.TenCrop.
    """

    size: Size
    vertical_flip: bool = False

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return {"canvas": part.canvas, "regions": _five(self, part.canvas, pair(self.size))}

    def apply_to(self, part: Any, params: Parameters) -> Any:
        if self.method_of(part) is None:
            return part
        part = part.decode() if isinstance(part, EncodedImage) else part
        flip = VerticalFlip(p=1.0) if self.vertical_flip else HorizontalFlip(p=1.0)
        mirrored = flip.apply_to(part, {"canvas": params["canvas"]})
        return tuple(super(TenCrop, self).apply_to(one, r) for one in (part, mirrored) for r in params["regions"])


def center(canvas: Canvas, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Top, left, height and width of a rectangle in the center of a picture, as torchvision rounds its place."""
    margins = [length - wanted for length, wanted in zip(canvas, size, strict=True)]
    # a margin that is added is rounded down, one that is cut to the even number
    top, left = (-(-m // 2) if m < 0 else round(m / 2.0) for m in margins)
    return top, left, *size


def _five(owner: Region, canvas: Canvas, size: tuple[int, int]) -> list[Parameters]:
    height, width = size
    bottom, right = canvas[0] - height, canvas[1] - width
    if bottom < 0 or right < 0:
        raise DataError(
            f"{type(owner).__name__} wants a picture of at least {height} × {width} pixels, received "
            f"{canvas[0]} × {canvas[1]}: put Resize before it"
        )
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
    regions = [owner.region(canvas, *corner, height, width) for corner in corners]
    return [*regions, owner.region(canvas, *center(canvas, size))]
