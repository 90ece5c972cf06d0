"""Differences of neighboring pixels. Pictures are (height, width, channels), or several of them with axes in front."""

from __future__ import annotations

import cv2
import numpy as np

from labdl.errors import DataError


def image_gradients(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differences to the pixel below and to the right, zero in the last row and column.

    Source: tf.image.image_gradients.
    """
    values = as_signed(images)
    down, right = np.zeros_like(values), np.zeros_like(values)
    np.subtract(values[..., 1:, :, :], values[..., :-1, :, :], out=down[..., :-1, :, :])
    np.subtract(values[..., :, 1:, :], values[..., :, :-1, :], out=right[..., :, :-1, :])
    return down, right


def sobel(images: np.ndarray) -> np.ndarray:
    """Sobel gradients along the height and the width: another axis of 2 behind, float32; borders are mirrored.

    Source: tf.image.sobel_edges.
    """
    values = np.asarray(images)
    if values.ndim < 3:
        raise DataError(f"sobel wants pictures (…, height, width, channels), received the shape {values.shape}")
    flat = values.reshape(-1, *values.shape[-3:]).astype("float32")
    result = np.empty((*flat.shape, 2), "float32")
    for picture, edges in zip(flat, result, strict=True):
        for axis, order in enumerate(((0, 1), (1, 0))):
            edge = cv2.Sobel(picture, cv2.CV_32F, *order, ksize=3, borderType=cv2.BORDER_REFLECT_101)
            edges[..., axis] = edge.reshape(picture.shape)
    return result.reshape(*values.shape, 2)


def total_variation(images: np.ndarray) -> np.ndarray:
    """Sum of the absolute differences of neighboring pixels, one number for each picture.

    Source: tf.image.total_variation.
    """
    values = as_signed(images)
    down = np.abs(values[..., 1:, :, :] - values[..., :-1, :, :])
    right = np.abs(values[..., :, 1:, :] - values[..., :, :-1, :])
    return down.sum((-3, -2, -1)) + right.sum((-3, -2, -1))


def as_signed(images: np.ndarray) -> np.ndarray:
    """Pictures (…, height, width, channels) of a dtype with negative numbers: float32 for whole numbers."""
    values = np.asarray(images)
    if values.ndim < 3:
        raise DataError(f"pictures have axes (…, height, width, channels), received the shape {values.shape}")
    return values if values.dtype.kind == "f" else values.astype("float32")
