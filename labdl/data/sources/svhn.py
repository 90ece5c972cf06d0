"""Reader of the cropped pictures of SVHN: MATLAB files of version 5.

It reads numeric arrays alone: scipy.io.loadmat ends the process at some damaged files.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.sources.picture_arrays import PictureArrays
from labdl.errors import FileFormatError

_LARGEST = 2 << 30  # bytes of a file, and of an array; the largest file has 1.3 GB
_HEAD = 128  # bytes before the first element
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}


def read_svhn(split: str, file: Path) -> PictureArrays:
    """Digits of house numbers, 32 × 32 in color. Raises FileFormatError, MissingFileError."""
    data = memoryview(read_file(file, _LARGEST, "file of SVHN"))
    try:
        arrays = _read_arrays(data)
        pictures, labels = arrays["X"], arrays["y"].reshape(-1)
        if pictures.dtype != np.uint8 or pictures.ndim != 4 or pictures.shape[:3] != (32, 32, 3):
            raise ValueError(f"X is {pictures.dtype} of {pictures.shape}, wanted uint8 of (32, 32, 3, N)")
        if len(labels) != pictures.shape[3]:
            raise ValueError(f"it has {pictures.shape[3]:,} pictures and {len(labels):,} labels")
        if labels.size and not (np.isin(labels, range(11))).all():
            raise ValueError("y has other labels than 0 to 10")
    except KeyError as error:
        raise FileFormatError(f"{file.name} is no file of SVHN: it has no variable {error}") from None
    except (ValueError, struct.error, zlib.error) as error:
        raise FileFormatError(f"{file.name} is no file of SVHN: {error}") from None
    labels = labels.astype(np.int64) % 10  # the digit 0 has the number 10 in the file
    pictures = np.ascontiguousarray(pictures.transpose(3, 0, 1, 2))
    return PictureArrays(pictures, labels, name=f"SVHN ({split})", classes=[str(n) for n in range(10)])


def _read_arrays(data: memoryview) -> dict[str, np.ndarray]:
    """The arrays X and y of a file. Raises ValueError, struct.error and zlib.error."""
    mark = bytes(data[126:_HEAD])
    if mark not in (b"IM", b"MI") or len(data) <= _HEAD:
        raise ValueError("it is no MATLAB file of version 5")
    order, at, arrays = "<" if mark == b"IM" else ">", _HEAD, {}
    while at + 8 <= len(data) and not {"X", "y"} <= arrays.keys():
        kind, size = struct.unpack_from(order + "II", data, at)
        element = data[at + 8 : at + 8 + size]
        if len(element) < size:
            raise ValueError(f"it is cut off: an element has {len(element):,} of {size:,} bytes")
        if kind == _COMPRESSED:
            at += 8 + size
            unpacked = zlib.decompressobj()
            content = memoryview(unpacked.decompress(element, _LARGEST))
            kind, size = struct.unpack_from(order + "II", content)
            element = content[8 : 8 + size]
        else:
            at += 8 + size + -size % 8
        if kind == _MATRIX:
            name, array = _read_matrix(element, order)
            arrays[name] = array
    return arrays


def _read_matrix(data: memoryview, order: str) -> tuple[str, np.ndarray]:
    """Name and values of an array, whose axes follow each other as in Fortran."""
    _, at = _read_element(data, 0, order)  # flags
    shape, at = _read_element(data, at, order)
    name, at = _read_element(data, at, order)
    values, _ = _read_element(data, at, order)
    if len(shape) < 2 or shape.min() < 0 or int(np.prod(shape, dtype=object)) != len(values):
        raise ValueError(f"an array claims the shape {tuple(shape.tolist())[:8]} and has {len(values):,} values")
    return name.tobytes().decode("ascii", "replace"), values.reshape(shape.tolist(), order="F")


def _read_element(data: memoryview, at: int, order: str) -> tuple[np.ndarray, int]:
    """Values of an element, and where the next one begins."""
    (tag,) = struct.unpack_from(order + "I", data, at)
    if tag >> 16:  # up to 4 bytes in the place of the size
        kind, size, start, end = tag & 0xFFFF, tag >> 16, at + 4, at + 8
    else:
        kind, size = struct.unpack_from(order + "II", data, at)
        start, end = at + 8, at + 8 + size + -size % 8
    if kind not in _TYPES or size > len(data) - start or (tag >> 16 and size > 4):
        raise ValueError(f"an element has the type {kind} and {size:,} bytes")
    dtype = np.dtype(order + _TYPES[kind])
    if size % dtype.itemsize:
        raise ValueError(f"an element of {dtype} has {size:,} bytes")
    return np.frombuffer(data, dtype, size // dtype.itemsize, start), end
