"""Policies of AutoAugment and the ranges of their operations, as published and as torchvision has them."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

from labdl.data.parts import Canvas
from labdl.data.transforms.general.compose import Identity
from labdl.data.transforms.image.color import AdjustBrightness, AdjustContrast, AdjustSaturation
from labdl.data.transforms.image.levels import AutoContrast, Equalize, Invert, Posterize, Solarize
from labdl.data.transforms.image.rotate import Affine, Rotate
from labdl.data.transforms.image.sharpness import AdjustSharpness
from labdl.data.transforms.transform import Transform

SIGNED = {"ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness"}
PLAIN = {"Identity": Identity, "AutoContrast": AutoContrast, "Equalize": Equalize, "Invert": Invert}
FACTORS = {
    "Brightness": AdjustBrightness,
    "Color": AdjustSaturation,
    "Contrast": AdjustContrast,
    "Sharpness": AdjustSharpness,
}
GEOMETRY = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate")
TONES = ("Posterize", "Solarize", "AutoContrast", "Equalize")


@dataclasses.dataclass(frozen=True)
class Limits:
    """Largest magnitudes: shear as a tangent, ``translate`` as a share of the side or in ``pixels``, degrees, bits."""

    shear: float = 0.3
    translate: float = 150 / 331
    pixels: float | None = None
    degrees: float = 30.0
    factor: float = 0.9
    bits: tuple[int, int] = (8, 4)  # at the smallest magnitude, and how many less at the largest

    def magnitude(self, name: str, share: float, canvas: Canvas) -> float:
        """The magnitude of an operation at a share 0 to 1 of its range, without sign."""
        if name in ("ShearX", "ShearY"):
            return self.shear * share
        if name in ("TranslateX", "TranslateY"):
            side = canvas[1] if name == "TranslateX" else canvas[0]
            return share * (self.translate * side if self.pixels is None else self.pixels)
        if name == "Rotate":
            return self.degrees * share
        if name in FACTORS:
            return self.factor * share
        if name == "Posterize":
            return self.bits[0] - round(self.bits[1] * share)
        return 1 - share if name == "Solarize" else 0.0


def operation(name: str, magnitude: float, canvas: Canvas, white: float, interpolation: Any, fill: Any) -> Transform:
    """The transform of an operation; ``white`` is the largest value of the picture."""
    if name == "TranslateX":
        magnitude = int(magnitude) / canvas[1]
    elif name == "TranslateY":
        magnitude = int(magnitude) / canvas[0]
    elif name == "Solarize":
        magnitude *= white
    return _operation(name, magnitude, interpolation, fill)


@functools.lru_cache(maxsize=4096)
def _operation(name: str, magnitude: float, interpolation: Any, fill: Any) -> Transform:
    warp = {"interpolation": interpolation, "fill": fill}
    if name in PLAIN:
        return PLAIN[name]()
    if name in FACTORS:
        return FACTORS[name](factor=1.0 + magnitude)
    if name == "Posterize":
        return Posterize(bits=int(magnitude))
    if name == "Solarize":
        return Solarize(threshold=magnitude)
    if name == "Rotate":
        return Rotate(degrees=magnitude, **warp)
    if name == "TranslateX":
        return Affine(translate=(magnitude, 0.0), **warp)
    if name == "TranslateY":
        return Affine(translate=(0.0, magnitude), **warp)
    degrees = math.degrees(math.atan(magnitude))
    return Affine(shear=(degrees, 0.0) if name == "ShearX" else (0.0, degrees), center=(0.0, 0.0), **warp)


def _parse(text: str) -> tuple[tuple[tuple[str, float, int], ...], ...]:
    """Subpolicies, one a line: name, probability and magnitude (0 to 9) of each operation."""
    policies = []
    for line in text.strip().splitlines():
        words = line.split()
        policies.append(tuple((words[i], float(words[i + 1]), int(words[i + 2])) for i in (0, 3)))
    return tuple(policies)


AUTO_POLICIES = {
    "imagenet": _parse("""
        Posterize 0.4 8 Rotate 0.6 9
        Solarize 0.6 5 AutoContrast 0.6 0
        Equalize 0.8 0 Equalize 0.6 0
        Posterize 0.6 7 Posterize 0.6 6
        Equalize 0.4 0 Solarize 0.2 4
        Equalize 0.4 0 Rotate 0.8 8
        Solarize 0.6 3 Equalize 0.6 0
        Posterize 0.8 5 Equalize 1.0 0
        Rotate 0.2 3 Solarize 0.6 8
        Equalize 0.6 0 Posterize 0.4 6
        Rotate 0.8 8 Color 0.4 0
        Rotate 0.4 9 Equalize 0.6 0
        Equalize 0.0 0 Equalize 0.8 0
        Invert 0.6 0 Equalize 1.0 0
        Color 0.6 4 Contrast 1.0 8
        Rotate 0.8 8 Color 1.0 2
        Color 0.8 8 Solarize 0.8 7
        Sharpness 0.4 7 Invert 0.6 0
        ShearX 0.6 5 Equalize 1.0 0
        Color 0.4 0 Equalize 0.6 0
        Equalize 0.4 0 Solarize 0.2 4
        Solarize 0.6 5 AutoContrast 0.6 0
        Invert 0.6 0 Equalize 1.0 0
        Color 0.6 4 Contrast 1.0 8
        Equalize 0.8 0 Equalize 0.6 0
    """),
    "cifar10": _parse("""
        Invert 0.1 0 Contrast 0.2 6
        Rotate 0.7 2 TranslateX 0.3 9
        Sharpness 0.8 1 Sharpness 0.9 3
        ShearY 0.5 8 TranslateY 0.7 9
        AutoContrast 0.5 0 Equalize 0.9 0
        ShearY 0.2 7 Posterize 0.3 7
        Color 0.4 3 Brightness 0.6 7
        Sharpness 0.3 9 Brightness 0.7 9
        Equalize 0.6 0 Equalize 0.5 0
        Contrast 0.6 7 Sharpness 0.6 5
        Color 0.7 7 TranslateX 0.5 8
        Equalize 0.3 0 AutoContrast 0.4 0
        TranslateY 0.4 3 Sharpness 0.2 6
        Brightness 0.9 6 Color 0.2 8
        Solarize 0.5 2 Invert 0.0 0
        Equalize 0.2 0 AutoContrast 0.6 0
        Equalize 0.2 0 Equalize 0.6 0
        Color 0.9 9 Equalize 0.6 0
        AutoContrast 0.8 0 Solarize 0.2 8
        Brightness 0.1 3 Color 0.7 0
        Solarize 0.4 5 AutoContrast 0.9 0
        TranslateY 0.9 9 TranslateY 0.7 9
        AutoContrast 0.9 0 Solarize 0.8 3
        Equalize 0.8 0 Invert 0.1 0
        TranslateY 0.7 9 AutoContrast 0.9 0
    """),
    "svhn": _parse("""
        ShearX 0.9 4 Invert 0.2 0
        ShearY 0.9 8 Invert 0.7 0
        Equalize 0.6 0 Solarize 0.6 6
        Invert 0.9 0 Equalize 0.6 0
        Equalize 0.6 0 Rotate 0.9 3
        ShearX 0.9 4 AutoContrast 0.8 0
        ShearY 0.9 8 Invert 0.4 0
        ShearY 0.9 5 Solarize 0.2 6
        Invert 0.9 0 AutoContrast 0.8 0
        Equalize 0.6 0 Rotate 0.9 3
        ShearX 0.9 4 Solarize 0.3 3
        ShearY 0.8 8 Invert 0.7 0
        Equalize 0.9 0 TranslateY 0.6 6
        Invert 0.9 0 Equalize 0.6 0
        Contrast 0.3 3 Rotate 0.8 4
        Invert 0.8 0 TranslateY 0.0 2
        ShearY 0.7 6 Solarize 0.4 8
        Invert 0.6 0 Rotate 0.8 4
        ShearY 0.3 7 TranslateX 0.9 3
        ShearX 0.1 6 Invert 0.6 0
        Solarize 0.7 2 TranslateY 0.6 7
        ShearY 0.8 4 Invert 0.8 0
        ShearX 0.7 9 TranslateY 0.8 3
        ShearY 0.8 5 AutoContrast 0.7 0
        ShearX 0.7 2 Invert 0.1 0
    """),
}
