"""Samples as messages of TensorFlow's tf.train.Example: lists of bytes, floats or integers by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.bounded.protobuf import WireError, fields
from labdl.errors import DataError, FileFormatError

_MOST_FEATURES, _MOST_VALUES = 100_000, 10_000_000
_BYTES, _FLOATS, _INTEGERS = 1, 2, 3


def parse_example(data: bytes | memoryview) -> dict[str, Any]:
    """The features of an Example: float32 (N,), int64 (N,), or a list of bytes. Raises FileFormatError."""
    try:
        features: dict[str, Any] = {}
        for number, content in fields(memoryview(data), _MOST_FEATURES):
            if number == 1:
                for _, entry in fields(_message(content), _MOST_FEATURES):
                    name, value = _parse_entry(_message(entry))
                    features[name] = value
        return features
    except (WireError, ValueError) as error:
        raise FileFormatError(f"the record is no tf.train.Example: {error}") from None


def _parse_entry(entry: memoryview) -> tuple[str, Any]:
    name, value = "", np.zeros(0, "float32")
    for number, content in fields(entry, 16):
        if number == 1:
            name = bytes(_message(content)).decode()
        elif number == 2:
            for kind, values in fields(_message(content), 16):
                if kind in _PARSERS:
                    value = _PARSERS[kind](_message(values))
    return name, value


def _message(content: Any) -> memoryview:
    if not isinstance(content, memoryview):
        raise WireError("a number stands where a message is expected")
    return content


def _parse_bytes(data: memoryview) -> list[bytes]:
    return [bytes(_message(content)) for _, content in fields(data, _MOST_VALUES)]


def _parse_floats(data: memoryview) -> np.ndarray:
    parts = [bytes(content) for _, content in fields(data, _MOST_VALUES) if not isinstance(content, int)]
    return np.frombuffer(b"".join(parts), "<f4")


def _parse_integers(data: memoryview) -> np.ndarray:
    parts = [
        np.array([content], "uint64") if isinstance(content, int) else _unpack(_message(content))
        for _, content in fields(data, _MOST_VALUES)
    ]
    return np.concatenate(parts or [np.zeros(0, "uint64")]).view("int64")


def _unpack(data: memoryview) -> np.ndarray:
    """The integers of a packed field."""
    values = np.frombuffer(data, "uint8")
    last = values < 128
    if last.all():
        return values.astype("uint64")
    ends = np.flatnonzero(last)
    if not len(ends) or ends[-1] != len(values) - 1:
        raise WireError("it is truncated")
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (ends - starts).max() > 9:
        raise WireError("it has an integer of more than 64 bits")
    positions = np.arange(len(values)) - np.repeat(starts, ends - starts + 1)
    return np.add.reduceat((values & 127).astype("uint64") << (7 * positions).astype("uint64"), starts)


_PARSERS = {_BYTES: _parse_bytes, _FLOATS: _parse_floats, _INTEGERS: _parse_integers}


def make_example(features: Mapping[str, Any]) -> bytes:
    """An Example of arrays, numbers, texts and bytes, in the order of their names. Raises DataError for other values.

    Arrays lose their shapes and become float32 or int64; texts are bytes in UTF-8.
    """
    entries = []
    for name in sorted(features):
        try:
            kind, content = _make_list(features[name])
        except DataError as error:
            raise DataError(f"the entry {name!r} cannot be stored in a tf.train.Example: {error}") from None
        entries.append(_field(1, _field(1, name.encode()) + _field(2, _field(kind, content))))
    return _field(1, b"".join(entries))


def _make_list(value: Any) -> tuple[int, bytes]:
    items = value if isinstance(value, list | tuple) else [value]
    if items and all(isinstance(item, str | bytes) for item in items):
        contents = [item.encode() if isinstance(item, str) else item for item in items]
        return _BYTES, b"".join(_field(1, content) for content in contents)
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return _FLOATS, _field(1, array.astype("<f4").tobytes())
    if array.dtype.kind in "biu":
        if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
            raise DataError("it has integers of more than 63 bits")
        return _INTEGERS, _field(1, _pack(array.reshape(-1).astype("int64")))
    raise DataError(f"it wants numbers, texts or bytes, received {type(value).__name__} of {array.dtype}")


def _pack(values: np.ndarray) -> bytes:
    unsigned = values.view("uint64")
    if not unsigned.size or unsigned.max() < 128:
        return unsigned.astype("uint8").tobytes()
    shifts = np.arange(10, dtype="uint64") * np.uint64(7)
    groups = unsigned[:, None] >> shifts
    groups[:, 9] = unsigned >> np.uint64(63)
    lengths = np.maximum((groups != 0).sum(1), 1)
    places = np.arange(10)
    digits = (groups & np.uint64(127)).astype("uint8") | np.where(places < lengths[:, None] - 1, 128, 0).astype("uint8")
    return digits[places < lengths[:, None]].tobytes()


def _field(number: int, content: bytes) -> bytes:
    size, length = len(content), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2]) + bytes(length) + bytes([size]) + content
