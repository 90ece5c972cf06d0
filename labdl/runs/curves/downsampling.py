"""Downsampling of curves that preserves their outline."""

from __future__ import annotations

import numpy as np


def outline(values: np.ndarray, limit: int) -> np.ndarray:
    """Indices of at most ``limit`` values, 8 or more, in order: the first, the last, and the lowest and highest of equal parts.

    A part without finite values keeps one value, so that a gap remains visible.
    """
    count = len(values)
    if count <= limit:
        return np.arange(count)
    size = -(-(count - 2) // ((limit - 2) // 2))
    parts = -(-(count - 2) // size)
    padded = np.full(parts * size, np.nan)
    padded[: count - 2] = values[1:-1]
    rows = padded.reshape(parts, size)
    finite = np.isfinite(rows)
    begins = 1 + size * np.arange(parts)
    low = begins + np.where(finite, rows, np.inf).argmin(1)
    high = begins + np.where(finite, rows, -np.inf).argmax(1)
    return np.unique(np.concatenate([[0], low, high, [count - 1]]))


def band(x: np.ndarray, y: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The centers of equal parts of the values in ascending x, with the lowest and the highest finite value in each."""
    edges = np.unique(np.linspace(0, len(x), parts + 1).astype(int))[:-1]
    finite = np.isfinite(y)
    low = np.minimum.reduceat(np.where(finite, y, np.inf), edges)
    high = np.maximum.reduceat(np.where(finite, y, -np.inf), edges)
    ends = np.concatenate([edges[1:], [len(x)]]) - 1
    there = low <= high
    return ((x[edges] + x[ends]) / 2)[there], low[there], high[there]
