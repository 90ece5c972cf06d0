"""An array in figures and in a picture: what a page shows instead of its values. NumPy only."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

BINS = 30
CHANNELS = 16  # of feature maps, as many as a person compares at a glance
SIDE = 64  # pixels of a picture's longer side
_LEAST = 8  # pixels: below, nothing can be made out


def figures(parts: Iterable[np.ndarray], *, shape: tuple[int, ...], dtype: str) -> dict[str, Any]:
    """Statistics and histogram of the values in ``parts``, which may be a sample of an array of that shape.

    ``counted`` of ``size`` values were looked at. Only finite ones count in mean, deviation, range and histogram; what
    cannot be said (of texts, say, or of no values) is None.
    """
    found = [part.reshape(-1) for part in parts]
    values = np.concatenate(found) if found else np.empty(0)
    answer: dict[str, Any] = {"shape": list(shape), "dtype": dtype, "size": math.prod(shape), "counted": len(values),
                              "mean": None, "std": None, "min": None, "max": None, "zeros": None, "not_finite": None,
                              "histogram": None}  # fmt: skip
    if values.dtype.kind not in "biufV" or not len(values):
        return answer
    with np.errstate(all="ignore"):  # numbers at the end of their range: what overflows is told as None
        values = values.astype("float64")
        finite = values[np.isfinite(values)]
        answer |= {
            "zeros": _number(1 - np.count_nonzero(values) / len(values)),
            "not_finite": len(values) - len(finite),
        }
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            answer |= {"mean": _number(finite.mean()), "std": _number(finite.std()), "min": _number(low),
                       "max": _number(high), "histogram": _histogram(finite, low, high)}  # fmt: skip
    return answer


def _histogram(values: np.ndarray, low: float, high: float) -> dict[str, Any] | None:
    width = high - low
    if width == 0:
        return {"low": _number(low), "high": _number(high), "counts": [len(values)]}
    if not math.isfinite(width):
        return None
    # NumPy's own refuses ranges that are too narrow for its bins
    places = np.minimum((values - low) / width * BINS, BINS - 1).astype(np.intp)
    return {"low": _number(low), "high": _number(high), "counts": np.bincount(places, minlength=BINS).tolist()}


def _number(value: float) -> float | None:
    """Six digits are more than anybody reads; JSON knows neither NaN nor infinity."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def picture(sample: np.ndarray, budget: int, *, channels_last: bool = False) -> dict[str, Any] | None:
    """Grey or coloured pixels of one sample, in at most ``budget`` bytes; None for what is no image.

    Shapes: (C, H, W) is an image with one or three channels, else feature maps of which the first are shown beside each
    other; (H, W) is one map. Black is the lowest and white the highest finite value. ``data`` holds the bytes of tile after
    tile, row after row, in base64.
    """
    if sample.ndim not in (2, 3) or sample.dtype.kind not in "biufV" or not sample.size:
        return None
    maps = sample[None] if sample.ndim == 2 else np.moveaxis(sample, -1, 0) if channels_last else sample
    channels, height, width = maps.shape
    if min(height, width) < 2:
        return None
    colours = 3 if channels == 3 else 1
    tiles = min(channels, CHANNELS, max(1, budget // _LEAST**2)) if colours == 1 else 1
    side = min(SIDE, math.isqrt(budget // (tiles * colours)))
    if side < _LEAST:
        return None
    scale = min(1.0, side / max(height, width))
    with np.errstate(all="ignore"):
        small = _reduced(_reduced(maps[: tiles * colours].astype("float64"), 1, scale), 2, scale)
        finite = small[np.isfinite(small)]
        if not len(finite):
            return None
        low, high = float(finite.min()), float(finite.max())
        if not math.isfinite(high - low):
            return None
        grey = np.nan_to_num((small - low) / ((high - low) or 1), nan=0.0, posinf=1.0, neginf=0.0)
    pixels = np.round(np.clip(grey, 0, 1) * 255).astype(np.uint8)
    if colours == 3:
        pixels = np.moveaxis(pixels, 0, -1)[None]
    return {"width": pixels.shape[2], "height": pixels.shape[1], "tiles": tiles, "channels": channels, "colours": colours,
            "low": _number(low), "high": _number(high),
            "data": base64.b64encode(pixels.tobytes()).decode("ascii")}  # fmt: skip


def _reduced(maps: np.ndarray, axis: int, scale: float) -> np.ndarray:
    """An axis made smaller by means of neighbours."""
    size = maps.shape[axis]
    starts = np.linspace(0, size, max(1, round(size * scale)), endpoint=False).astype(np.intp)
    counts = np.diff(starts, append=size)
    return np.add.reduceat(maps, starts, axis) / counts.reshape([-1 if a == axis else 1 for a in range(maps.ndim)])
