"""Files as rows of named values: lines of text, JSON lines and CSV read by an index, JSON and XML in memory, Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.text_files.encodings import decode_text
from labdl.data.text_files.line_index import LONGEST, LineIndex, Unit, first_line
from labdl.errors import ConfigError, DataError, FileFormatError, suggest_name

LARGEST_IN_MEMORY = 1 << 30  # bytes of a JSON file
_DELIMITERS = ",;\t"
_MOST_COLUMNS = 10_000
_JSON_LINES = b"{"  # a file of JSON that begins so may be one object, or one on each line


class Rows(Protocol):
    """The rows of one file."""

    @property
    def columns(self) -> Sequence[str]: ...

    def __len__(self) -> int: ...

    def read(self, index: int) -> dict[str, Any]:
        """The values of a row by column. Raises DataError that names the file and the line."""
        ...


class TextLines:
    """Lines or paragraphs of a text file, as the column "text"."""

    columns = ("text",)

    def __init__(self, path: Path, encoding: str, errors: str, *, unit: Unit = "line", keep_blank: bool = False):
        self.index = LineIndex(path, unit, keep_blank=keep_blank)
        self.encoding, self.errors = encoding, errors

    def __len__(self) -> int:
        return len(self.index)

    def read(self, index: int) -> dict[str, Any]:
        return {"text": decode_row(self, index).replace("\r\n", "\n")}


class Document:
    """A whole text file as one row with the column "text"."""

    columns = ("text",)

    def __init__(self, path: Path, encoding: str, errors: str):
        self.path, self.encoding, self.errors = path, encoding, errors

    def __len__(self) -> int:
        return 1

    def read(self, index: int) -> dict[str, Any]:
        return {"text": read_text(self.path, self.encoding, self.errors)}


class JsonLines:
    """A file with a JSON object on each line."""

    def __init__(self, path: Path, encoding: str, errors: str):
        self.index = LineIndex(path)
        self.encoding, self.errors = encoding, errors
        self.columns = list(self.read(0)) if len(self.index) else []

    def __len__(self) -> int:
        return len(self.index)

    def read(self, index: int) -> dict[str, Any]:
        try:
            row = loads(decode_row(self, index))
        except ValueError as error:
            # the text of a JSONDecodeError counts lines from this one
            reason = f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else error
            raise DataError(f"{place(self, index)} is no JSON: {reason}") from None
        if not isinstance(row, dict):
            raise DataError(f"{place(self, index)} wants an object of names and values, received {row!r:.60}")
        return row


class CsvRows:
    """Records of a CSV file, with the names of columns in the first of them unless they are given."""

    def __init__(
        self, path: Path, encoding: str, errors: str, *, names: Sequence[str] | None = None, quotes: bool = True
    ):
        self.delimiter, self.quotes = find_delimiter(path), quotes
        self.index = LineIndex(path, "record" if quotes else "line", delimiter=self.delimiter)
        self.encoding, self.errors = encoding, errors
        self.first = 0 if names is not None else 1
        self.columns: list[str] = [] if names is None else list(names)
        if len(self.index) and names is None:
            self.columns = [name.strip() for name in self._split(0)]
        if len(set(self.columns)) < len(self.columns) or len(self.columns) > _MOST_COLUMNS:
            raise FileFormatError(f"{path.name} wants columns of different names, at most {_MOST_COLUMNS:,} of them")

    def __len__(self) -> int:
        return max(0, len(self.index) - self.first)

    def read(self, index: int) -> dict[str, Any]:
        values = self._split(index + self.first)
        if len(values) != len(self.columns):
            raise DataError(
                f"{place(self, index + self.first)} has {len(values)} columns, the names of columns are "
                f"{len(self.columns)}: texts with {self.delimiter!r} want to be between quotation marks"
            )
        return dict(zip(self.columns, values, strict=True))

    def _split(self, index: int) -> list[str]:
        text = decode_row(self, index)
        _allow_long_fields(len(text))
        if not self.quotes:
            return text.split(self.delimiter)
        try:
            return next(csv.reader(text.splitlines(keepends=True), delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            raise DataError(f"{place(self, index)} is no CSV: {error}") from None


def find_delimiter(path: Path) -> str:
    """The most frequent of comma, semicolon and tab in the first line of a file."""
    line = first_line(path)
    return max(_DELIMITERS, key=lambda mark: line.count(mark.encode()))


class MemoryRows:
    """Rows in memory; ``columns`` are the names of all rows, in the order of their appearance."""

    def __init__(self, rows: list[dict[str, Any]]):
        self.rows = rows
        self.columns = list(dict.fromkeys(name for row in rows for name in row))

    def __len__(self) -> int:
        return len(self.rows)

    def read(self, index: int) -> dict[str, Any]:
        return self.rows[index]


class ParquetRows:
    """Rows of a Parquet file, of some columns."""

    def __init__(self, path: Path, columns: Sequence[str] | None = None):
        from labdl.data.formats.parquet import ParquetDataset

        self.source = ParquetDataset(path, columns=columns)
        self.columns = list(self.source.read(0)) if len(self.source) else []

    def __len__(self) -> int:
        return len(self.source)

    def read(self, index: int) -> dict[str, Any]:
        return self.source.read(index)


def read_json_rows(path: Path, encoding: str, errors: str, field: str | None) -> Rows:
    """The list of objects of a JSON file, at its top, under the name ``field``, or one object on each line."""
    content = read_file(path, LARGEST_IN_MEMORY, "JSON file in memory; as JSON lines (.jsonl) it is read from disk")
    text = decode_text(content, encoding, errors, path.name)
    try:
        found = loads(text)
    except ValueError as error:
        if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_JSON_LINES) and "Extra data" in str(error) and not field:
            return JsonLines(path, encoding, errors)
        raise FileFormatError(f"{path.name} is no JSON: {error}") from None
    if field is not None and (not isinstance(found, dict) or field not in found):
        names = list(map(str, found)) if isinstance(found, dict) else []
        raise ConfigError(
            f"{path.name} has {', '.join(names[:20]) or 'no names'} at its top, received field={field!r:.60}"
            f"{suggest_name(field, names)}"
        )
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list)]
        found = found[field] if field is not None else lists[0] if len(lists) == 1 else found
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise FileFormatError(f"{path.name} wants a list of objects, at its top or under a name: field=")
    return MemoryRows(found)


def open_rows(
    path: Path,
    encoding: str,
    errors: str,
    *,
    kind: str,
    sample_by: str = "line",
    keep_blank: bool = False,
    field: str | None = None,
    record: str | None = None,
    names: Sequence[str] | None = None,
    quotes: bool = True,
    columns: Sequence[str] | None = None,
) -> Rows:
    """The rows of a file of a kind: "text", "json", "jsonl", "csv", "xml" or "parquet"."""
    from labdl.data.text_files.xml_rows import read_xml_rows

    openers: dict[str, Callable[[], Rows]] = {
        "json": lambda: read_json_rows(path, encoding, errors, field),
        "jsonl": lambda: JsonLines(path, encoding, errors),
        "csv": lambda: CsvRows(path, encoding, errors, names=names, quotes=quotes),
        "xml": lambda: MemoryRows(read_xml_rows(path, record)),
        "parquet": lambda: ParquetRows(path, columns),
        "text": lambda: (
            Document(path, encoding, errors)
            if sample_by == "document"
            else TextLines(path, encoding, errors, unit=sample_by, keep_blank=keep_blank)  # type: ignore[arg-type]
        ),
    }
    return openers[kind]()


def read_text(path: Path, encoding: str, errors: str) -> str:
    """The text of a whole file of at most 64 MB, with \\n as line ends."""
    text = decode_text(read_file(path, LONGEST, "single text"), encoding, errors, path.name)
    return text.replace("\r\n", "\n")


def decode_row(rows: Any, index: int) -> str:
    """The text of a line of a file."""
    content = rows.index[index]
    try:
        return decode_text(content, rows.encoding, rows.errors, "")
    except DataError:
        return decode_text(content, rows.encoding, rows.errors, place(rows, index))


def place(rows: Any, index: int) -> str:
    """The file and the line of a row, for messages."""
    return f"{rows.index.path.name}, line {rows.index.line_number(index):,}"


def _allow_long_fields(length: int) -> None:
    """The library refuses fields of more than 131,072 characters; lines are bounded already."""
    if length > csv.field_size_limit():
        csv.field_size_limit(LONGEST)
