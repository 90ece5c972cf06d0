"""Formats of bounding boxes."""

from __future__ import annotations

import numpy as np

from labdl.errors import ConfigError


def convert_boxes(boxes: np.ndarray, source: str, target: str) -> np.ndarray:
    """Boxes (..., 4) in another format: "xyxy", "xywh" or "cxcywh". Raises ConfigError for other formats."""
    if source == target:
        return boxes
    a, b, c, d = (boxes[..., i] for i in range(4))
    if source == "xywh":
        corners = a, b, a + c, b + d
    elif source == "cxcywh":
        corners = a - c / 2, b - d / 2, a + c / 2, b + d / 2
    elif source == "xyxy":
        corners = a, b, c, d
    else:
        raise ConfigError(f'boxes have the format "xyxy", "xywh" or "cxcywh", received {source!r}')
    left, top, right, bottom = corners
    if target == "xyxy":
        found = corners
    elif target == "xywh":
        found = left, top, right - left, bottom - top
    elif target == "cxcywh":
        found = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
    else:
        raise ConfigError(f'boxes have the format "xyxy", "xywh" or "cxcywh", received {target!r}')
    return np.stack(found, -1)


def clip_boxes(corners: np.ndarray, canvas: tuple[int, int]) -> np.ndarray:
    """Boxes (..., 4) of the format "xyxy", clipped to a picture of (height, width)."""
    height, width = canvas
    return np.clip(corners, 0, np.array([width, height, width, height], corners.dtype))
