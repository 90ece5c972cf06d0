"""Noise and the traces of compression."""

from __future__ import annotations

import io
from typing import Annotated, Any

import numpy as np
import PIL.Image
from annotated_types import Ge, Le

from labdl.data.transforms.ranges import AmountRange, check_order, draw, draw_integer
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import brightest, check_color, from_float, shares_to_integers, to_float
from labdl.settings import Share

Quality = Annotated[int, Ge(1), Le(100)]


@transform
class GaussianNoise(Transform):
    """Add normal noise of ``mean`` and deviation ``sigma`` as shares of white; a pair for ``sigma`` is a range.

    ``clip`` keeps floating-point pictures within 0 to 1. Frames of a clip have different noise.
    Source: torchvision.transforms.v2.GaussianNoise.
    """

    mean: float = 0.0
    sigma: AmountRange = 0.1
    clip: bool = True
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "sigma")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"sigma": draw(self.sigma, rng), "seed": int(rng.integers(1 << 62))}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        white = brightest(array.dtype)
        noise = np.random.default_rng(params["seed"]).standard_normal(array.shape, "float32")
        noise *= np.float32(params["sigma"] * white)
        if self.mean:
            noise += np.float32(self.mean * white)
        noisy = to_float(array) + noise
        if array.dtype.kind == "f" and not self.clip:
            return noisy.astype(array.dtype, copy=False)
        return from_float(noisy, array.dtype, rounded=True)

    apply_to_video = apply_to_image


@transform
class JPEGQuality(Transform):
    """Encode as JPEG of ``quality`` 1 to 100 and decode; a pair is a range. Floating-point pictures go through uint8.

    Pictures have 1 or 3 channels; colour is stored at half resolution. Source: torchvision.transforms.v2.JPEG.
    """

    quality: Quality | tuple[Quality, Quality] = (50, 100)
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "quality")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"quality": draw_integer(self.quality, rng)}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        colors = "RGB" if check_color(array, type(self).__name__) == 3 else "L"
        white = brightest(array.dtype)
        levels = array
        if array.dtype != np.uint8:
            levels = shares_to_integers(to_float(array) / to_float(array[:0]).dtype.type(white), np.dtype("uint8"))
        picture = levels.astype("uint8", copy=False)
        content = io.BytesIO()
        PIL.Image.fromarray(np.squeeze(picture, -1) if colors == "L" else picture).save(
            content, "JPEG", quality=params["quality"]
        )
        content.seek(0)
        decoded = np.asarray(PIL.Image.open(content)).reshape(array.shape)
        if array.dtype == np.uint8:
            return decoded
        return from_float(to_float(decoded) * np.float32(white / 255), array.dtype, rounded=True)
