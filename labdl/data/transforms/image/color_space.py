"""Grey pictures and other colour spaces."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import cv2
import numpy as np
from annotated_types import Ge

from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import brightest, check_color, from_float, grey, to_float
from labdl.errors import ConfigError, DataError
from labdl.settings import Share

Space = Literal["RGB", "BGR", "RGBA", "BGRA", "GRAY", "HSV", "YUV", "YIQ", "Lab"]

# rows are the components of NTSC: brightness, and two differences of colour
_YUV = np.array(
    [
        [0.299, 0.587, 0.114],
        [-0.14714119, -0.28886916, 0.43601035],
        [0.61497538, -0.51496512, -0.10001026],
    ]
)
_YIQ = np.array(
    [
        [0.299, 0.587, 0.114],
        [0.59590059, -0.27455667, -0.32134392],
        [0.21153661, -0.52273617, 0.31119955],
    ]
)
_DEGREES = np.array([360, 1, 1], "float32")  # OpenCV has the hue in degrees
_CHANNELS = {"RGBA": 4, "BGRA": 4, "GRAY": 1}


@transform
class Grayscale(Transform):
    """Grey values 0.2989 R + 0.587 G + 0.114 B in one channel, or the same in three.

    Source: torchvision.transforms.v2.Grayscale and RandomGrayscale.
    """

    num_output_channels: Literal[1, 3] = 1
    p: Share = 1.0

    def check_settings(self) -> None:
        if self.p < 1 and self.num_output_channels == 1:
            raise ConfigError(
                "Grayscale with p < 1 wants num_output_channels=3, so that all pictures have the same shape"
            )

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        values = grey(image, type(self).__name__)
        return values if self.num_output_channels == 1 else np.repeat(values, 3, -1)


@transform
class GrayscaleToRGB(Transform):
    """Repeat the channel of grey pictures three times; those of 3 channels stay. Source: torchvision.transforms.v2.RGB."""

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        return np.repeat(array, 3, -1) if check_color(array, type(self).__name__) == 1 else array

    apply_to_video = apply_to_image


@transform({"source": "RGB", "target": "HSV"})
class ConvertColor(Transform):
    """Convert from one colour space to another.

    RGB, BGR, RGBA, BGRA and GRAY keep the dtype. HSV (each 0 to 1), YUV and YIQ (Y 0 to 1, differences around 0) and Lab
    (L 0 to 100, a and b about -128 to 127; daylight) are float32, and so are the colours computed from them.
    Source: tf.image.rgb_to_hsv, rgb_to_yuv, rgb_to_yiq and cv2.cvtColor.
    """

    source: Space
    target: Space

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        channels = _CHANNELS.get(self.source, 3)
        if array.shape[-1] != channels:
            raise DataError(
                f"ConvertColor from {self.source} wants pictures of {channels} channels, received the shape {array.shape}"
            )
        if self.source == self.target:
            return array
        return _from_rgb(_to_rgb(array, self.source), self.target)


@transform
class PCALighting(Transform):
    """Add a random multiple of the principal components of colour, as for AlexNet.

    The multiples are normal with the deviation ``alpha``; the defaults of ``eigenvalues`` (of colours 0 to 1) and
    ``eigenvectors`` (in columns) are those of ImageNet.
    Source: Krizhevsky et al. 2012; mindspore.dataset.vision.RandomLighting.
    """

    alpha: Annotated[float, Ge(0)] = 0.1
    eigenvalues: tuple[float, float, float] = (0.2175, 0.0188, 0.0045)
    eigenvectors: tuple[tuple[float, float, float], ...] = (
        (-0.5675, 0.7192, 0.4009),
        (-0.5808, -0.0045, -0.8140),
        (-0.5836, -0.6948, 0.4203),
    )
    p: Share = 1.0

    def check_settings(self) -> None:
        if len(self.eigenvectors) != 3:
            raise ConfigError(
                f"PCALighting: eigenvectors wants 3 rows of 3 numbers, received {len(self.eigenvectors)} rows"
            )

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        amounts = rng.normal(0, self.alpha, 3) * self.eigenvalues
        return {"shift": np.array(self.eigenvectors) @ amounts}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        if array.shape[-1] != 3:
            raise DataError(f"PCALighting wants pictures of 3 channels (RGB), received the shape {array.shape}")
        values = to_float(array)
        shift = (params["shift"] * brightest(array.dtype)).astype(values.dtype)
        return from_float(values + shift, array.dtype, rounded=True)

    apply_to_video = apply_to_image


# -- through RGB


def _to_rgb(array: np.ndarray, source: str) -> np.ndarray:
    if source == "RGB":
        return array
    if source == "BGR":
        return np.ascontiguousarray(array[..., ::-1])
    if source in ("RGBA", "BGRA"):
        return np.ascontiguousarray(array[..., [0, 1, 2] if source == "RGBA" else [2, 1, 0]])
    if source == "GRAY":
        return np.repeat(array, 3, -1)
    values = array.astype("float32", copy=False)
    if source == "HSV":
        return cv2.cvtColor((values * _DEGREES).astype("float32"), cv2.COLOR_HSV2RGB)
    if source == "Lab":
        return _lab_to_rgb(values)
    return cv2.transform(values, np.linalg.inv(_YUV if source == "YUV" else _YIQ))


def _from_rgb(array: np.ndarray, target: str) -> np.ndarray:
    if target == "RGB":
        return array
    if target == "BGR":
        return np.ascontiguousarray(array[..., ::-1])
    if target in ("RGBA", "BGRA"):
        colors = array if target == "RGBA" else array[..., ::-1]
        white = np.full((*array.shape[:-1], 1), brightest(array.dtype), array.dtype)
        return np.concatenate([colors, white], -1)
    if target == "GRAY":
        return grey(array, "ConvertColor")
    values = np.asarray(array, "float32")
    if array.dtype.kind != "f":
        values = values / np.float32(brightest(array.dtype))
    if target == "HSV":
        return cv2.cvtColor(values, cv2.COLOR_RGB2HSV) / _DEGREES
    if target == "Lab":
        return _rgb_to_lab(values)
    return cv2.transform(values, _YUV if target == "YUV" else _YIQ)


# OpenCV reads Lab of floats from a coarse table, off by 0.3: these are the definitions of CIE 1976 and sRGB
_XYZ = np.array([[0.412453, 0.35758, 0.180423], [0.212671, 0.71516, 0.072169], [0.019334, 0.119193, 0.950227]])
_DAYLIGHT = np.array([0.950456, 1.0, 1.088754])
_SMALL, _SLOPE = 216 / 24389, 24389 / 27


def _rgb_to_lab(values: np.ndarray) -> np.ndarray:
    linear = np.where(values <= 0.04045, values / 12.92, ((np.maximum(values, 0) + 0.055) / 1.055) ** 2.4)
    ratio = linear @ (_XYZ / _DAYLIGHT[:, None]).T
    x, y, z = np.moveaxis(np.where(ratio > _SMALL, np.cbrt(ratio), (_SLOPE * ratio + 16) / 116), -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1).astype("float32")


def _lab_to_rgb(values: np.ndarray) -> np.ndarray:
    lightness, a, b = np.moveaxis(values.astype("float64"), -1, 0)
    y = (lightness + 16) / 116
    roots = np.stack([y + a / 500, y, y - b / 200], -1)
    ratio = np.where(roots**3 > _SMALL, roots**3, (116 * roots - 16) / _SLOPE)
    linear = ratio @ np.linalg.inv(_XYZ / _DAYLIGHT[:, None]).T
    shares = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)
    return np.clip(shares, 0, 1).astype("float32")
