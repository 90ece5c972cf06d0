"""Compact previews of arrays for display: images, class maps and curves. NumPy only."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from labdl.runs.reading.values import round_digits

CHANNELS = 16  # feature maps shown at most
SIDE = 64  # pixels of the longer side of an image
POINTS, LINES = 256, 4  # of a curve
_LEAST = 8  # pixels: smaller images are not readable


def number(value: float) -> float | None:
    """Round to six digits; None for NaN and infinity, which JSON lacks."""
    return round_digits(value, 6) if math.isfinite(value) else None


def picture(sample: np.ndarray, budget: int, *, channels_last: bool = False) -> dict[str, Any] | None:
    """Gray or colored pixels of one sample, in at most ``budget`` bytes; None for what is not an image.

    Shapes: (C, H, W) is an image with one or three channels, else feature maps, the first of which are shown side by
    side; (H, W) is one map. Black is the lowest and white the highest finite value. ``data`` holds the bytes tile by
    tile, row by row, in base64.
    """
    if sample.ndim not in (2, 3) or sample.dtype.kind not in "biufV" or not sample.size:
        return None
    maps = sample[None] if sample.ndim == 2 else np.moveaxis(sample, -1, 0) if channels_last else sample
    channels, height, width = maps.shape
    if min(height, width) < 2:
        return None
    colors = 3 if channels == 3 else 1
    tiles = min(channels, CHANNELS, max(1, budget // _LEAST**2)) if colors == 1 else 1
    side = min(SIDE, math.isqrt(budget // (tiles * colors)))
    if side < _LEAST:
        return None
    scale = min(1.0, side / max(height, width))
    with np.errstate(all="ignore"):
        small = _shrink(_shrink(maps[: tiles * colors].astype("float64"), 1, scale), 2, scale)
        finite = small[np.isfinite(small)]
        if not len(finite):
            return None
        low, high = float(finite.min()), float(finite.max())
        if not math.isfinite(high - low):
            return None
        gray = np.nan_to_num((small - low) / ((high - low) or 1), nan=0.0, posinf=1.0, neginf=0.0)
    pixels = np.round(np.clip(gray, 0, 1) * 255).astype(np.uint8)
    if colors == 3:
        pixels = np.moveaxis(pixels, 0, -1)[None]
    return {
        "width": pixels.shape[2],
        "height": pixels.shape[1],
        "tiles": tiles,
        "channels": channels,
        "colors": colors,
        "low": number(low),
        "high": number(high),
        "data": base64.b64encode(pixels.tobytes()).decode("ascii"),
    }


def class_map(sample: np.ndarray, budget: int, classes: int) -> dict[str, Any] | None:
    """Class indices (H, W) as an image, in at most ``budget`` bytes: black is class 0, white the last class.

    Pixels are dropped to make it smaller: class indices cannot be averaged.
    """
    if sample.ndim != 2 or sample.dtype.kind not in "biu" or min(sample.shape) < 2:
        return None
    side = min(SIDE, math.isqrt(budget))
    step = max(1, -(-max(sample.shape) // side))
    small = np.clip(sample[::step, ::step].astype("float64") / max(classes - 1, 1), 0, 1)
    pixels = np.round(small * 255).astype(np.uint8)
    return {
        "width": pixels.shape[1],
        "height": pixels.shape[0],
        "tiles": 1,
        "channels": 1,
        "colors": 1,
        "low": 0.0,
        "high": float(classes - 1),
        "data": base64.b64encode(pixels.tobytes()).decode("ascii"),
    }


def curve(sample: np.ndarray, points: int = POINTS) -> list[list[float | None]]:
    """The first channels of a signal (C, L) or (L,); of a long one the minimum and maximum of each part."""
    lines = (sample[None] if sample.ndim == 1 else sample)[:LINES].astype("float64")
    return [[number(value) for value in _downsample(line, points)] for line in lines]


def _downsample(line: np.ndarray, points: int) -> np.ndarray:
    if len(line) <= points:
        return line
    parts = np.array_split(line, points // 2)
    known = [part if np.isfinite(part).any() else np.zeros(1) * np.nan for part in parts]
    ends = [(int(np.nanargmin(part)), int(np.nanargmax(part))) if np.isfinite(part).any() else (0, 0) for part in known]
    return np.concatenate([part[sorted(pair)] for part, pair in zip(known, ends, strict=True)])


def _shrink(maps: np.ndarray, axis: int, scale: float) -> np.ndarray:
    """Shrink an axis by averaging neighbors."""
    size = maps.shape[axis]
    starts = np.linspace(0, size, max(1, round(size * scale)), endpoint=False).astype(np.intp)
    counts = np.diff(starts, append=size)
    return np.add.reduceat(maps, starts, axis) / counts.reshape([-1 if a == axis else 1 for a in range(maps.ndim)])
