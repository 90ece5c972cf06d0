"""Pictures with a margin."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl.data.transforms.image.crop import Padding
from labdl.data.transforms.image.region import Region
from labdl.data.transforms.image.sizes import Offset, Pixels, Size, pair
from labdl.data.transforms.ranges import check_order
from labdl.data.transforms.transform import Parameters, transform
from labdl.data.vision.padding import Fill, PaddingMode, read_padding
from labdl.errors import DataError
from labdl.settings import Share

Factor = Annotated[float, Ge(1)]


@transform({"padding": (3, 2)})
class Pad(Region):
    """Add a margin, of ``fill``, the border pixels ("edge") or the mirrored picture ("reflect", "symmetric").

    ``padding`` is in pixels: one number; left and right, top and bottom; or left, top, right, bottom. Negative numbers cut.
    ``mask_fill`` is the class number in the margin of a mask (height, width); masks of objects have 0 there.
    Source: torchvision.transforms.v2.Pad.
    """

    padding: Padding
    fill: Fill = 0.0
    mask_fill: int = 0
    padding_mode: PaddingMode = "constant"

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        left, top, right, bottom = read_padding(self.padding)
        height, width = part.canvas[0] + top + bottom, part.canvas[1] + left + right
        if height < 1 or width < 1:
            raise DataError(
                f"Pad with padding={self.padding} wants a picture of more pixels, received {part.canvas[0]} × {part.canvas[1]}"
            )
        return self.region(part.canvas, -top, -left, height, width)


@transform({"size": (60, 80)})
class PadToSize(Region):
    """Add a margin up to a size (height, width); the picture is at ``offset`` (top, left), by default in the center.

    Raises DataError for pictures that do not fit. Source: mindspore.dataset.vision.PadToSize.
    """

    size: Size
    offset: tuple[Offset, Offset] | None = None
    fill: Fill = 0.0
    mask_fill: int = 0
    padding_mode: PaddingMode = "constant"

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        (height, width), size = part.canvas, pair(self.size)
        top, left = self.offset or ((size[0] - height) // 2, (size[1] - width) // 2)
        return _inside(self, part.canvas, (top, left), size)


@transform({"offset_height": 4, "offset_width": 6, "target_height": 60, "target_width": 80})
class PadToBoundingBox(Region):
    """Add ``offset_height`` rows above and ``offset_width`` columns at the left, and others up to the size.

    Raises DataError for pictures that do not fit. Source: tf.image.pad_to_bounding_box.
    """

    offset_height: Offset
    offset_width: Offset
    target_height: Pixels
    target_width: Pixels
    fill: Fill = 0.0
    mask_fill: int = 0

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        at, size = (self.offset_height, self.offset_width), (self.target_height, self.target_width)
        return _inside(self, part.canvas, at, size)


@transform
class ZoomOut(Region):
    """Place the picture at random on a canvas of ``fill`` whose sides are longer by a factor drawn from ``side_range``.

    Source: torchvision.transforms.v2.RandomZoomOut (SSD, Liu et al. 2016).
    """

    fill: Fill = 0.0
    side_range: tuple[Factor, Factor] = (1.0, 4.0)
    mask_fill: int = 0
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "side_range")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        height, width = part.canvas
        factor = rng.uniform(*self.side_range)
        size = int(height * factor), int(width * factor)
        top, left = int((size[0] - height) * rng.random()), int((size[1] - width) * rng.random())
        return self.region(part.canvas, -top, -left, *size)


def _inside(owner: Region, canvas: tuple[int, int], at: tuple[int, int], size: tuple[int, int]) -> Parameters:
    if min(at) < 0 or at[0] + canvas[0] > size[0] or at[1] + canvas[1] > size[1]:
        raise DataError(
            f"{type(owner).__name__} wants a picture that fits into {size[0]} × {size[1]} pixels at {at}, received "
            f"{canvas[0]} × {canvas[1]}: write a larger size or put Resize before it"
        )
    return owner.region(canvas, -at[0], -at[1], *size)
