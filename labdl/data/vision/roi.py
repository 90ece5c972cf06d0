"""Features of regions."""

from __future__ import annotations

import math

import numpy as np


def roi_align(
    features: np.ndarray,
    boxes: np.ndarray,
    output_size: int | tuple[int, int],
    *,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> np.ndarray:
    """Mean features (N, channels, *output_size) of boxes (N, 4; "xyxy") of one picture's features (channels, height, width).

    ``spatial_scale`` is the size of the features over that of the picture. Each cell is the mean of ``sampling_ratio`` ×
    ``sampling_ratio`` positions, or as many as pixels with -1. ``aligned`` moves them by half a pixel, to where they are.
    Source: torchvision.ops.roi_align (He et al. 2017).
    """
    rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
    result = np.zeros((len(boxes), features.shape[0], rows, columns), features.dtype)
    shift = 0.5 if aligned else 0.0
    for cell, box in zip(result, np.asarray(boxes, "float64"), strict=True):
        left, top, right, bottom = box * spatial_scale - shift
        width, height = right - left, bottom - top
        if not aligned:
            width, height = max(width, 1.0), max(height, 1.0)
        y, rows_of = _axis(top, height, rows, features.shape[1], sampling_ratio)
        x, columns_of = _axis(left, width, columns, features.shape[2], sampling_ratio)
        cell[:] = np.einsum("rh,chw,kw->crk", rows_of @ y, features, columns_of @ x, optimize=True)
    return result


def _axis(start: float, length: float, cells: int, size: int, ratio: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (positions, size) of linear interpolation along an axis, and means (cells, positions) of the cells."""
    samples = ratio if ratio > 0 else math.ceil(length / cells)
    positions = start + (np.arange(cells * samples) + 0.5) * (length / (cells * max(samples, 1)))
    weights = np.zeros((len(positions), size))
    for weight, position in zip(weights, positions, strict=True):
        if position < -1 or position > size:
            continue
        low = min(max(position, 0.0), size - 1.0)
        at = min(int(low), size - 1)
        weight[at] += 1 - (low - at)
        if at + 1 < size:
            weight[at + 1] += low - at
    return weights, np.repeat(np.eye(cells), samples, 1) / max(samples, 1)
