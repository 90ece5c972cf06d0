"""Reader of IDX, the format of MNIST: big-endian sizes, then values, packed by gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labdl.bounded.files import open_file
from labdl.data.sources.picture_arrays import PictureArrays
from labdl.errors import FileFormatError

_MOST = 1 << 30  # bytes of values; those of MNIST are 47 MB
_BYTES = 8  # the code of uint8


def read_idx(file: Path, axes: int) -> np.ndarray:
    """The uint8 values of a file of so many axes, packed or not. Raises FileFormatError, MissingFileError."""
    with open_file(file) as raw:
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        source = gzip.GzipFile(fileobj=raw) if packed else raw
        try:
            head = source.read(4 + 4 * axes)
            if head[:4] != bytes([0, 0, _BYTES, axes]) or len(head) != 4 + 4 * axes:
                raise FileFormatError(
                    f"{file.name} is no IDX file of uint8 with {axes} axes: it begins with {head[:4].hex()}"
                )
            shape = tuple(int(n) for n in np.frombuffer(head, ">u4", offset=4))
            count = int(np.prod(shape, dtype=object))
            if count > _MOST:
                raise FileFormatError(f"{file.name} claims the shape {shape}, more than {_MOST:,} values")
            values = source.read(count)
            rest = source.read(1)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"{file.name} is broken: {error}") from None
    if len(values) != count or rest:
        raise FileFormatError(
            f"{file.name} claims the shape {shape} and has {'more' if rest else f'{len(values):,}'} values"
        )
    return np.frombuffer(values, np.uint8).reshape(shape)


def read_idx_pictures(split: str, images: Path, labels: Path, *, name: str, classes: Sequence[str]) -> PictureArrays:
    """Grey pictures and class numbers of two IDX files."""
    pictures, numbers = read_idx(images, 3), read_idx(labels, 1)
    if len(pictures) != len(numbers):
        raise FileFormatError(f"{images.name} has {len(pictures):,} pictures, {labels.name} {len(numbers):,} labels")
    if numbers.size and numbers.max() >= len(classes):
        raise FileFormatError(f"{labels.name} has the class {numbers.max()}, {name} has {len(classes)}")
    return PictureArrays(pictures[..., None], numbers, name=f"{name} ({split})", classes=classes)
