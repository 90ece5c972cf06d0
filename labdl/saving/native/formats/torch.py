"""PyTorch's .pt and .pth: a zip archive of a pickle and of the tensors' bytes."""

from __future__ import annotations

import contextlib
import io
import math
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labdl.bounded.archives import open_archive
from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file, size_of
from labdl.errors import FileFormatError
from labdl.saving.native.formats.dtypes import array_of, dtype_of, little_endian, name_of
from labdl.saving.native.formats.numpy_records import numpy_array
from labdl.saving.native.formats.pickle_calls import CallRecord, Name, StorageView
from labdl.saving.native.formats.pickle_reader import read_pickle
from labdl.saving.native.formats.tree import Choose, arrays_of, by_path, raise_for

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
# bytes of the numbers of other storages, which are passed over
_SIZES = {
    Name("torch.storage", "UntypedStorage"): 1,  # of all types since float8, with the count of its bytes
    **{Name("torch", f"{kind}Storage"): 1 for kind in ("QInt8", "QUInt8", "QUInt4x2", "QUInt2x4")},
    Name("torch", "QInt32Storage"): 4,
}
_ALIGNED = 64  # alignment of the tensors' bytes, so that a file can be memory-mapped


_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    RuntimeError,
    ValueError,
    OverflowError,
    MemoryError,
    OSError,
)


class Storage(NamedTuple):
    """A reference in a pickle to numbers outside of it: their type, key and count."""

    kind: Name
    key: str
    count: int

    @property
    def dtype(self) -> np.dtype:
        """Raises FileFormatError for a type that LabDL does not support."""
        if self.kind not in _DTYPES:
            raise FileFormatError(
                f"it holds a {self.kind.module}.{self.kind.name:.100}, a type that LabDL does not support"
            )
        return dtype_of(_DTYPES[self.kind])

    @property
    def itemsize(self) -> int:
        """Bytes of one of its numbers. Raises FileFormatError for a type that is unknown."""
        return _SIZES.get(self.kind) or self.dtype.itemsize


@contextlib.contextmanager
def _errors_of_archives() -> Iterator[None]:
    try:
        yield
    except FileFormatError:
        raise
    except _BROKEN as error:
        raise FileFormatError(f"its archive is broken: {error}") from error


def read(path: Path, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays of a file that ``choose`` wants. Raises FileFormatError for anything but an archive of data."""
    with open_file(path) as file:
        with _errors_of_archives():
            archive = open_archive(file)
            home, values = _contents(archive, size_of(file))
            foreign = (
                f"{home}byteorder" in archive.namelist() and _member(archive, f"{home}byteorder").tobytes() == b"big"
            )
        opened: dict[str, np.ndarray] = {}

        def numbers(storage: Storage) -> np.ndarray:
            if storage.key not in opened:
                data, dtype = _member(archive, f"{home}data/{storage.key}"), storage.dtype
                found = np.frombuffer(data, dtype, data.size // dtype.itemsize)
                opened[storage.key] = found.byteswap() if foreign else found
            return opened[storage.key]

        wanted = choose(arrays_of(values))  # whose errors are not those of the archive
        with _errors_of_archives():
            return arrays(wanted, numbers)


def _contents(archive: zipfile.ZipFile, size: int) -> tuple[str, Any]:
    """The folder in an archive, and the value of its pickle."""
    members = {info.filename: info for info in archive.infolist()}
    homes = [name.removesuffix("data.pkl") for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(homes) != 1:
        raise FileFormatError("it is a zip archive, but not one of PyTorch")
    if any(
        info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size for info in members.values()
    ):
        raise FileFormatError("its archive is compressed, which PyTorch does not write")
    if sum(info.file_size for info in members.values()) > size:
        raise FileFormatError("its archive unpacks to more than its own size")
    pickled = _member(archive, f"{homes[0]}data.pkl").tobytes()
    return homes[0], read_pickle(io.BytesIO(pickled), len(pickled), storage_of)


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """The bytes of a member that is not compressed."""
    data = np.empty(archive.getinfo(name).file_size, "uint8")
    with io.BufferedReader(archive.open(name)) as member:  # type: ignore[type-var]
        if member.readinto(data.data) != data.size:
            raise FileFormatError("its archive is truncated")
    return data


def storage_of(reference: Any) -> Storage:
    """The storage that a pickle refers to. Raises FileFormatError for another reference."""
    match reference:
        case ("storage", Name() as kind, str(key), _, int(count), *rest) if rest in ([], [None]):
            return Storage(kind, key, count)
    raise FileFormatError("its pickle refers to no tensor of the file")


def tensor_view(numbers: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """View of a tensor in its storage. Raises FileFormatError if it would reach beyond the storage."""
    last = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    count = math.prod(shape)
    if count and (last >= numbers.size or count > numbers.size):
        raise FileFormatError(f"a tensor of shape {shape} does not fit into its storage of {numbers.size} numbers")
    if not count:
        return array_of("a tensor", b"", numbers.dtype, shape)
    # the stride of an axis of one is never used, and may be any number
    steps = tuple(step * numbers.itemsize if n > 1 else 0 for n, step in zip(shape, strides, strict=True))
    return np.lib.stride_tricks.as_strided(numbers[offset:], shape, steps)


def arrays(wanted: Mapping[str, Any], numbers: Callable[[Storage], np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of records in a pickle; ``numbers`` gives those of a storage."""
    copies: dict[int, bytearray] = {}

    def array(name: str, value: StorageView | CallRecord) -> np.ndarray:
        raise_for(value)
        if isinstance(value, CallRecord):
            return numpy_array(name, value, copies)
        if not isinstance(value.storage, Storage):
            raise FileFormatError("its pickle refers to no tensor of the file")
        return tensor_view(numbers(value.storage), value.offset, value.shape, value.strides)

    return {name: array(name, value) for name, value in wanted.items()}


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
