"""Masks of boxes as masks of their picture."""

from __future__ import annotations

import math

import numpy as np

from labdl.data.vision.resampling import resize


def paste_mask(mask: np.ndarray, box: np.ndarray, size: tuple[int, int], threshold: float = 0.5) -> np.ndarray:
    """The pixels (height, width) of a picture of this size where the probabilities (h, w) over a box exceed the threshold.

    ``box`` has x1, y1, x2, y2 in pixels. A border of zeros lets the mask end inside the box. Semantics: torchvision's
    paste_masks_in_image.
    """
    grown = (np.array(mask.shape) + 2) / np.array(mask.shape)
    half = (box[2:] - box[:2]) / 2 * grown[::-1]
    center = (box[:2] + box[2:]) / 2
    left, top, right, bottom = (math.trunc(n) for n in (*(center - half), *(center + half)))
    height, width = max(bottom - top + 1, 1), max(right - left + 1, 1)
    pixels = resize(np.pad(mask, 1)[:, :, None].astype("float32"), (height, width), antialias=False)[:, :, 0]
    image = np.zeros(size, bool)
    first, last = (max(top, 0), max(left, 0)), (min(bottom + 1, size[0]), min(right + 1, size[1]))
    inner = pixels[first[0] - top : last[0] - top, first[1] - left : last[1] - left]
    image[first[0] : last[0], first[1] : last[1]] = inner > threshold
    return image
