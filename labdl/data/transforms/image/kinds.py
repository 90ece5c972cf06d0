"""Pictures as parts of a sample, as Pillow pictures and as plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image

from labdl.data.parts import Image, Part, Video
from labdl.data.transforms.image.types import convert
from labdl.data.transforms.transform import Parameters, Transform, iterate_parts, map_parts, transform
from labdl.errors import DataError

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


@transform
class ToImage(Transform):
    """Make an Image of the first Pillow picture or array (height, width[, channels]) of a sample without one.

    Palettes and other colour modes of Pillow become RGB, or RGBA where they are transparent.
    Source: torchvision.transforms.v2.ToImage.
    """

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if any(isinstance(leaf, Image | Video) for leaf in iterate_parts(sample)):
            return sample
        waiting = True

        def replace(leaf: Any) -> Any:
            nonlocal waiting
            if not waiting or not _is_picture(leaf):
                return leaf
            waiting = False
            return Image(_from_pillow(leaf) if isinstance(leaf, PIL.Image.Image) else leaf)

        return map_parts(replace, sample)


@transform
class ToPIL(Transform):
    """Make Pillow pictures of the images: uint8 of 1 to 4 channels, uint16 of 1; floats of 0 to 1 become uint8.

    Source: torchvision.transforms.v2.ToPILImage.
    """

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> Any:
        array = np.asarray(image)
        if array.dtype.kind == "f":
            array = (np.clip(array, 0, 1) * 255).astype("uint8")
        channels = array.shape[-1]
        if array.dtype == np.uint16 and channels == 1:
            return PIL.Image.fromarray(np.ascontiguousarray(array[..., 0]))
        if array.dtype != np.uint8 or channels not in _MODES:
            raise DataError(
                f"ToPIL wants uint8 of 1 to 4 channels or uint16 of 1, received {array.dtype} of the shape {array.shape}"
            )
        return PIL.Image.fromarray(np.ascontiguousarray(array[..., 0] if channels == 1 else array))

    def apply_to_video(self, video: Video, params: Parameters) -> Any:
        return [self.apply_to_image(frame, params) for frame in video.array]


@transform
class ToNumpy(Transform):
    """Make plain arrays of all typed parts, which later transforms leave alone.

    Source: torchvision.transforms.v2.ToPureTensor.
    """

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return map_parts(lambda leaf: leaf.array if isinstance(leaf, Part) else leaf, sample)


@transform
class ToTensor(Transform):
    """Make a plain float32 array (channels, height, width) of 0 to 1 of each image, (frames, channels, …) of a clip.

    Source: torchvision.transforms.ToTensor.
    """

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return np.ascontiguousarray(np.moveaxis(convert(image, np.dtype("float32"), "ToTensor"), -1, -3))

    apply_to_video = apply_to_image

    def apply_to(self, part: Any, params: Parameters) -> Any:
        method = self.method_of(part)
        return part if method is None else getattr(self, method)(part, params)


def _is_picture(leaf: Any) -> bool:
    if isinstance(leaf, PIL.Image.Image):
        return True
    return type(leaf) is np.ndarray and leaf.ndim in (2, 3) and leaf.dtype.kind in "uif"


def _from_pillow(picture: PIL.Image.Image) -> np.ndarray:
    if picture.mode == "1":
        picture = picture.convert("L")
    elif picture.mode in ("P", "PA"):
        picture = picture.convert("RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB")
    elif picture.mode in ("CMYK", "YCbCr", "LAB", "HSV", "RGBX"):
        picture = picture.convert("RGB")
    return np.asarray(picture)
