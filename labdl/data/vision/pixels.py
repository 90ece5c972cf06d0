"""Values of pixels: lookup tables, weighted sums and grey values, cut to the range of the dtype as torchvision does."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from labdl.errors import DataError

GREY = np.array([[0.2989, 0.587, 0.114]], "float32")  # torchvision's weights; their sum is 0.9999
# OpenCV rounds where torchvision cuts the fraction; a little less than one half keeps whole numbers
_CUT = 0.49995
_FLIPPED = frozenset(map(np.dtype, ("uint8", "uint16", "float32", "float64")))  # dtypes of cv2.flip


def brightest(dtype: np.dtype) -> float:
    """The value of white: 1.0 of floating-point pictures, 255 of uint8."""
    if dtype.kind == "f":
        return 1.0
    largest = np.iinfo(dtype).max
    # that of 64 bits is no float64: the next one below
    return float(largest) if dtype.itemsize < 8 else float(np.nextafter(float(largest), 0))


def to_float(image: np.ndarray) -> np.ndarray:
    """The same values as floating-point numbers that OpenCV takes: float64 where float32 would lose digits."""
    wide = image.dtype == np.float64 or (image.dtype.kind != "f" and image.dtype.itemsize > 2)
    return np.asarray(image, "float64" if wide else "float32")


def from_float(values: np.ndarray, dtype: np.dtype, *, rounded: bool = False) -> np.ndarray:
    """Floating-point values cut to the range of a dtype; integers lose the fraction, or are rounded half to even."""
    if dtype.kind == "f":
        return np.clip(values, 0, 1).astype(dtype, copy=False)
    if rounded:
        values = np.rint(values)
    return np.clip(values, 0, brightest(dtype)).astype(dtype)


def rows(image: np.ndarray) -> np.ndarray:
    """A view (rows, values) for OpenCV, whose functions of single values take any number of channels so."""
    return image.reshape(len(image), -1)


def mirror(image: np.ndarray, axis: int) -> np.ndarray:
    """The picture in reverse order of an axis, 0 (top to bottom) or 1 (left to right)."""
    array = np.asarray(image)
    if array.dtype not in _FLIPPED or array.shape[-1] > 4 or not array.size:
        return array[:, ::-1] if axis else array[::-1]
    # a view in reverse order would be copied, slowly, by what comes next
    return cv2.flip(array, axis).reshape(array.shape)


def lookup(image: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Replace values of uint8 by those of a table (256,), or (256, channels) with one column for each channel."""
    array = np.asarray(image)
    if table.ndim == 1:
        return cv2.LUT(rows(array), table).reshape(array.shape)
    if array.shape[-1] == 1:
        return cv2.LUT(rows(array), np.ascontiguousarray(table[:, 0])).reshape(array.shape)
    flat = array.reshape(-1, array.shape[-2], array.shape[-1])  # frames of a clip one below the other
    return cv2.LUT(flat, np.ascontiguousarray(table)[:, None]).reshape(array.shape)


def map_values(image: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A function of each value, given and returned as floating-point numbers in the units of the picture."""
    array = np.asarray(image)
    if array.dtype == np.uint8:
        return lookup(array, from_float(function(np.arange(256, dtype="float32")), array.dtype))
    return from_float(function(to_float(array)), array.dtype)


def map_shares(image: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A function of each value as a share of white, 0 to 1."""
    dtype, white = image.dtype, brightest(image.dtype)
    if dtype.kind == "f":
        return map_values(image, function)
    return map_values(image, lambda values: shares_to_integers(function(values / values.dtype.type(white)), dtype))


def shares_to_integers(shares: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Shares 0 to 1 in steps of equal width for all whole values, as torchvision: 0.999 of the last step is white."""
    return np.floor(np.clip(shares, 0, 1) * shares.dtype.type(brightest(dtype) + 1 - 1e-3))


def blend(image: np.ndarray, other: np.ndarray | float, ratio: float) -> np.ndarray:
    """``ratio`` · image + (1 - ``ratio``) · other, cut to the range of the picture; ``other`` is a picture or a number."""
    array = np.asarray(image)
    whole = array.dtype in (np.uint8, np.uint16)
    flat = rows(array if whole else to_float(array))
    offset = -_CUT if whole else 0.0
    if isinstance(other, np.ndarray):
        mixed = cv2.addWeighted(flat, ratio, rows(other).astype(flat.dtype, copy=False), 1 - ratio, offset)
    else:
        mixed = cv2.addWeighted(flat, ratio, flat, 0, (1 - ratio) * other + offset)
    return (mixed if whole else from_float(mixed, array.dtype)).reshape(array.shape)


def grey(image: np.ndarray, name: str) -> np.ndarray:
    """Grey values (height, width, 1) of a picture of 3 channels; one of 1 channel is returned as it is.

    Raises DataError for other numbers of channels, with the ``name`` of the transform.
    """
    array = np.asarray(image)
    if check_color(array, name) == 1:
        return array
    values = cv2.transform(to_float(array), GREY)[..., None]
    return values.astype(array.dtype, copy=False)


def check_color(image: np.ndarray, name: str) -> int:
    """The number of channels, 1 or 3. Raises DataError for others."""
    channels = image.shape[-1]
    if channels not in (1, 3):
        raise DataError(
            f"{name} wants a picture of 3 channels (RGB) or 1 (grey), received the shape {image.shape}: "
            'write T.ConvertColor("RGBA", "RGB") before it for one with transparency'
        )
    return channels
