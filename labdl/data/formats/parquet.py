"""Parquet files: rows as dictionary samples, read by groups of rows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file
from labdl.data.dataset import Dataset
from labdl.data.formats.path_list import Paths, Places, list_paths
from labdl.errors import ConfigError, DataError, FileFormatError, suggest_name

if TYPE_CHECKING:
    import pyarrow as pa

_LARGEST_GROUP = 1 << 31  # bytes of a group of rows in memory
_THRIFT = 1 << 26  # bytes of texts and entries of lists in the table of contents


class ParquetDataset(Dataset):
    """Rows of one or several Parquet files, as dictionaries of numbers, texts, bytes and arrays.

    ``columns`` are those to read, by default all. Lists of numbers become arrays of their dtype. A whole group of rows is
    read for one of them, and the last ``groups_in_memory`` are kept: `write_parquet` makes small ones, and samples in an
    order that stays near are fast. Raises MissingFileError, FileFormatError, and ConfigError for an unknown column.
    """

    def __init__(self, paths: Paths, *, columns: Sequence[str] | None = None, groups_in_memory: int = 4):
        self.paths = list_paths(paths)
        self.columns = None if columns is None else list(columns)
        self.groups_in_memory = groups_in_memory
        if groups_in_memory < 1:
            raise ConfigError(f"ParquetDataset wants groups_in_memory of at least 1, received {groups_in_memory}")
        self._groups: list[tuple[int, int]] = []
        lengths: list[int] = []
        for number, path in enumerate(self.paths):
            for group, length in enumerate(self._list_groups(path)):
                self._groups.append((number, group))
                lengths.append(length)
        self._places = Places(lengths)
        self.name = self.paths[0].stem
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._tables: OrderedDict[int, pa.Table] = OrderedDict()

    def _list_groups(self, path: Path) -> list[int]:
        with ParquetFile(path) as file:
            metadata = file.metadata
            for name in self.columns or ():
                if name not in file.schema_arrow.names:
                    names = file.schema_arrow.names
                    raise ConfigError(f"{path.name} has no column {name!r:.80}{suggest_name(name, names)}")
            lengths = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            if any(not 0 <= length < 1 << 40 for length in lengths):
                raise FileFormatError(f"{path.name} is damaged: a group has {min(lengths):,} to {max(lengths):,} rows")
            return lengths

    def __len__(self) -> int:
        return len(self._places)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        group, row = self._places.find(index)
        table = self._table(group)
        return {name: _value(table.column(name), row) for name in table.column_names}

    def _table(self, group: int) -> Any:
        with self._lock:
            table = self._tables.get(group)
            if table is None:
                number, inner = self._groups[group]
                path = self.paths[number]
                with ParquetFile(path) as file:
                    size = file.metadata.row_group(inner).total_byte_size
                    if not 0 <= size <= _LARGEST_GROUP:
                        raise FileFormatError(f"{path.name} has a group of rows of {size:,} bytes, more than is read")
                    table = file.read_row_group(inner, columns=self.columns, use_threads=False)
                    table.validate(full=True)
                if table.num_rows != self._places.starts[group + 1] - self._places.starts[group]:
                    raise FileFormatError(f"{path.name} is damaged: a group of rows has another length than it says")
                self._tables[group] = table = table.combine_chunks()
                if len(self._tables) > self.groups_in_memory:
                    self._tables.popitem(last=False)
            else:
                self._tables.move_to_end(group)
            return table

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_tables")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()


class ParquetFile:
    """A Parquet file for a with statement, in which errors of pyarrow become FileFormatError."""

    def __init__(self, path: Path):
        open_file(path).close()
        self.path = path

    def __enter__(self) -> Any:
        import pyarrow.parquet as pq

        try:
            self._file = pq.ParquetFile(
                self.path,
                thrift_string_size_limit=_THRIFT,
                thrift_container_size_limit=_THRIFT >> 4,
                page_checksum_verification=True,
            )
        except Exception as error:
            self.__exit__(type(error), error, None)
            raise
        return self._file

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import pyarrow as pa

        if hasattr(self, "_file"):
            self._file.close()
        if isinstance(error, FileFormatError | ConfigError):
            return
        if isinstance(error, pa.ArrowException | OSError | ValueError | OverflowError | MemoryError):
            raise FileFormatError(f"{self.path.name} is no Parquet file, or is damaged: {error}") from None


def _value(column: Any, row: int) -> Any:
    import pyarrow as pa

    value = column[row]
    if not value.is_valid:
        return None
    kind, depth = column.type, 0
    while pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        kind, depth = kind.value_type, depth + 1
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if not depth or not numeric:
        return value.as_py()
    if depth == 1 and value.values.null_count == 0:
        return value.values.to_numpy(zero_copy_only=False)
    try:
        return np.array(value.as_py(), kind.to_pandas_dtype())
    except (ValueError, TypeError):  # rows of different lengths, or missing numbers
        return value.as_py()


def write_parquet(dataset: Any, path: str | Path, *, rows_per_group: int = 1024) -> None:
    """Write dictionary samples as rows of a Parquet file, which appears when it is complete.

    Numbers, texts and bytes become columns of them, arrays (nested) lists. The first group decides the types of the columns;
    pages have checksums. Raises DataError for samples of another kind.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not len(dataset) or rows_per_group < 1:
        raise ConfigError(f"write_parquet wants samples and rows_per_group of at least 1, received {rows_per_group}")
    with replace_files(path) as (file,):
        writer = None
        for start, rows in _groups(dataset, rows_per_group):
            try:
                names = list(rows[0]) if writer is None else writer.schema.names
                schema = None if writer is None else writer.schema
                columns = [_column([row.get(n) for row in rows], schema and schema.field(n).type) for n in names]
                table = pa.table(dict(zip(names, columns, strict=True)), schema=schema)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                last = start + len(rows) - 1
                raise DataError(f"samples {start} to {last} cannot be stored as Parquet: {error}") from None
            if writer is None:
                writer = pq.ParquetWriter(cast(Any, file), table.schema, write_page_checksum=True)
            writer.write_table(table)
        if writer is not None:
            writer.close()


def _groups(dataset: Any, size: int) -> Iterator[tuple[int, list[Mapping[str, Any]]]]:
    names: set[str] | None = None
    for start in range(0, len(dataset), size):
        rows = [dataset[i] for i in range(start, min(start + size, len(dataset)))]
        for at, row in enumerate(rows, start):
            if not isinstance(row, Mapping):
                raise DataError(f"write_parquet wants dictionaries, sample {at} is {type(row).__name__}")
            names = set(row) if names is None else names
            if not names.issuperset(row):
                raise DataError(f"sample {at} has the entry {min(set(row) - names)!r}, which the first has not")
        yield start, rows


def _column(values: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    first = next((v for v in values if v is not None), None)
    if isinstance(first, np.ndarray) and first.ndim:
        if kind is None:
            kind = pa.from_numpy_dtype(first.dtype)
            for _ in range(first.ndim):
                kind = pa.list_(kind)
        values = [None if v is None else np.asarray(v) if first.ndim == 1 else np.asarray(v).tolist() for v in values]
    else:
        values = [
            v.item() if isinstance(v, np.generic | np.ndarray) else str(v) if isinstance(v, str) else v for v in values
        ]
        if kind is None and isinstance(first, np.generic) and first.dtype.kind in "biuf":
            kind = pa.from_numpy_dtype(first.dtype)
    return pa.array(values, kind)
