"""Reader of untrusted .npz and .npy files: arrays of numbers and strings, without pickle, in bounded memory."""

from __future__ import annotations

import io
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from labdl.bounded.archives import open_archive
from labdl.bounded.files import open_file, size_of
from labdl.errors import FileFormatError

CHUNK = 1 << 20  # bytes per read, small enough to be in the processor's cache for the checksum
_HEADER = 4096  # longest header of an array that is accepted
_MOST = 2**48  # elements of an array if its axes of no elements had one: other libraries compute with that number
# the header of an array as NumPy writes it; matched as a pattern and never evaluated as Python
_DESCRIPTION = re.compile(
    rb"\x93NUMPY(?:\x01\x00..|\x02\x00....)"
    rb"\{'descr': '([<>|=]?(?:b1|[iu][1248]|f(?:2|4|8|16)|c(?:8|16|32)|[SU][1-9]\d{0,5}))', "
    rb"'fortran_order': (True|False), 'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\),? ?\}",
    re.DOTALL,
)
KINDS = "biufcSU"  # kinds of NumPy dtypes: booleans, numbers and strings, never objects
_MAX_RATIO = 100  # largest accepted compression ratio, against decompression bombs


@dataclass(frozen=True)
class Entry:
    """An array in a file: validated header, unread values."""

    shape: tuple[int, ...]
    dtype: np.dtype
    columns_first: bool
    header: bytes
    start: int  # offset of the values in the file; 0 for a compressed member
    member: zipfile.ZipInfo

    @property
    def nbytes(self) -> int:
        return self.member.file_size - len(self.header)


def open_arrays(path: str | Path) -> AbstractContextManager[Mapping[str, np.ndarray]]:
    """Open the arrays of an .npz file by name, or that of an .npy file as "array", for a with statement.

    Raises MissingFileError if there is no such file, FileFormatError for an invalid or truncated one.
    """
    file = Path(path)
    if file.suffix.lower() == ".npy":
        return nullcontext({"array": read_npy(file)})
    return ArrayFile(file)


def read_npy(path: str | Path) -> np.ndarray:
    """Read the array of an .npy file. Raises FileFormatError for an invalid or truncated file."""
    file = Path(path)
    with open_file(file) as stream:
        size = size_of(stream)
        dtype, shape, columns_first, header = parse_header(stream.read(_HEADER), size, file.name)
        stream.seek(len(header))
        try:
            array = np.empty(shape[::-1] if columns_first else shape, dtype)
        except (ValueError, MemoryError) as error:  # an empty array may have axes that NumPy does not take
            raise FileFormatError(f"{file.name} cannot be read: {error}") from None
        stream.readinto(array.reshape(-1).view(np.uint8).data)
    _check_texts(array, file.name)
    return array.transpose() if columns_first else array


def parse_header(top: bytes, size: int, name: str) -> tuple[np.dtype, tuple[int, ...], bool, bytes]:
    """Parse the header at the top of an array of ``size`` bytes: dtype, shape, whether columns are first, and the header.

    Raises FileFormatError for other data and for a shape that does not match the size; ``name`` is used in the message.
    """
    found = _DESCRIPTION.match(top)
    end = 12 if top[6:7] == b"\2" else 10
    length = end + int.from_bytes(top[8:end], "little")
    if not found or length > len(top) or found.end() > length or top[found.end() : length].strip(b" \n"):
        raise FileFormatError(f"{name} is not an array of numbers")
    kind, order, sizes = (text.decode() for text in found.groups())
    dtype, shape = np.dtype(kind), tuple(int(size) for size in sizes.split(",") if size.strip())
    count = math.prod(shape)
    if len(shape) > 32 or count * dtype.itemsize != size - length:
        raise FileFormatError(f"{name} is declared with shape {shape} and {dtype}, but has {size - length:,} bytes")
    if math.prod(max(size, 1) for size in shape) > _MOST:
        raise FileFormatError(f"{name} is declared with shape {shape}, larger than any array")
    return dtype, shape, order == "True", top[:length]


def _check_texts(array: np.ndarray, name: str) -> None:
    """Raise FileFormatError for numbers that are not characters, which NumPy only finds when a text is used."""
    if array.dtype.kind == "U":
        codes = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).reshape(-1).view(np.uint32)
        if ((codes > 0x10FFFF) | (codes >> 11 == 0xD800 >> 11)).any():
            raise FileFormatError(f"{name} holds texts with characters that do not exist")


class ArrayFile(Mapping):
    """An open .npz file: ``entries`` by name, values are read on access.

    Opening validates the names, shapes and sizes of all entries, reading a value its checksum. Raises FileFormatError for
    a file that is invalid or truncated, FileNotFoundError for a missing one.
    """

    what = "file of arrays"

    def __init__(self, path: str | Path):
        self.name = Path(path).name
        self._file = open_file(path)
        try:
            with self._wrap_errors():
                self._size = self._file.seek(0, io.SEEK_END)
                self._archive = open_archive(self._file)
                self.note = self._archive.comment.decode("utf-8", "replace")
                self.entries = self._read_entries(self._archive.infolist())
                self._verified: set[str] = set()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __getitem__(self, name: str) -> np.ndarray:
        entry = self.entries[name]
        with self._wrap_errors():
            array = np.empty(entry.shape[::-1] if entry.columns_first else entry.shape, entry.dtype)
            view = array.reshape(-1).view(np.uint8).data
            self._read(name, entry, (view[at : at + CHUNK] for at in range(0, len(view), CHUNK)))
            _check_texts(array, f"{self.name}: {display_name(name)}")
        return array.transpose() if entry.columns_first else array

    @property
    def modified_time(self) -> float:
        """Modification time of the file, in seconds since 1970."""
        return os.fstat(self._file.fileno()).st_mtime

    def pieces(self, name: str, ranges: Iterable[tuple[int, int]]) -> Iterator[np.ndarray]:
        """Read ranges of values in the order of the file, without reading, or verifying, those in between."""
        entry = self.entries[name]
        width = entry.dtype.itemsize
        with self._wrap_errors():
            stream = self._file if entry.start else self._archive.open(entry.member)
            for start, stop in ranges:
                stream.seek((entry.start or len(entry.header)) + start * width)
                data = stream.read((stop - start) * width)
                if len(data) < (stop - start) * width:
                    raise FileFormatError(f"{self.name} is truncated: {name} is not whole")
                yield np.frombuffer(data, entry.dtype)

    def matching(self, names: str) -> dict[str, Entry]:
        """Entries whose name matches a pattern."""
        return {name: entry for name, entry in self.entries.items() if fnmatchcase(name, names)}

    def verify(self, names: Iterable[str] | None = None) -> None:
        """Verify checksums by reading values without keeping them, before any of the file is used."""
        buffer = memoryview(bytearray(CHUNK))
        for name in self if names is None else names:
            entry = self.entries[name]
            with self._wrap_errors():
                sizes = (min(CHUNK, entry.nbytes - at) for at in range(0, entry.nbytes, CHUNK))
                self._read(name, entry, (buffer[:size] for size in sizes))
            self._verified.add(name)

    # -- reading

    @contextmanager
    def _wrap_errors(self):
        try:
            yield
        except FileFormatError:
            raise
        except (
            zipfile.BadZipFile,
            zlib.error,
            struct.error,
            ValueError,
            TypeError,
            OSError,
            EOFError,
            KeyError,
            MemoryError,
            RuntimeError,
            OverflowError,
        ) as error:
            raise FileFormatError(f"{self.name} is not a readable {self.what} (.npz): {error}") from error

    def _read_entries(self, members: list[zipfile.ZipInfo]) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        packed = sum(m.compress_size for m in members)
        if packed > self._size:
            raise FileFormatError(f"{self.name} is broken: its members are declared larger than the file")
        if sum(m.file_size for m in members) > max(_MAX_RATIO * packed, self._size):
            raise FileFormatError(f"{self.name} unpacks to far more than its own size and is not read")
        for member in members:
            name = member.orig_filename.removesuffix(".npy")
            if name == member.orig_filename:
                raise FileFormatError(f"{self.name} is not a {self.what}: {display_name(name)} in it is not an array")
            if fault := name_fault(name):
                raise FileFormatError(f"{self.name} is not a {self.what}: the name {display_name(name)} in it {fault}")
            if name in entries:
                raise FileFormatError(f"{self.name} is broken: it holds {name} twice")
            if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise FileFormatError(f"{self.name} uses a compression that NumPy does not use")
            entries[name] = self._read_header(name, member)
        return entries

    def _read_header(self, name: str, member: zipfile.ZipInfo) -> Entry:
        """Parse the header of a member, and check that it agrees with its size."""
        start = 0
        if member.compress_type == zipfile.ZIP_STORED:
            self._file.seek(member.header_offset)
            top = self._file.read(30 + len(member.orig_filename.encode()) + _HEADER)
            signature, _, length, extra = struct.unpack("<4s22sHH", top[:30])
            called = top[30 : 30 + length].decode("utf-8" if member.flag_bits & 0x800 else "cp437")
            start = member.header_offset + 30 + length + extra
            if (
                signature != b"PK\3\4"
                or called != member.orig_filename
                or member.compress_size != member.file_size
                or start + member.file_size > self._size
            ):
                raise FileFormatError(f"{self.name} is broken: its table of contents does not match {name}")
            top = top[30 + length + extra :][: member.file_size]
        else:
            with self._archive.open(member) as file:
                top = file.read(_HEADER)
        try:
            dtype, shape, columns_first, header = parse_header(top, member.file_size, name)
        except FileFormatError as error:
            raise FileFormatError(f"{self.name} is not a {self.what}: {error}") from None
        return Entry(shape, dtype, columns_first, header, start + len(header) if start else 0, member)

    def _read(self, name: str, entry: Entry, parts: Iterable[memoryview]) -> None:
        """Read into the parts in order, and compare the checksum at the end."""
        if entry.start:
            checksum = zlib.crc32(entry.header)
            self._file.seek(entry.start)
            for part in parts:
                if self._file.readinto(part) != len(part):  # type: ignore[attr-defined]
                    raise FileFormatError(f"{self.name} is truncated: {name} is not whole")
                if name not in self._verified:
                    checksum = zlib.crc32(part, checksum)
            if name not in self._verified and checksum != entry.member.CRC:
                raise FileFormatError(f"{self.name} is damaged: the checksum of {name} does not match its values")
            return
        with self._archive.open(entry.member) as file:  # zipfile verifies the checksum
            file.read(len(entry.header))
            for part in parts:
                filled = 0
                while filled < len(part):
                    count = file.readinto(part[filled:])  # type: ignore[attr-defined]
                    if not count:
                        raise FileFormatError(f"{self.name} is truncated: {name} is not whole")
                    filled += count
            file.read(1)


def display_name(name: str) -> str:
    """Quoted name for error messages, shortened to 60 characters."""
    return repr(name if len(name) <= 60 else f"{name[:60]}…")


def name_fault(name: str) -> str:
    """Reason why a name is invalid for a parameter, or "": names are also paths when the archive is extracted."""
    if len(name) > 1000:
        return "is too long"
    if not name.isprintable() or "\\" in name:
        return "has characters that are not allowed in names"
    if any(word in ("", ".", "..") for word in name.split("/")):
        return "is not a path of names"
    return ""
