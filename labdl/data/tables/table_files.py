"""CSV and Parquet files as tables of Arrow; all columns of a CSV are texts."""

from __future__ import annotations

import csv as stdlib_csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labdl.bounded.files import open_file, size_of
from labdl.data.folders.label_column import join_names
from labdl.data.text_files.encodings import check_encoding
from labdl.data.text_files.line_index import LineIndex
from labdl.data.text_files.row_files import find_delimiter
from labdl.errors import ConfigError, FileFormatError, suggest_name

_LARGEST = 2 << 30  # bytes of a file, and of the columns of a Parquet file in memory
_MOST_COLUMNS = 10_000


def read_csv(
    path: Path, *, encoding: str, delimiter: str | None, names: Sequence[str] | None, columns: Sequence[str] | None
) -> Any:
    """The columns of a CSV file as texts; its first line has their names unless they are given.

    Raises MissingFileError, FileFormatError with the line of a row of another length, ConfigError for unknown columns.
    """
    import pyarrow as pa
    from pyarrow import csv

    encoding = check_encoding(encoding, "strict", lines=True)
    divider = delimiter or find_delimiter(path)
    rows = LineIndex(path, "record", delimiter=divider)  # refuses lines without end and quotation marks left open
    if not len(rows):
        raise FileFormatError(f"{path.name} has no rows")
    first = rows[0].decode(encoding, "replace")
    written = list(names or next(stdlib_csv.reader(first.splitlines(keepends=True), delimiter=divider)))
    known = {name.strip() or f"column_{at + 1}": name for at, name in enumerate(written)}
    if len(written) > _MOST_COLUMNS:
        raise FileFormatError(f"{path.name} has {len(written):,} columns, at most {_MOST_COLUMNS:,} are read")
    if len(known) < len(written):
        twice = next(name for name in written if written.count(name) > 1 or list(known.values()).count(name) == 0)
        raise FileFormatError(f"{path.name} has two columns of the name {twice.strip()!r:.60}: rename one of them")
    chosen = _choose(list(known), columns, path)
    wrong: list[tuple[int, int]] = []

    def refuse(row: Any) -> str:
        wrong.append((row.number or 0, row.actual_columns))
        return "error"

    try:
        with open_file(path) as file:
            if size_of(file) > _LARGEST:
                raise FileFormatError(
                    f"{path.name} has {size_of(file):,} bytes, tables of at most {_LARGEST:,} are read"
                )
            longest = int((rows.ends - rows.starts).max())
            table = csv.read_csv(
                file,
                csv.ReadOptions(
                    block_size=(1 << 20) + 2 * longest,  # no row is larger than a block, in UTF-8 either
                    use_threads=False,
                    encoding=encoding,
                    column_names=None if names is None else written,
                ),
                csv.ParseOptions(delimiter=divider, newlines_in_values=True, invalid_row_handler=refuse),
                csv.ConvertOptions(
                    strings_can_be_null=False,
                    column_types=dict.fromkeys(written, pa.string()),
                    include_columns=[known[name] for name in chosen],
                ),
            )
            return table.rename_columns(chosen)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if wrong:
            number, actual = wrong[0]
            line = rows.line_number(min(max(number, 1), len(rows)) - 1)
            raise FileFormatError(
                f"{path.name}: line {line:,} has {actual} columns, the first has {len(written)}"
            ) from None
        raise FileFormatError(f"{path.name} is no table in {encoding}: {error}") from None


def read_parquet(path: Path, *, columns: Sequence[str] | None) -> Any:
    """The columns of a Parquet file. Raises MissingFileError, FileFormatError, ConfigError for unknown columns."""
    from labdl.data.formats.parquet import ParquetFile

    with ParquetFile(path) as file:
        chosen = _choose(file.schema_arrow.names, columns, path)
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)]
        if any(size < 0 for size in sizes) or sum(sizes) > _LARGEST:
            raise FileFormatError(f"{path.name} has {sum(sizes):,} bytes, tables of at most {_LARGEST:,} are read")
        table = file.read(columns=chosen, use_threads=False)
        table.validate(full=True)
        return table


def _choose(names: Sequence[str], columns: Sequence[str] | None, path: Path) -> list[str]:
    for name in columns or ():
        if name not in names:
            raise ConfigError(
                f"{path.name} has the columns {join_names(list(names))}, received columns with {name!r:.60}"
                f"{suggest_name(name, names)}"
            )
    return list(names if columns is None else columns)
