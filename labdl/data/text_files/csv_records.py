"""Records of CSV in which quotation marks also stand within fields, as the standard library finds them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import numpy as np

from labdl.errors import FileFormatError


def find_records(
    file: Any, name: str, first: int, delimiter: str, longest: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first byte of each record, the one behind its last, and what is blank; slower than counting quotation marks.

    A quotation mark begins a quoted field at its beginning only. Raises FileFormatError for a field without end.
    """
    at = first
    text: list[str] = []  # lines of the record that is being read

    def lines() -> Iterator[str]:
        nonlocal at
        file.seek(first)
        while line := file.readline(longest):
            at += len(line)
            text.append(line.decode("latin-1"))  # the bytes of marks and line ends are those of ASCII
            yield text[-1]

    starts, ends, blank = [], [], []
    csv.field_size_limit(max(csv.field_size_limit(), longest))
    try:
        start = first
        for _ in csv.reader(lines(), delimiter=delimiter):
            record = "".join(text)
            size = len(record.removesuffix("\n").removesuffix("\r"))
            starts.append(start)
            ends.append(start + size)
            blank.append(not record.strip())
            start, last = at, record
            text.clear()
        if starts:
            next(csv.reader(last.splitlines(keepends=True), delimiter=delimiter, strict=True), None)
    except csv.Error as error:
        raise FileFormatError(f"{name} has a quotation mark without its end: {error}") from None
    return np.array(starts, np.int64), np.array(ends, np.int64), np.array(blank, np.bool_)
