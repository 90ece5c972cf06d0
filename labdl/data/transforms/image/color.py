"""Brightness, contrast, saturation, hue and gamma of pictures."""

from __future__ import annotations

from typing import Annotated, Any

import cv2
import numpy as np
from annotated_types import Ge, Le

from labdl.data.transforms.ranges import AmountRange, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import (
    blend,
    brightest,
    check_color,
    from_float,
    grey,
    map_shares,
    shares_to_integers,
)
from labdl.errors import ConfigError, DataError
from labdl.settings import Amount, Share

Turn = Annotated[float, Ge(-0.5), Le(0.5)]
TurnRange = Turn | tuple[Turn, Turn]


class _Adjustment(Transform):
    """One factor for all parts of a sample."""

    factor: Any

    def check_settings(self) -> None:
        check_order(self, "factor")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"factor": draw(self.factor, rng)}


@transform({"factor": (0.8, 1.2)})
class AdjustBrightness(_Adjustment):
    """Multiply by a factor: 0 is black, 1 leaves the picture, a pair is a range to draw from.

    Source: torchvision.transforms.v2.functional.adjust_brightness.
    """

    factor: AmountRange
    p: Share = 1.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return blend(image, 0.0, params["factor"])

    apply_to_video = apply_to_image


@transform({"factor": (0.5, 1.5)})
class AdjustContrast(_Adjustment):
    """Move values away from the mean grey by a factor: 0 is one grey, 1 leaves the picture, a pair is a range.

    Pictures have 1 or 3 channels. Source: torchvision.transforms.v2.functional.adjust_contrast.
    """

    factor: AmountRange
    p: Share = 1.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return adjust_contrast(image, params["factor"], type(self).__name__)


@transform({"factor": (0.5, 1.5)})
class AdjustSaturation(_Adjustment):
    """Move colours away from grey by a factor: 0 is grey, 1 leaves the picture, a pair is a range.

    Pictures have 3 channels; grey ones (1 channel) stay. Source: torchvision.transforms.v2.functional.adjust_saturation.
    """

    factor: AmountRange
    p: Share = 1.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return adjust_saturation(image, params["factor"], type(self).__name__)


@transform({"factor": (-0.1, 0.1)})
class AdjustHue(_Adjustment):
    """Turn the hue by a part of the colour circle, -0.5 to 0.5; a pair is a range.

    Pictures have 3 channels; grey ones (1 channel) stay. Source: torchvision.transforms.v2.functional.adjust_hue.
    """

    factor: TurnRange
    p: Share = 1.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return adjust_hue(image, params["factor"], type(self).__name__)


@transform({"gamma": (0.7, 1.4)})
class AdjustGamma(Transform):
    """Raise values, as shares of white, to the power ``gamma`` and multiply by ``gain``; pairs are ranges.

    Above 1 shadows become darker, below 1 lighter. Source: torchvision.transforms.v2.functional.adjust_gamma.
    """

    gamma: AmountRange
    gain: AmountRange = 1.0
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "gamma", "gain")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"gamma": draw(self.gamma, rng), "gain": draw(self.gain, rng)}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        def power(shares: np.ndarray) -> np.ndarray:
            try:
                with np.errstate(invalid="raise"):
                    powers = np.power(shares, params["gamma"], dtype=shares.dtype)
            except FloatingPointError:
                raise DataError(
                    "AdjustGamma wants pixels of at least 0, received negative ones: put it before T.Normalize"
                ) from None
            return powers * shares.dtype.type(params["gain"])

        return map_shares(image, power)

    apply_to_video = apply_to_image


@transform({"brightness": 0.2, "contrast": 0.2, "saturation": 0.2, "hue": 0.05})
class ColorJitter(Transform):
    """Change brightness, contrast, saturation and hue by random factors in random order.

    A number x is the range (1 - x, 1 + x), for ``hue`` (-x, x); a pair is the range itself; 0 leaves it.
    Source: torchvision.transforms.v2.ColorJitter.
    """

    brightness: AmountRange = 0.0
    contrast: AmountRange = 0.0
    saturation: AmountRange = 0.0
    hue: TurnRange = 0.0
    p: Share = 1.0

    def check_settings(self) -> None:
        check_order(self, "brightness", "contrast", "saturation", "hue")
        if not isinstance(self.hue, tuple) and self.hue < 0:
            raise ConfigError(f"ColorJitter: hue wants a number of 0 to 0.5 or a pair, received {self.hue}")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        steps = []
        for at in rng.permutation(4):
            name = ("brightness", "contrast", "saturation", "hue")[at]
            value, center = getattr(self, name), 0.0 if name == "hue" else 1.0
            if not isinstance(value, tuple):
                value = (center - value if name == "hue" else max(0.0, center - value), center + value)
            if value != (center, center):
                steps.append((name, draw(value, rng)))
        return {"steps": steps}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return _adjust(image, params["steps"], type(self).__name__)


@transform
class PhotometricDistort(Transform):
    """Change brightness, contrast, saturation and hue and permute channels, each with the probability ``p``.

    Contrast comes before or after saturation and hue, at random. Source: torchvision.transforms.v2.RandomPhotometricDistort.
    """

    brightness: tuple[Amount, Amount] = (0.875, 1.125)
    contrast: tuple[Amount, Amount] = (0.5, 1.5)
    saturation: tuple[Amount, Amount] = (0.5, 1.5)
    hue: tuple[Turn, Turn] = (-0.05, 0.05)
    p: Share = 0.5

    def check_settings(self) -> None:
        check_order(self, "brightness", "contrast", "saturation", "hue")

    def is_skipped(self, rng: np.random.Generator) -> bool:
        return False  # p is for each change

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        names = ["brightness", "saturation", "hue"]
        names.insert(1 if rng.random() < 0.5 else 3, "contrast")
        steps = [(name, draw(getattr(self, name), rng)) for name in names if rng.random() < self.p]
        order = rng.permutation(part.shape[-1]) if rng.random() < self.p else None
        return {"steps": steps, "order": order}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        changed = _adjust(image, params["steps"], type(self).__name__)
        order = params["order"]
        if order is None:
            return changed
        check_color(changed, type(self).__name__)
        return np.ascontiguousarray(np.asarray(changed)[..., order[order < changed.shape[-1]]])


# -- functions of one picture


def adjust_contrast(image: np.ndarray, factor: float, name: str) -> np.ndarray:
    """Blend with the mean grey; ``name`` is the transform in messages."""
    return blend(image, float(np.mean(grey(image, name), dtype="float64")), factor)


def adjust_saturation(image: np.ndarray, factor: float, name: str) -> np.ndarray:
    """Blend with the grey picture."""
    if check_color(image, name) == 1:
        return image
    values = grey(image, name)[..., 0]
    return blend(image, cv2.merge((values, values, values)), factor)


def adjust_hue(image: np.ndarray, turn: float, name: str) -> np.ndarray:
    """Turn the hue by a part of the circle."""
    if check_color(image, name) == 1:
        return image
    array = np.asarray(image)
    whole, white = array.dtype.kind != "f", brightest(array.dtype)
    shares = np.divide(array, np.float32(white), dtype="float32") if whole else array.astype("float32", copy=False)
    hsv = cv2.cvtColor(shares, cv2.COLOR_RGB2HSV)
    hue = hsv[..., 0]
    hue += np.float32(turn * 360)
    hue[hue < 0] += 360
    hue[hue >= 360] -= 360
    turned = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    if whole:
        return from_float(shares_to_integers(turned, array.dtype), array.dtype)
    return turned.astype(array.dtype, copy=False)


def _adjust_brightness(image: np.ndarray, factor: float, name: str) -> np.ndarray:
    return blend(image, 0.0, factor)


def _adjust(image: np.ndarray, steps: list[tuple[str, float]], owner: str) -> np.ndarray:
    for name, factor in steps:
        image = _STEPS[name](image, factor, owner)
    return image


_STEPS = {
    "brightness": _adjust_brightness,
    "contrast": adjust_contrast,
    "saturation": adjust_saturation,
    "hue": adjust_hue,
}
