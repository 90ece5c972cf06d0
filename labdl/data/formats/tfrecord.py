"""TFRecord files: records with a length and checksums, of which each is a tf.train.Example or other bytes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.crc32c import crc32c, mask_checksum
from labdl.bounded.files import open_file, size_of
from labdl.data.dataset import Dataset
from labdl.data.formats.path_list import Paths, Places, list_paths
from labdl.data.formats.tensorflow_example import make_example, parse_example
from labdl.errors import DataError, FileFormatError

_HEAD = struct.Struct("<QI")  # length of the record, checksum of the length
_TAIL = struct.Struct("<I")  # checksum of the record


class TFRecordDataset(Dataset):
    """Records of one or several TFRecord files, by index; as tf.data.TFRecordDataset, which reads them in order.

    Samples are the features of a tf.train.Example: float32 (N,), int64 (N,), or lists of bytes. ``shapes`` gives some of
    them a shape, ``()`` for one value alone: ``shapes={"image": (28, 28), "label": ()}``. With ``examples=False`` samples
    are the bytes of the records. ``verify`` compares the checksum of each record that is read. Compressed files are not
    read. Raises MissingFileError, FileFormatError.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        shapes: Mapping[str, tuple[int, ...]] | None = None,
        examples: bool = True,
        verify: bool = True,
    ):
        self.paths = list_paths(paths)
        self.shapes, self.examples, self.verify = dict(shapes or {}), examples, verify
        self._records = [_list_records(path) for path in self.paths]
        self._places = Places(len(records) for records in self._records)
        self.name = self.paths[0].stem

    def __len__(self) -> int:
        return len(self._places)

    def read(self, index: int, epoch: int = 0) -> Any:
        content = self.record(index)
        if not self.examples:
            return content
        try:
            sample = parse_example(content)
            return {name: self._shape(name, value) for name, value in sample.items()}
        except FileFormatError as error:
            file, number = self._places.find(index)
            raise FileFormatError(f"{self.paths[file].name}, record {number}: {error}") from None

    def record(self, index: int) -> bytes:
        """The bytes of a record. Raises FileFormatError if its checksum does not match."""
        file, number = self._places.find(index)
        start, length = self._records[file][number].tolist()
        with open_file(self.paths[file]) as stream:
            stream.seek(start)
            content = stream.read(length + _TAIL.size)
        if len(content) != length + _TAIL.size:
            raise FileFormatError(f"{self.paths[file].name} is truncated: record {number} is not whole")
        record = content[:length]
        if self.verify and mask_checksum(crc32c(record)) != _TAIL.unpack(content[length:])[0]:
            raise FileFormatError(
                f"{self.paths[file].name} is damaged: the checksum of record {number} does not match it"
            )
        return record

    def _shape(self, name: str, value: Any) -> Any:
        shape = self.shapes.get(name)
        if shape is None:
            return value
        if shape == () and len(value) == 1:
            return value[0]
        if not isinstance(value, np.ndarray) or int(np.prod(shape)) != value.size:
            raise FileFormatError(f"the entry {name!r} has {len(value)} values, which do not have the shape {shape}")
        return value.reshape(shape)


def write_tfrecord(dataset: Any, path: str | Path) -> None:
    """Write samples to a TFRecord file: dictionaries as tf.train.Example, bytes as they are.

    Arrays lose their shapes and become float32 or int64; texts are bytes in UTF-8. The file appears when it is complete.
    Raises DataError for samples of another kind.
    """
    with replace_files(path) as (file,):
        for index in range(len(dataset)):
            sample = dataset[index]
            if isinstance(sample, Mapping):
                try:
                    sample = make_example(sample)
                except DataError as error:
                    raise DataError(f"sample {index}: {error}") from None
            if not isinstance(sample, bytes):
                raise DataError(
                    f"write_tfrecord wants dictionaries or bytes, sample {index} is {type(sample).__name__}"
                )
            _write_record(file, sample)


def _write_record(file: BinaryIO, record: bytes) -> None:
    length = struct.pack("<Q", len(record))
    file.write(length + _TAIL.pack(mask_checksum(crc32c(length))))
    file.write(record + _TAIL.pack(mask_checksum(crc32c(record))))


def _list_records(path: Path) -> np.ndarray:
    """Start and length of each record; the checksums of the lengths are compared."""
    found: list[int] = []
    with open_file(path) as file:
        size, at = size_of(file), 0
        while at < size:
            file.seek(at)
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise FileFormatError(f"{path.name} is truncated after {len(found) // 2:,} records")
            length, checksum = _HEAD.unpack(head)
            if mask_checksum(crc32c(head[:8])) != checksum:
                what = "no TFRecord file, or compressed" if not found else f"damaged after {len(found) // 2:,} records"
                raise FileFormatError(f"{path.name} is {what}")
            if length > size - at - _HEAD.size - _TAIL.size:
                raise FileFormatError(f"{path.name} is truncated after {len(found) // 2:,} records")
            found += (at + _HEAD.size, length)
            at += _HEAD.size + length + _TAIL.size
    return np.array(found, np.int64).reshape(-1, 2)
