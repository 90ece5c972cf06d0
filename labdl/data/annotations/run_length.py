"""Masks of COCO: polygons and run lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.errors import DataError


def draw_polygons(polygons: Sequence[Any], size: tuple[int, int]) -> np.ndarray:
    """The pixels (height, width) uint8 whose center is inside of a polygon, each a list x1, y1, x2, y2 and so on.

    Coordinates are edges of pixels: the first pixel goes from 0 to 1. Raises DataError.
    """
    mask = np.zeros(size, np.uint8)
    for polygon in polygons:
        points = np.asarray(polygon, "float64").reshape(-1)
        if points.size < 6 or points.size % 2 or not np.isfinite(points).all():
            raise DataError(f"a polygon wants at least 3 points of two finite numbers, received {points.size} numbers")
        mask |= _inside(points.reshape(-1, 2), size)
    return mask


def _inside(points: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Even-odd rule: each crossing of an edge with the middle of a row toggles the pixels to the right of it."""
    height, width = size
    toggles = np.zeros((height, width + 1), np.int32)
    for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, 0), strict=True):
        first, last = (int(np.clip(np.ceil(y - 0.5), 0, height)) for y in sorted((y0, y1)))
        rows = np.arange(first, last)
        if rows.size:
            crossing = x0 + (rows + 0.5 - y0) * (x1 - x0) / (y1 - y0)
            np.add.at(toggles, (rows, np.clip(np.ceil(crossing - 0.5), 0, width).astype(int)), 1)
    return (np.cumsum(toggles, 1)[:, :width] % 2).astype(np.uint8)


def decode_run_length(encoding: Any, size: tuple[int, int]) -> np.ndarray:
    """The mask (height, width) uint8 of COCO's run lengths: {"size": [height, width], "counts": list or text}.

    Runs of zeros and ones alternate down the columns, zeros first. Raises DataError for runs that do not fill the picture.
    """
    if not isinstance(encoding, dict) or list(encoding.get("size", ())) != list(size):
        raise DataError(f"run lengths want the size {list(size)} of their picture, received {encoding!r:.80}")
    counts = encoding.get("counts")
    runs = np.asarray(_decode_text(counts) if isinstance(counts, str | bytes) else counts)
    total = size[0] * size[1]
    if runs.ndim != 1 or runs.dtype.kind not in "iu" or (runs < 0).any() or (runs > total).any() or runs.sum() != total:
        raise DataError(f"run lengths want whole numbers whose sum is {total:,}, the pixels of the picture")
    values = np.repeat(np.arange(len(runs)) % 2, runs)
    return values.astype(np.uint8).reshape(size[1], size[0]).T


def _decode_text(text: str | bytes) -> list[int]:
    """Numbers of COCO's text: five bits in a character, differences to the number before the last one."""
    numbers: list[int] = []
    value = shift = 0
    for character in text.encode("ascii", "replace") if isinstance(text, str) else text:
        bits = character - 48
        if not 0 <= bits < 64 or shift > 35:
            raise DataError("a text of run lengths has other characters than those of COCO")
        value |= (bits & 0x1F) << shift
        shift += 5
        if bits & 0x20:
            continue
        if bits & 0x10:
            value -= 1 << shift
        numbers.append(value + numbers[-2] if len(numbers) > 2 else value)
        value = shift = 0
    return numbers
