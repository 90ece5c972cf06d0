"""Reader of .csv files: numeric columns and text columns."""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np

from labdl.bounded.files import open_file
from labdl.data.tables.column import MISSING
from labdl.errors import ConfigError, FileFormatError, suggest_name

_MAX_COLUMNS = 10_000
_KEPT = 100_000  # different texts of which copies are found
_LONGEST = 1 << 22  # characters of a line: 400 for each of so many columns


class Table:
    """Columns of a file: numbers, and ``texts`` by index for the columns that are not numeric."""

    def __init__(self, name: str, columns: list[str], first_line: int):
        self.name, self.columns, self.first_line = name, columns, first_line
        self.values = [array("d") for _ in columns]
        self.texts: dict[int, list[str]] = {}
        self._known: dict[str, str] = {}  # texts that occurred, so that equal ones take memory once

    def add(self, row: list[str]) -> None:
        """Append a row; a column becomes a text column at its first value that is not a number."""
        for at, text in enumerate(row):
            if at in self.texts:
                self.texts[at].append(self._once(text.strip()))
                continue
            number = _number(text)
            if number is None:
                self.texts[at] = [*(f"{value:g}" for value in self.values[at]), text.strip()]
            else:
                self.values[at].append(number)

    def _once(self, text: str) -> str:
        return self._known.setdefault(text, text) if len(self._known) < _KEPT else self._known.get(text, text)

    def line_number(self, row: int) -> int:
        """Line number of a row in the file, as in editors."""
        return self.first_line + row

    def column_index(self, column: str | None) -> int:
        """Index of a column, by default the last. Raises ConfigError that lists the columns."""
        if column is None:
            return len(self.columns) - 1
        if column not in self.columns:
            listed = ", ".join(self.columns[:20]) + (" …" if len(self.columns) > 20 else "")
            raise ConfigError(
                f"{self.name} has the columns {listed}, received the target {column!r:.80}{suggest_name(column, self.columns)}"
            )
        return self.columns.index(column)

    def __len__(self) -> int:
        return len(self.texts.get(0, self.values[0]))

    def gaps(self, at: int) -> np.ndarray:
        """Whether each value of a column is missing: empty, or a text such as NA."""
        texts = self.texts.get(at)
        return np.zeros(len(self), bool) if texts is None else np.array([text in MISSING for text in texts])

    def is_text(self, at: int) -> bool:
        """Whether a column is text, not numbers with some values missing or wrong."""
        written = [text for text in self.texts.get(at, []) if text not in MISSING]
        return 2 * sum(_number(text) is None for text in written) > len(written)

    def numbers(self, at: int, *, gaps: bool = False) -> np.ndarray:
        """A column (N,) as float64, NaN where a value is missing if ``gaps``. Raises FileFormatError for any other text."""
        texts = self.texts.get(at)
        if texts is None:
            return np.frombuffer(self.values[at])
        numbers = [math.nan if gaps and text in MISSING else _number(text) for text in texts]
        if None in numbers:
            row = numbers.index(None)
            self.refuse_gap(at) if texts[row] in MISSING else self._refuse(at, row, "correct it, or leave the line out")
        return np.array(numbers, "float64")

    def refuse_text(self, at: int) -> NoReturn:
        """Raise FileFormatError for a column of texts."""
        row = next(row for row, text in enumerate(self.texts[at]) if text not in MISSING and _number(text) is None)
        self._refuse(at, row, "encode='one_hot' makes categories of texts, or leave the column out")

    def refuse_gap(
        self, at: int, advice: str = "or missing='mean' fills gaps and missing='drop' leaves lines out"
    ) -> NoReturn:
        """Raise FileFormatError for a value that is missing."""
        self._refuse(at, int(np.argmax(self.gaps(at))), f"fill it, {advice}")

    def _refuse(self, at: int, row: int, advice: str) -> NoReturn:
        what = f"{self.texts[at][row]!r:.40}" if self.texts[at][row] else "nothing"
        kind = "a text" if self.is_text(at) and self.texts[at][row] in MISSING else "a number"
        raise FileFormatError(
            f"{self.name}: the column {self.columns[at]!r:.60} has {what} in line {self.line_number(row)}, {kind} is wanted: "
            f"{advice}"
        )


def read_table(path: str | Path) -> Table:
    """Read a table. Raises MissingFileError and FileFormatError."""
    return _read(Path(path), _table)


def read_columns(path: str | Path) -> list[str]:
    """Read the names of a table's columns from its first line. Raises as `read_table`."""
    return _read(
        Path(path), lambda reader, name: _parse_header(next((row for row in reader if row), []), name)[0].columns
    )


def _read(file: Path, take: Callable[[Any, str], Any]) -> Any:
    try:
        with open_file(file) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
            first = stream.readline(1 << 20)
            stream.seek(0)
            return take(
                csv.reader(_lines(stream, file.name), delimiter=max(",;\t", key=first.count), strict=True), file.name
            )
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileFormatError(f"{file.name} is not a table in UTF-8: {error}") from None


def _lines(stream: TextIO, name: str) -> Iterator[str]:
    """The lines of a file. Raises FileFormatError for a line longer than any sample."""
    while line := stream.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise FileFormatError(f"{name} has a line of more than {_LONGEST:,} characters")
        yield line


def _table(reader, name: str) -> Table:
    table = None
    for row in reader:
        if not row:
            continue
        if table is None:
            table, row = _parse_header(row, name)
            if row is None:
                continue
        if len(row) != len(table.columns):
            raise FileFormatError(
                f"{name}: line {reader.line_num} has {len(row)} columns, the first has {len(table.columns)}"
            )
        table.add(row)
    if table is None or not (table.values[0] or table.texts):
        raise FileFormatError(f"{name} has no samples: it wants a line of names and a line for each sample")
    return table


def _parse_header(row: list[str], name: str) -> tuple[Table, list[str] | None]:
    """Parse the first line; returns an empty table, and the line if it is a sample."""
    if not 2 <= len(row) <= _MAX_COLUMNS:
        raise FileFormatError(
            f"{name} wants from 2 to {_MAX_COLUMNS:,} columns, divided by commas, semicolons or tabulators, "
            f"received {len(row)}"
        )
    if all(_number(text) is not None for text in row):
        return Table(name, [f"column_{at + 1}" for at in range(len(row))], 1), row
    columns = [text.strip() or f"column_{at + 1}" for at, text in enumerate(row)]
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise FileFormatError(f"{name} has two columns named {twice!r:.60}: rename one of them")
    return Table(name, columns, 2), None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None
