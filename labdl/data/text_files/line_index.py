"""Index of the lines, paragraphs or CSV records of a file, which stays on disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.bounded.files import open_file, size_of
from labdl.data.text_files.csv_records import find_records
from labdl.data.text_files.encodings import BOM
from labdl.errors import DataError, FileFormatError

Unit = Literal["line", "paragraph", "record"]
LONGEST = 64 << 20  # bytes of one of them
_BLOCK = 16 << 20  # bytes that are scanned at once
_MOST_BLANK = 10_000  # lines at the beginning of a file
_NEWLINE, _QUOTE = ord("\n"), ord('"')
_IS_TEXT = np.ones(256, np.bool_)
_IS_TEXT[[9, 10, 11, 12, 13, 32]] = False


class LineIndex:
    """The lines of a file by number, each read from disk when it is asked for: ``index[i]`` are bytes without line end.

    ``unit`` "paragraph" joins lines until a blank one; "record" is one of CSV with a ``delimiter``, in which quotation marks
    may hold line ends.
    Blank lines are left out unless ``keep_blank``. Ends of lines are LF or CRLF, as bytes: so the encoding has to be one
    that extends ASCII. In memory are 16 bytes for each line. Any number of threads and processes may read.
    Raises MissingFileError, and FileFormatError for a line of more than 64 MB.
    """

    def __init__(self, path: str | Path, unit: Unit = "line", *, keep_blank: bool = False, delimiter: str = ","):
        self.path, self.unit = Path(path), unit
        self._open()
        self.starts, self.ends = _scan(self._file, self.path.name, unit, keep_blank, delimiter)

    def _open(self) -> None:
        self._file, self._lock = open_file(self.path), threading.Lock()

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        start, end = int(self.starts[index]), int(self.ends[index])
        content = self._read(end - start, start)
        if len(content) != end - start:
            raise DataError(f"{self.path.name} has become shorter since it was opened: create the data set again")
        return content

    def _read(self, size: int, start: int) -> bytes:
        if hasattr(os, "pread"):
            content = os.pread(self._file.fileno(), size, start)
            return content if len(content) == size else b""
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)

    def line_number(self, index: int) -> int:
        """Number from 1 of the line in the file, as in editors; counts them, so only errors ask for it."""
        left, count = int(self.starts[index]), 1
        with open_file(self.path) as file:
            while left > 0 and (block := file.read(min(left, _BLOCK))):
                count += block.count(b"\n")
                left -= len(block)
        return count

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_file", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def first_line(path: Path) -> bytes:
    """The first line that is not blank, without a byte order mark, or the beginning of a long one."""
    with open_file(path) as file:
        for _ in range(_MOST_BLANK):
            line = file.readline(1 << 20)
            if not line or line.removeprefix(BOM).strip():
                return line.removeprefix(BOM)
    return b""


def _scan(file: Any, name: str, unit: Unit, keep_blank: bool, delimiter: str) -> tuple[np.ndarray, np.ndarray]:
    """The first byte and the one behind the last of each line, paragraph or record."""
    found = _find_lines(file, name, delimiter if unit == "record" else None)
    if found is None:
        file.seek(0)
        first = len(BOM) if file.read(len(BOM)) == BOM else 0
        found = find_records(file, name, first, delimiter, LONGEST)
    starts, ends, blank = found
    if unit == "paragraph":
        begins = ~blank & np.concatenate([[True], blank[:-1]])
        stops = ~blank & np.concatenate([blank[1:], [True]])
        starts, ends = starts[begins[: len(starts)]], ends[stops[: len(ends)]]
    elif not keep_blank:
        starts, ends = starts[~blank], ends[~blank]
    if len(starts) and int((ends - starts).max()) > LONGEST:
        raise FileFormatError(f"{name} has a {unit} of more than {LONGEST:,} bytes")
    return starts, ends


def _find_lines(file: Any, name: str, delimiter: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """First and last bytes of lines, and what is blank; with a delimiter, no line ends between quotation marks.

    None if a quotation mark stands within a field that does not begin with one, where counting them does not do.
    """
    quoted = delimiter is not None
    before_marks = [_NEWLINE, 13, _QUOTE, *(delimiter or "").encode()]
    size = size_of(file)
    first = len(BOM) if file.read(len(BOM)) == BOM else 0
    stops: list[np.ndarray] = []  # positions of line ends
    returns: list[np.ndarray] = []  # whether a carriage return is before it
    texts: list[np.ndarray] = []  # how many bytes of the file before it are no space
    seen, inside, last, open_since = 0, False, 0, first
    for at, block in _blocks(file, first):
        ends = np.flatnonzero(block == _NEWLINE)
        if quoted:
            places = np.flatnonzero(block == _QUOTE)
            opening = places[int(inside) :: 2]
            before = np.where(opening > 0, block[np.maximum(opening, 1) - 1], last if at > first else _NEWLINE)
            if not np.isin(before, before_marks).all():
                return None
            ends = ends[(np.searchsorted(places, ends) + inside) % 2 == 0]
            inside = bool((len(places) + inside) % 2)
        filled = np.cumsum(_IS_TEXT[block], dtype=np.int64)
        stops.append(ends + at)
        returns.append(np.where(ends > 0, block[np.maximum(ends, 1) - 1], last) == 13)
        texts.append(filled[ends] + seen)
        seen, last = seen + int(filled[-1]), int(block[-1])
        open_since = int(ends[-1]) + at if len(ends) else open_since
        if at + len(block) - open_since > LONGEST:
            what = "record, or a quotation mark without its end," if quoted else "line"
            raise FileFormatError(f"{name} has a {what} of more than {LONGEST:,} bytes")
    if inside:
        raise FileFormatError(f"{name} has a quotation mark without its end")
    stop = np.concatenate([*stops, np.zeros(0, np.int64)])
    after_return = np.concatenate([*returns, np.zeros(0, np.bool_)])
    text = np.concatenate([*texts, np.zeros(0, np.int64)])
    if size > (int(stop[-1]) + 1 if len(stop) else first):  # the last line has no end
        stop, after_return, text = np.append(stop, size), np.append(after_return, False), np.append(text, seen)
    starts = np.concatenate([[first], stop[:-1] + 1])[: len(stop)].astype(np.int64)
    blank = np.diff(text, prepend=0) == 0
    return starts, np.maximum(stop - after_return, starts), blank


def _blocks(file: Any, first: int) -> Iterator[tuple[int, np.ndarray]]:
    at = first
    file.seek(first)
    while block := file.read(_BLOCK):
        yield at, np.frombuffer(block, np.uint8)
        at += len(block)
