"""Number types of pictures."""

from __future__ import annotations

from typing import Literal

import numpy as np

from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import brightest, shares_to_integers
from labdl.errors import DataError

Dtype = Literal["uint8", "uint16", "int32", "int64", "float16", "float32", "float64"]


@transform
class ToFloat(Transform):
    """Convert integers to float32 of 0 to 1: 255 of uint8 becomes 1. Floating-point pictures become float32 unscaled.

    Source: torchvision.transforms.v2.ToDtype(torch.float32, scale=True).
    """

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return convert(image, np.dtype("float32"), "ToFloat")

    apply_to_video = apply_to_image


@transform
class ToDtype(Transform):
    """Convert to another number type; with ``scale`` black and white stay black and white, without it numbers are cast.

    Source: torchvision.transforms.v2.ToDtype.
    """

    dtype: Dtype = "float32"
    scale: bool = False

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        if not self.scale:
            return np.asarray(image).astype(self.dtype, copy=False)
        return convert(image, np.dtype(self.dtype), "ToDtype")

    apply_to_video = apply_to_image


def convert(image: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """The picture in another number type, with the same black and white."""
    array = np.asarray(image)
    source = array.dtype
    if source == dtype or (source.kind == "f" and dtype.kind == "f"):
        return array.astype(dtype, copy=False)
    if dtype.kind == "f":
        wide = np.result_type(dtype, np.float32)
        shares = array.astype(wide)
        shares *= wide.type(1 / brightest(source))  # a third of the time of the division
        return shares.astype(dtype, copy=False)
    if source.kind == "f":
        if dtype.itemsize > 2:
            raise DataError(f"{name} from {source} to {dtype} would lose the values: convert to uint8 or uint16")
        return shares_to_integers(array.astype("float32") if source.itemsize < 4 else array, dtype).astype(dtype)
    bits = int(brightest(dtype)).bit_length() - int(brightest(source)).bit_length()
    return array.astype(dtype) << bits if bits >= 0 else (array >> -bits).astype(dtype)
