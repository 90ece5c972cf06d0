"""Pictures read at other positions: rotated, sheared, seen in perspective, bent."""

from __future__ import annotations

import math
from typing import Literal

import cv2
import numpy as np

from labdl.data.vision.padding import Fill, fill_values

WarpInterpolation = Literal["nearest", "bilinear"]
Rows = tuple[np.ndarray, np.ndarray]

_GATHERED = ("uint8", "uint16", "int16", "float32", "float64")  # dtypes of OpenCV's functions
_LONGEST = 32000  # positions of cv2.remap are 16 bit
_BLOCK = 16384  # pixels of the result at a time, whose numbers stay in the processor's cache
_MARGIN = 2  # pixels of fill around the picture: the neighbors of all positions are inside


class Maps:
    """The positions (x, y) of a picture that the pixels of a result of ``size`` (height, width) read.

    Position 0 is the center of the first pixel.
    """

    size: tuple[int, int]

    def rows(self, first: int, last: int) -> Rows:
        """x and y of the rows from ``first`` to below ``last``: new floating-point arrays (rows, width)."""
        raise NotImplementedError


class ArrayMaps(Maps):
    """Positions in arrays x and y (height, width)."""

    def __init__(self, x: np.ndarray, y: np.ndarray):
        self.x, self.y, self.size = x, y, (x.shape[0], x.shape[1])

    def rows(self, first: int, last: int) -> Rows:
        return np.array(self.x[first:last]), np.array(self.y[first:last])


class MatrixMaps(Maps):
    """Positions by a matrix (3, 3) that moves the picture to the result.

    Points of the matrix have their origin at the corner of the picture.
    """

    def __init__(self, matrix: np.ndarray, size: tuple[int, int]):
        self.size = size
        inverse = np.linalg.inv(matrix)
        self._affine = np.array_equal(inverse[2], (0, 0, 1))
        columns = np.arange(size[1]) + 0.5
        self._rows = [inverse[i, 1] * (np.arange(size[0])[:, None] + 0.5) + inverse[i, 2] for i in range(3)]
        self._columns = [inverse[i, 0] * columns for i in range(3)]
        if self._affine:
            self._columns = [numbers - 0.5 for numbers in self._columns]

    def rows(self, first: int, last: int) -> Rows:
        x, y = (np.add(self._rows[i][first:last], self._columns[i]) for i in (0, 1))
        if not self._affine:
            z = np.add(self._rows[2][first:last], self._columns[2])
            x /= z
            y /= z
            x -= 0.5
            y -= 0.5
        return x, y


def warp(image: np.ndarray, maps: Maps, *, interpolation: WarpInterpolation = "bilinear", fill: Fill = 0) -> np.ndarray:
    """A picture (height, width, channels) read at the positions of ``maps``.

    Beyond the picture there is ``fill``, with which border pixels are blended.
    """
    height, width, channels = image.shape
    padded = _with_margin(image, fill)
    result = np.empty((*maps.size, channels), image.dtype)
    step = max(1, _BLOCK // max(1, maps.size[1]))
    read = _read_nearest if interpolation == "nearest" else _read_bilinear
    # float32 places the pixels of 4,096 to 1 / 4,096: a sixteenth of a level of uint8
    kind = "float32" if image.dtype == np.uint8 and max(height, width) <= 4096 else "float64"
    for first in range(0, maps.size[0] if result.size else 0, step):
        x, y = (positions.astype(kind, copy=False) for positions in maps.rows(first, first + step))
        for positions, length in ((x, width), (y, height)):
            np.minimum(positions, length, out=positions)
            np.maximum(positions, -_MARGIN, out=positions)
            positions += _MARGIN
        read(padded, x, y, result[first : first + step])
    return result


def _read_nearest(padded: np.ndarray, x: np.ndarray, y: np.ndarray, result: np.ndarray) -> None:
    _gather(padded, _whole(np.rint(x), np.rint(y), padded), result)


def _read_bilinear(padded: np.ndarray, x: np.ndarray, y: np.ndarray, result: np.ndarray) -> None:
    kind = np.dtype("float64" if padded.dtype == np.float64 else "float32")
    left, top = np.floor(x), np.floor(y)
    channels = result.shape[2]
    across, down = (np.subtract(p, low).astype(kind) for p, low in ((x, left), (y, top)))
    if channels > 1:
        across, down = (
            np.repeat(w, channels, 1) if channels > 4 else cv2.merge([w] * channels) for w in (across, down)
        )
    across, down = across.reshape(len(x), -1), down.reshape(len(x), -1)
    at = _whole(left, top, padded)
    corner, rows = np.empty(result.shape, result.dtype), []
    for down_by in (0, 1):
        one, other = (
            _gather(padded[down_by:, right_by:], at, corner).reshape(across.shape).astype(kind) for right_by in (0, 1)
        )
        other -= one
        other *= across
        other += one
        rows.append(other)
    upper, lower = rows
    lower -= upper
    lower *= down
    lower += upper
    if result.dtype == np.uint8:
        lower = cv2.convertScaleAbs(lower)
    elif result.dtype.kind in "ui":
        np.rint(lower, out=lower)
    result[...] = lower.reshape(result.shape)


def _whole(x: np.ndarray, y: np.ndarray, padded: np.ndarray) -> np.ndarray:
    """Whole positions as the numbers (rows, columns, 2) that `_gather` takes."""
    if max(*padded.shape[:2], *x.shape) <= _LONGEST:
        return cv2.merge([x.astype("int16"), y.astype("int16")])
    return np.stack([x.astype("intp"), y.astype("intp")], -1)


def _gather(padded: np.ndarray, at: np.ndarray, result: np.ndarray) -> np.ndarray:
    """The pixels at whole positions within a picture."""
    if at.dtype == np.int16 and padded.dtype.name in _GATHERED:
        return cv2.remap(padded, at, _NONE, cv2.INTER_NEAREST, dst=result)
    result[...] = padded[at[..., 1], at[..., 0]]
    return result


_NONE = np.empty((0,), "uint16")


def _with_margin(image: np.ndarray, fill: Fill) -> np.ndarray:
    height, width, channels = image.shape
    values = np.broadcast_to(fill_values(fill, image), (channels,))
    if image.dtype.name in _GATHERED and channels <= 4 and image.size:
        border = [float(v) for v in values]
        bordered = cv2.copyMakeBorder(image, _MARGIN, _MARGIN, _MARGIN, _MARGIN, cv2.BORDER_CONSTANT, value=border)
        return bordered.reshape(height + 2 * _MARGIN, width + 2 * _MARGIN, channels)
    padded = np.empty((height + 2 * _MARGIN, width + 2 * _MARGIN, channels), image.dtype)
    padded[...] = values
    padded[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN] = image
    return padded


def warp_mask(mask: np.ndarray, maps: Maps, *, fill: int = 0) -> np.ndarray:
    """A mask (height, width) or (objects, height, width) read at the nearest of other positions; objects are filled with 0."""
    if mask.ndim == 2:
        return warp(mask[:, :, None], maps, interpolation="nearest", fill=fill)[:, :, 0]
    if not len(mask):
        return np.zeros((0, *maps.size), mask.dtype)
    return np.stack([warp(one[:, :, None], maps, interpolation="nearest")[:, :, 0] for one in mask])


# -- positions


def affine_matrix(
    degrees: float,
    translate: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
    center: tuple[float, float],
) -> np.ndarray:
    """The matrix (3, 3) that moves points (x, y, 1): sheared, rotated clockwise and scaled about a center, then translated.

    Source: torchvision.transforms.v2.functional.affine.
    """
    angle, shear_x, shear_y = math.radians(degrees), math.radians(shear[0]), math.radians(shear[1])
    cos, sin = math.cos(angle - shear_y) / math.cos(shear_y), math.sin(angle - shear_y) / math.cos(shear_y)
    linear = scale * np.array(
        [
            [cos, -cos * math.tan(shear_x) - math.sin(angle)],
            [sin, -sin * math.tan(shear_x) + math.cos(angle)],
        ]
    )
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = np.add(center, translate) - linear @ np.asarray(center, "float64")
    return matrix


def perspective_matrix(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The matrix (3, 3) that moves four points (x, y) onto four others."""
    rows, values = [], []
    for (x, y), (u, v) in zip(np.asarray(start, "float64"), np.asarray(end, "float64"), strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return np.append(np.linalg.solve(np.array(rows), np.array(values)), 1).reshape(3, 3)


def move_points(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points (N, 2) moved by a matrix (3, 3)."""
    moved = np.asarray(points, "float64") @ matrix[:, :2].T + matrix[:, 2]
    return moved[:, :2] / moved[:, 2:]
