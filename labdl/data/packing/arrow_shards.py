"""Shards of a packed data set: files of Arrow IPC, written batch by batch, and read from mapped memory without a copy."""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from labdl.bounded.files import open_file
from labdl.errors import FileFormatError

_MAGIC = b"ARROW1\0\0"
_BATCH = 1 << 23  # bytes of the rows that are written at once
_TYPES = {
    "bool": pa.bool_(),
    "string": pa.string(),
    "binary": pa.large_binary(),
    "halffloat": pa.float16(),
    "float": pa.float32(),
    "double": pa.float64(),
} | {f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)}


def arrow_type(column: str) -> pa.DataType:
    """The type of a column: "int64", "string", "list<float>". Raises FileFormatError for another name."""
    inner = column[5:-1] if column.startswith("list<") and column.endswith(">") else column
    if inner not in _TYPES or (inner != column and inner in ("bool", "binary")):
        raise FileFormatError(f"a packed data set has no columns of {column!r:.80}")
    return _TYPES[inner] if inner == column else pa.large_list(_TYPES[inner])


def arrow_schema(columns: Mapping[str, str]) -> pa.Schema:
    """The schema of a shard with these columns."""
    return pa.schema([pa.field(name, arrow_type(column)) for name, column in columns.items()])


class ShardWriter:
    """Writes rows, dictionaries of values by column, to an open file; ``checksum`` is SHA-256 of what was written."""

    def __init__(self, file: BinaryIO, columns: Mapping[str, str]):
        self._columns = columns
        self._rows: list[Mapping[str, Any]] = []
        self._size = 0
        self._file = _HashedFile(file)
        self._writer = pa.ipc.new_file(pa.PythonFile(self._file, mode="w"), arrow_schema(columns))

    def write(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        self._size += sum(
            v.nbytes if isinstance(v, np.ndarray) else len(v) for v in row.values() if hasattr(v, "__len__")
        )
        if self._size > _BATCH:
            self._flush()

    def close(self) -> str:
        """Write the rest; returns the checksum in hexadecimal digits."""
        self._flush()
        self._writer.close()
        return self._file.hash.hexdigest()

    def _flush(self) -> None:
        if self._rows:
            arrays = [_make_array([row.get(name) for row in self._rows], c) for name, c in self._columns.items()]
            self._writer.write_batch(pa.record_batch(arrays, schema=arrow_schema(self._columns)))
        self._rows, self._size = [], 0


def _make_array(values: list[Any], column: str) -> pa.Array:
    kind = arrow_type(column)
    if not pa.types.is_large_list(kind) or column == "list<string>":
        return pa.array(values, kind)
    present = [v for v in values if v is not None]
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum([0 if v is None else v.size for v in values], out=offsets[1:])
    numbers = pa.array(np.concatenate(present), kind.value_type) if present else pa.array([], kind.value_type)
    missing = None if len(present) == len(values) else pa.array([v is None for v in values])
    return pa.LargeListArray.from_arrays(pa.array(offsets), numbers, kind, mask=missing)


class _HashedFile:
    """A file for pyarrow, with SHA-256 of the bytes that are written."""

    closed = False

    def __init__(self, file: BinaryIO):
        self.hash, self._file = hashlib.sha256(), file

    def write(self, data: Any) -> int:
        self.hash.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """The file stays open for `replace_files`."""


class Shard:
    """The rows of a file in mapped memory, which is read when a row is used.

    Raises FileFormatError if the file does not have ``samples`` rows of these columns, if its ``checksum`` differs (None:
    it is not computed), and for compressed columns, whose size is only known once they are in memory.
    """

    def __init__(self, path: Path, columns: Mapping[str, str], samples: int, checksum: str | None):
        self.name = path.name
        open_file(path).close()
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
        if checksum is not None and hashlib.sha256(cast(Any, content)).hexdigest() != checksum:
            raise FileFormatError(f"{self.name} is damaged: its checksum does not match; remove it and call pack again")
        self._starts: list[int] = []
        self._batches: list[pa.RecordBatch] = []
        try:
            count = self._read_batches(content, arrow_schema(columns))
        except (pa.ArrowException, OSError, EOFError, struct.error, IndexError) as error:
            raise FileFormatError(f"{self.name} is damaged: {error}") from None
        if count != samples:
            raise FileFormatError(f"{self.name} has {count:,} samples, not {samples:,} as the description says")
        self._columns: dict[tuple[int, str], _Column] = {}

    def _read_batches(self, content: pa.Buffer, schema: pa.Schema) -> int:
        if content.size < 8 or content[:8].to_pybytes() != _MAGIC:
            raise FileFormatError(f"{self.name} is no file of Arrow IPC")
        reader, count = pa.BufferReader(content), 0
        reader.seek(8)
        first = pa.ipc.read_message(reader)
        if first.type != "schema":  # which pyarrow does not check, and ends the process
            raise FileFormatError(f"{self.name} is damaged: it has no schema")
        if not pa.ipc.read_schema(first).equals(schema):
            raise FileFormatError(f"{self.name} has other columns than the description says")
        while True:
            try:
                message = pa.ipc.read_message(reader)
            except EOFError:  # the mark at the end of the batches
                return count
            if message.type != "record batch" or _is_compressed(message.metadata.to_pybytes()):
                raise FileFormatError(f"{self.name} has compressed columns or dictionaries, which are not read")
            batch = pa.ipc.read_record_batch(message, schema)
            batch.validate(full=True)
            self._starts.append(count)
            self._batches.append(batch)
            count += batch.num_rows

    def value(self, row: int, name: str) -> Any:
        """The value of a column: for numbers of a list their bytes, as a view of the file. Raises KeyError."""
        at = bisect_right(self._starts, row) - 1
        column = self._columns.get((at, name))
        if column is None:
            column = self._columns[at, name] = _Column(self._batches[at].column(name))
        return column.value(row - self._starts[at])


class _Column:
    def __init__(self, array: Any):
        self._array = array
        self._data: np.ndarray | None = None
        kind = array.type
        inner = kind.value_type if pa.types.is_large_list(kind) else None
        if pa.types.is_large_binary(kind) or (inner is not None and inner != pa.string()):
            buffers = array.buffers()
            size = 1 if inner is None else inner.bit_width // 8
            # an empty column may have no buffers
            offsets = np.frombuffer(buffers[1], np.int64) if buffers[1] else np.zeros(len(array) + 1, np.int64)
            self._offsets = offsets[array.offset : array.offset + len(array) + 1] * size
            self._data = np.frombuffer(buffers[-1], np.uint8) if buffers[-1] else np.zeros(0, np.uint8)
            self._valid = None if array.null_count == 0 else np.asarray(array.is_valid())

    def value(self, row: int) -> Any:
        if self._data is None:
            return self._array[row].as_py()
        if self._valid is not None and not self._valid[row]:
            return None
        return self._data[self._offsets[row] : self._offsets[row + 1]].data


def _is_compressed(message: bytes) -> bool:
    """Whether the columns of a record batch are compressed: field 3 of its table in the flat buffer of the message."""
    (root,) = struct.unpack_from("<I", message, 0)
    header = _field(message, root, 2)
    if header is None:
        return True
    return _field(message, header + struct.unpack_from("<I", message, header)[0], 3) is not None


def _field(message: bytes, table: int, number: int) -> int | None:
    """Position of a field of a table; None if it is left out."""
    start = table - struct.unpack_from("<i", message, table)[0]
    (size,) = struct.unpack_from("<H", message, start)
    if 4 + 2 * number >= size:
        return None
    (offset,) = struct.unpack_from("<H", message, start + 4 + 2 * number)
    return table + offset if offset else None
