"""Tables of keys and values as LevelDB and TensorFlow write them: blocks of entries, and an index of the blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from labdl.bounded.crc32c import crc32c, mask_checksum
from labdl.bounded.protobuf import read_varint
from labdl.errors import FileFormatError

_MAGIC, _FOOTER = 0xDB4775248B80FB57, 48  # bytes at the end: two places, and the number
_TRAILER = 5  # bytes after a block: its compression and its checksum
_ENTRIES, _KEYS, _BLOCKS = (
    200_000,
    1 << 25,
    2000,
)  # entries of a table, the bytes of their keys, and its blocks, at most

_LARGE = "its index has more entries than any checkpoint needs"


def read_table(data: memoryview) -> dict[bytes, memoryview]:
    """The entries of a table. Raises FileFormatError and WireError for anything else."""
    if len(data) < _FOOTER or data[-8:] != struct.pack("<Q", _MAGIC):
        raise FileFormatError("its index is not a table, or truncated")
    _, _, at = _place(data[-_FOOTER:], 0)
    begin, size, _ = _place(data[-_FOOTER:], at)
    found: dict[bytes, memoryview] = {}
    keys = 0
    for number, (_, place) in enumerate(_entries(_block(data, begin, size))):
        if number > _BLOCKS:
            raise FileFormatError(_LARGE)
        begin, size, _ = _place(place, 0)
        for key, value in _entries(_block(data, begin, size)):
            found[key] = value
            keys += len(key)
            if len(found) > _ENTRIES or keys > _KEYS:
                raise FileFormatError(_LARGE)
    return found


def _place(data: memoryview, at: int) -> tuple[int, int, int]:
    begin, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return begin, size, at


def _block(data: memoryview, begin: int, size: int) -> memoryview:
    end = begin + size
    if end + _TRAILER > len(data):
        raise FileFormatError("its index is truncated")
    if data[end]:
        raise FileFormatError("its index is compressed, which TensorFlow does not write")
    if struct.unpack("<I", data[end + 1 : end + _TRAILER])[0] != mask_checksum(crc32c(data[begin : end + 1])):
        raise FileFormatError("its index is damaged: a checksum is wrong")
    return data[begin:end]


def _entries(block: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """Keys, each of which may begin as the one before, and values; after them are the places of keys for a search."""
    count = struct.unpack("<I", block[-4:])[0] if len(block) >= 4 else len(block)
    end = len(block) - 4 * (count + 1)
    if end < 0:
        raise FileFormatError("its index is broken")
    key, at = b"", 0
    while at < end:
        shared, at = read_varint(block, at)
        own, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if shared > len(key) or own + size > end - at:
            raise FileFormatError("its index is broken")
        new = key[:shared] + bytes(block[at : at + own])
        if new <= key and key:
            raise FileFormatError("its index is broken: its keys are not in order")
        key = new
        yield key, block[at + own : at + own + size]
        at += own + size
