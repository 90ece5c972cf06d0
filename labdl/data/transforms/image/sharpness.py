"""Sharp and blurred pictures."""

from __future__ import annotations

from typing import Annotated, Any

import cv2
import numpy as np
from annotated_types import Ge, Gt, Le

from labdl.data.transforms.ranges import AmountRange, Range, check_order, draw, draw_integer
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import blend, from_float, to_float
from labdl.errors import ConfigError
from labdl.settings import Share

Width = Annotated[int, Ge(1)]
Sigma = Annotated[float, Gt(0)]
Skew = Annotated[float, Ge(-1), Le(1)]

_SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], "float32") / 13


@transform({"factor": (0.0, 2.0)})
class AdjustSharpness(Transform):
    """Blend with a blurred picture by a factor: 0 is blurred, 1 leaves the picture, 2 is sharper; a pair is a range.

    The outermost pixels stay. Source: torchvision.transforms.v2.RandomAdjustSharpness.
    """

    factor: AmountRange
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "factor")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"factor": draw(self.factor, rng)}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        if min(array.shape[:2]) <= 2:
            return array
        blurred = _filter(array, _SMOOTH)
        for edge in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
            blurred[edge] = array[edge]
        return blend(array, blurred, params["factor"])


@transform({"kernel_size": 5})
class GaussianBlur(Transform):
    """Blur with a Gaussian of ``sigma`` pixels; a pair is a range to draw from, None is 0.15 · kernel_size + 0.35.

    ``kernel_size`` is an odd number or (width, height). Borders are mirrored. Source: torchvision.transforms.v2.GaussianBlur.
    """

    kernel_size: Width | tuple[Width, Width]
    sigma: Sigma | tuple[Sigma, Sigma] | None = (0.1, 2.0)
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "sigma")
        if any(size % 2 == 0 for size in self._sizes()):
            raise ConfigError(f"GaussianBlur: kernel_size wants odd numbers, received {self.kernel_size}")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        sigma = None if self.sigma is None else draw(self.sigma, rng)
        return {"sigmas": [sigma or 0.15 * size + 0.35 for size in self._sizes()]}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        across, down = (_gaussian(size, sigma) for size, sigma in zip(self._sizes(), params["sigmas"], strict=True))
        blurred = cv2.sepFilter2D(to_float(array), -1, across, down, borderType=cv2.BORDER_REFLECT_101)
        return _back(blurred, array)

    def _sizes(self) -> tuple[int, int]:
        return self.kernel_size if isinstance(self.kernel_size, tuple) else (self.kernel_size, self.kernel_size)


@transform
class MotionBlur(Transform):
    """Blur along a line of ``kernel_size`` pixels (odd) at ``angle`` degrees, against the clock from the horizontal.

    ``direction`` of -1 to 1 puts more weight on one end of the line, 0 the same on all of it. Pairs are ranges.
    Source: kornia.augmentation.RandomMotionBlur.
    """

    kernel_size: Width | tuple[Width, Width] = (3, 11)
    angle: Range = (0.0, 360.0)
    direction: Skew | tuple[Skew, Skew] = 0.0
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "kernel_size", "angle", "direction")
        sizes = self.kernel_size if isinstance(self.kernel_size, tuple) else (self.kernel_size,)
        if any(size % 2 == 0 for size in sizes):
            raise ConfigError(f"MotionBlur: kernel_size wants odd numbers, received {self.kernel_size}")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        size = draw_integer(self.kernel_size, rng)
        return {
            "size": size if size % 2 else size - 1,
            "angle": draw(self.angle, rng),
            "direction": draw(self.direction, rng),
        }

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        return _filter(array, _line(params["size"], params["angle"], params["direction"]))


def _filter(array: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Correlation with a kernel, rounded half to even; borders are mirrored."""
    if array.dtype == np.uint8:
        return cv2.filter2D(array, -1, kernel, borderType=cv2.BORDER_REFLECT_101).reshape(array.shape)
    return _back(cv2.filter2D(to_float(array), -1, kernel, borderType=cv2.BORDER_REFLECT_101), array)


def _back(values: np.ndarray, array: np.ndarray) -> np.ndarray:
    values = values.reshape(array.shape)
    # a blur of normalized pictures keeps values outside of 0 to 1
    return (
        values.astype(array.dtype, copy=False)
        if array.dtype.kind == "f"
        else from_float(values, array.dtype, rounded=True)
    )


def _gaussian(size: int, sigma: float) -> np.ndarray:
    at = np.arange(size) - (size - 1) / 2
    weights = np.exp(-0.5 * (at / sigma) ** 2)
    return (weights / weights.sum()).astype("float32")


def _line(size: int, angle: float, direction: float) -> np.ndarray:
    kernel = np.zeros((size, size), "float32")
    kernel[size // 2] = np.linspace(1 + direction, 1 - direction, size)
    center = ((size - 1) / 2, (size - 1) / 2)
    turned = cv2.warpAffine(kernel, cv2.getRotationMatrix2D(center, angle, 1.0), (size, size), flags=cv2.INTER_LINEAR)
    return turned / turned.sum()
