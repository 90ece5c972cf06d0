"""PyTorch's .pt and .pth: a zip archive of a pickle and of the tensors' bytes."""

from __future__ import annotations

import io
import math
import pickle
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labdl.errors import FileFormatError
from labdl.saving.atomic_write import replace_files
from labdl.saving.native.formats.dtypes import dtype_of, little_endian, name_of
from labdl.saving.native.formats.pickle_reader import DATA, Name, read_pickle

_STORAGES = {
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "int64": "LongStorage",
    "int32": "IntStorage",
    "int16": "ShortStorage",
    "int8": "CharStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}
_DTYPES = {Name("torch", storage): dtype for dtype, storage in _STORAGES.items()}
_ALIGNED = 64  # alignment of the tensors' bytes, so that a file can be memory-mapped


class StorageView(NamedTuple):
    """A tensor as a strided view of a storage in the archive."""

    storage: Any
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read(path: Path) -> dict[str, Any]:
    """The values of a file, tensors as arrays. Raises FileFormatError for anything but an archive of data."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _values(archive, path.stat().st_size)
    except FileFormatError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        KeyError,
        RuntimeError,
        ValueError,
        OSError,
    ) as error:
        raise FileFormatError(f"its archive is broken: {error}") from error


def _values(archive: zipfile.ZipFile, size: int) -> dict[str, Any]:
    members = {info.filename: info for info in archive.infolist()}
    homes = [name.removesuffix("data.pkl") for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(homes) != 1:
        raise FileFormatError("it is a zip archive, but not one of PyTorch")
    if sum(info.file_size for info in members.values()) > size:
        raise FileFormatError("its archive unpacks to more than its own size")
    calls = {
        **DATA,
        Name("torch._utils", "_rebuild_tensor_v2"): _storage_view,
        Name("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
    }
    values = read_pickle(archive.read(f"{homes[0]}data.pkl"), calls)
    order = archive.read(f"{homes[0]}byteorder") if f"{homes[0]}byteorder" in members else b"little"
    opened: dict[str, np.ndarray] = {}

    def array(tensor: StorageView) -> np.ndarray:
        match tensor.storage:
            case ("storage", Name() as kind, str(key), _, int()) if kind in _DTYPES:
                dtype = dtype_of(_DTYPES[kind])
            case ("storage", Name() as kind, *_):
                raise FileFormatError(f"it holds a {kind.module}.{kind.name}, a type that LabDL does not support")
            case _:
                raise FileFormatError("its pickle refers to no tensor of the archive")
        if key not in opened:
            data = np.empty(members[f"{homes[0]}data/{key}"].file_size, "uint8")
            with io.BufferedReader(archive.open(f"{homes[0]}data/{key}")) as member:  # type: ignore[type-var]
                if member.readinto(data.data) != data.size:
                    raise FileFormatError("its archive is truncated")
            found = np.frombuffer(data, dtype, data.size // dtype.itemsize)
            opened[key] = found.byteswap() if order == b"big" else found
        return tensor_view(opened[key], tensor.offset, tensor.shape, tensor.strides)

    return unwrap_state_dict(values, array)


def _storage_view(storage, offset, shape, strides, *_) -> StorageView:
    numbers = (offset, *shape, *strides)
    if not all(type(n) is int and n >= 0 for n in numbers) or len(shape) != len(strides):
        raise FileFormatError("one of its tensors has an impossible shape")
    return StorageView(storage, offset, tuple(shape), tuple(strides))


def tensor_view(numbers: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """View of a tensor in its storage. Raises FileFormatError if it would reach beyond the storage."""
    last = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    count = math.prod(shape)
    if count and (last >= numbers.size or count > numbers.size):
        raise FileFormatError(f"a tensor of shape {shape} does not fit into its storage of {numbers.size} numbers")
    if not count:
        return np.zeros(shape, numbers.dtype)
    steps = tuple(step * numbers.itemsize for step in strides)
    return np.lib.stride_tricks.as_strided(numbers[offset:], shape, steps)


def unwrap_state_dict(values: Any, array) -> dict[str, Any]:
    """The state dict of a file with arrays instead of tensors; a wrapper such as {"state_dict": ...} is removed."""
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(values, dict) and isinstance(values.get(key), dict):
            values = values[key]
    if not isinstance(values, dict):
        raise FileFormatError(f"it holds {type(values).__name__}, not a dictionary of parameters")
    return {str(name): array(value) if isinstance(value, StorageView) else value for name, value in values.items()}


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that torch.load reads as a state dict, atomically; the same values always give the same bytes."""
    with replace_files(path) as (file,), zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "archive/data.pkl", _pickle(arrays))
        _add(archive, "archive/byteorder", b"little")
        for at, array in enumerate(arrays.values()):
            _add(archive, f"archive/data/{at}", little_endian(array))
        _add(archive, "archive/version", b"3\n")


def _add(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name)
    begin = archive.start_dir + 30 + len(name) + 4  # after the header, the name and the header of the padding
    filling = -begin % _ALIGNED
    info.extra = struct.pack("<HH", 0x4246, filling) + b"\0" * filling
    info.file_size = len(data)
    with archive.open(info, "w") as member:
        member.write(data)


def _pickle(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The instructions for a dictionary of tensors, as torch.save writes them."""
    out = [b"\x80\x02}("]
    for at, (name, array) in enumerate(arrays.items()):
        strides = [math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim)]
        storage = [_text("storage"), _name("torch", _STORAGES[name_of(array.dtype)]), _text(str(at)), _text("cpu")]
        out += [_text(name), _name("torch._utils", "_rebuild_tensor_v2"), b"("]
        out += [b"(", *storage, _number(array.size), b"tQ"]
        out += [
            _number(0),
            _numbers(array.shape),
            _numbers(strides),
            b"\x89",
            _name("collections", "OrderedDict"),
            b")RtR",
        ]
    return b"".join([*out, b"u."])


def _text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def _number(value: int) -> bytes:
    data = pickle.encode_long(value)
    return b"\x8a" + bytes([len(data)]) + data


def _numbers(values) -> bytes:
    return b"(" + b"".join(map(_number, values)) + b"t"


def _name(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()
