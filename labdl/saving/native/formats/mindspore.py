"""MindSpore's .ckpt: a protocol buffer of tensors by name (mindspore/ccsrc/utils/checkpoint.proto)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file
from labdl.bounded.protobuf import WireError, fields, unpack
from labdl.errors import FileFormatError
from labdl.saving.native.formats.dtypes import array_of, dtype_of, little_endian, name_of
from labdl.saving.native.formats.tree import Choose, by_path

_TYPES = {
    "Float16": "float16",
    "Float32": "float32",
    "Float64": "float64",
    "BFloat16": "bfloat16",
    "Bool": "bool",
    **{f"{kind}{bits}": f"{kind.lower()}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)},
    "Complex64": "complex64",
    "Complex128": "complex128",
}
_WORDS = {name: word for word, name in _TYPES.items()}
_VALUE, _TAG, _TENSOR = 1, 1, 2  # field numbers: of the file, of a value
_DIMS, _TYPE, _CONTENT = 1, 2, 3  # of a tensor
_NUMBER, _BYTES = 0, 2  # wire types
_PIECES = 200_000  # parts of arrays in a file at most
_FIELDS = 64  # of a part, and axes, at most


def read(path: Path, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays of a file that ``choose`` wants. Raises FileFormatError for anything else."""
    with open_file(path) as file:
        data = np.fromfile(file, "uint8").data
    try:
        arrays = _arrays(data)
    except WireError as error:
        raise FileFormatError(f"it is not a checkpoint of MindSpore's: {error}") from error
    return choose({(name,): array for name, array in arrays.items()})


def _arrays(data: memoryview) -> dict[str, np.ndarray]:
    found: dict[str, tuple[list[int], str, list[memoryview]]] = {}
    for field, value in fields(data, _PIECES):
        if field != _VALUE:
            continue  # a checksum at the end
        parts = dict(fields(_expect(value, memoryview), _FIELDS))
        if not {_TAG, _TENSOR} <= parts.keys():
            raise FileFormatError("it is not a checkpoint of MindSpore's, or holds a table that LabDL does not support")
        name, dims, word, content = _text(parts[_TAG]), [], "", memoryview(b"")
        for number, part in fields(_expect(parts[_TENSOR], memoryview), _FIELDS):
            if number == _DIMS:
                dims += [part] if isinstance(part, int) else list(unpack(_expect(part, memoryview), _FIELDS))
            elif number == _TYPE:
                word = _text(part)
            elif number == _CONTENT:
                content = _expect(part, memoryview)
        found.setdefault(name, (dims, word, []))[2].append(content)  # large arrays come in several pieces
    if not found:
        raise FileFormatError("it is not a checkpoint of MindSpore's: it is empty")
    return {name: _array(name, *parts) for name, parts in found.items()}


def _array(name: str, dims: list[int], word: str, pieces: list[memoryview]) -> np.ndarray:
    if word not in _TYPES:
        raise FileFormatError(f"{name:.200} in it has an unknown dtype {word!r:.50}")
    dtype = dtype_of(_TYPES[word])
    data = pieces[0] if len(pieces) == 1 else bytearray().join(pieces)
    if dims == [0] and len(data) == dtype.itemsize:
        dims = []  # older versions write a scalar so
    return array_of(name, data, dtype, dims)


def _expect(value, kind: type):
    if not isinstance(value, kind):
        raise FileFormatError("it is not a checkpoint of MindSpore's")
    return value


def _text(value) -> str:
    try:
        return bytes(_expect(value, memoryview)).decode()
    except UnicodeDecodeError as error:
        raise FileFormatError("it is not a checkpoint of MindSpore's") from error


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file for mindspore.load_checkpoint, atomically."""
    with replace_files(path) as (file,):
        for name, array in arrays.items():
            data = little_endian(array)
            head = b"".join(_head(_DIMS, _NUMBER, n) for n in array.shape)
            head += _message(_TYPE, _WORDS[name_of(array.dtype)].encode()) + _head(_CONTENT, _BYTES, len(data))
            tag = _message(_TAG, name.encode()) + _head(_TENSOR, _BYTES, len(head) + len(data))
            file.write(_head(_VALUE, _BYTES, len(tag) + len(head) + len(data)) + tag + head)
            file.write(data)


def _message(field: int, data: bytes) -> bytes:
    return _head(field, _BYTES, len(data)) + data


def _head(field: int, kind: int, value: int) -> bytes:
    return bytes([field << 3 | kind]) + _as_varint(value)


def _as_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
