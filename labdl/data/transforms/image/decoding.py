"""Pictures cut out while they are decoded."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from labdl.data.codecs.image import Color, EncodedImage, decode_and_crop, decode_image
from labdl.data.parts import Image
from labdl.data.transforms.image.region import Region
from labdl.data.transforms.image.resized_crop import Above0, check_ranges, random_box
from labdl.data.transforms.image.scaling import Scaling
from labdl.data.transforms.image.sizes import Pixels, Size, pair
from labdl.data.transforms.transform import Parameters, Transform, iterate_parts, map_parts, transform
from labdl.data.vision.resampling import Interpolation, resize


@transform
class Decode(Transform):
    """Decode an EncodedImage, or bytes, to an Image.

    ``mode`` is "RGB" or "L", by default that of the EncodedImage. ``fast`` takes the less exact inverse transform of JPEG. A
    picture that has been decoded stays as it is. Raises DataError for what is no picture.
    Source: mindspore.dataset.vision.Decode.
    """

    mode: Color | None = None
    fast: bool = False

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return super().apply(_find_encoded(sample), rng)

    def apply_to_encoded_image(self, encoded: EncodedImage, params: Parameters) -> Image:
        fast = self.fast or encoded.fast
        return decode_image(encoded, self.mode or encoded.mode, fast=fast, max_pixels=encoded.max_pixels)


@transform({"top": 2, "left": 3, "height": 24, "width": 32})
class DecodeAndCrop(Region):
    """Decode a rectangle given in pixels of an EncodedImage, or of bytes, of which it makes an Image.

    Of a JPEG, rows below the rectangle are not decoded. ``fast`` takes the less exact inverse transform. A picture that has
    been decoded is cut as `Crop` does. Raises DataError for a rectangle that is not inside of the picture.
    Source: tf.image.decode_and_crop_jpeg.
    """

    top: Annotated[int, Ge(0)]
    left: Annotated[int, Ge(0)]
    height: Pixels
    width: Pixels
    mode: Color = "RGB"
    fast: bool = False

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return self.region(part.canvas, self.top, self.left, self.height, self.width)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return super().apply(_find_encoded(sample), rng)

    def apply_to_encoded_image(self, encoded: EncodedImage, params: Parameters) -> Any:
        box = (*params["at"], *params["size"])
        return decode_and_crop(encoded, box, self.mode, fast=self.fast, max_pixels=encoded.max_pixels)


@transform({"size": 24})
class DecodeAndRandomResizedCrop(Scaling):
    """Decode a random rectangle of an EncodedImage, or of bytes, and resize it: `RandomResizedCrop` of the picture.

    The rectangle and the labels are those of `RandomResizedCrop`, with the same random numbers. Of a JPEG, rows below the
    rectangle are not decoded. ``fast`` takes the less exact inverse transform, and decodes at a half, a quarter or an eighth
    of the size if the rectangle keeps three quarters of ``size``. A picture that has been decoded is cut and resized.
    Source: mindspore.dataset.vision.RandomCropDecodeResize.
    """

    size: Size
    scale: tuple[Above0, Above0] = (0.08, 1.0)
    ratio: tuple[Above0, Above0] = (3 / 4, 4 / 3)
    interpolation: Interpolation = "bilinear"
    antialias: bool = True
    mode: Color = "RGB"
    fast: bool = False

    def check_settings(self) -> None:
        check_ranges(self)

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        canvas = part.canvas
        return self.scaling(canvas, pair(self.size), box=random_box(rng, canvas, self.scale, self.ratio))

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return super().apply(_find_encoded(sample), rng)

    def apply_to_encoded_image(self, encoded: EncodedImage, params: Parameters) -> Any:
        size = params["size"]
        image = decode_and_crop(
            encoded, params["box"], self.mode, size=size, fast=self.fast, max_pixels=encoded.max_pixels
        )
        return image.like(resize(image.array, size, interpolation=self.interpolation, antialias=self.antialias))


def _find_encoded(sample: Any) -> Any:
    """The sample with an EncodedImage for its first bytes, as caches and files of other libraries have them."""
    kinds = [type(part) for part in iterate_parts(sample)]
    if EncodedImage in kinds or bytes not in kinds:
        return sample
    places = itertools.count()
    first = kinds.index(bytes)
    return map_parts(lambda part: EncodedImage(part) if next(places) == first else part, sample)
