"""Encoding, decoding and following of events.jsonl, one event per line (docs/runs.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson

from labdl.bounded.files import open_file
from labdl.errors import FileFormatError
from labdl.runs.schema import VERSION

EVENTS = "events.jsonl"
_BLOCK = 1 << 22  # bytes read at a time
_BEGINNING = 512  # bytes by which a file is known: the first event has a time and the number of a process
_LONGEST = 1 << 24  # bytes of a line, whose lists may take thirty times as many in memory


def encode(events: Iterable[dict[str, Any]]) -> bytes:
    """The lines of events. Numbers that are not finite become null, values that JSON lacks their `repr`."""
    return b"".join(_line(event) for event in events)


_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS


def _line(event: dict[str, Any]) -> bytes:
    if event["kind"] == "steps":
        event = {key: _column(value) if type(value) is list else value for key, value in event.items()}
    try:
        return orjson.dumps(event, default=repr, option=_OPTIONS)
    except TypeError:  # an integer beyond 64 bits, or an unpaired surrogate in a string
        return orjson.dumps(
            json.loads(json.dumps(event, default=repr), parse_int=_fit_integer, object_pairs_hook=_fix_texts),
            option=_OPTIONS,
        )


def _fit_integer(digits: str) -> int | float:
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else float(digits)


def _fix_texts(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {_fix_text(key): _fix_text(value) for key, value in pairs}


def _fix_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_fix_text(part) for part in value]
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _column(values: list) -> Any:
    """Values that came from float32 as float32, whose digits take a third of the bytes."""
    if len(values) and type(values[0]) is float:
        whole = np.asarray(values, "float64")
        with np.errstate(over="ignore"):
            short = whole.astype("float32")
        return short if np.array_equal(short, whole, equal_nan=True) else whole
    return values


def decode(line: bytes) -> dict[str, Any] | None:
    """The event of a line, or None for a line without one, such as one cut short when its process was killed."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    good = isinstance(event, dict) and isinstance(event.get("kind"), str) and isinstance(event.get("time"), int | float)
    return event if good else None


def read_lines(file: BinaryIO, limit: int = _BLOCK) -> bytes:
    """Whole lines from the file's position on: at most ``limit`` bytes, unless one line is longer.

    Reading ends before a line that is longer than any event: no training writes it, and its end may be terabytes away.
    """
    block = file.read(limit)
    whole = block.rfind(b"\n") + 1
    if block and not whole and len(block) == limit:  # or the reader would never advance
        block += file.readline(_LONGEST)
        whole = len(block) if block.endswith(b"\n") else 0
    return block[:whole]


class LineReader:
    """Reads the lines of a file while it is written; ``offset`` is its position in bytes."""

    def __init__(self, path: Path, offset: int = 0):
        self.path, self.offset = path, offset
        self.restarted = False  # whether the last read started at the beginning of another file
        self._beginning = b""

    def read_block(self, limit: int = _BLOCK) -> bytes:
        """New whole lines, of at most ``limit`` bytes unless one is longer.

        A file that became shorter or begins otherwise was replaced, and is read from its beginning. Raises OSError where
        it cannot be read.
        """
        with open_file(self.path) as file:
            before, self._beginning = self._beginning, file.read(_BEGINNING)
            self.restarted = self.offset > 0 and (
                file.seek(0, 2) < self.offset or not self._beginning.startswith(before)
            )
            if self.restarted:
                self.offset = 0
            file.seek(self.offset)
            block = read_lines(file, limit)
        self.offset += len(block)
        return block


class EventReader(LineReader):
    """Reads the events of a file while it is written."""

    def read(self, limit: int = _BLOCK) -> list[dict[str, Any]]:
        """New events, of at most ``limit`` bytes unless one is longer; none where there is no file.

        Raises OSError where it cannot be read.
        """
        try:
            block = self.read_block(limit)
        except (FileNotFoundError, NotADirectoryError):
            self.restarted, self.offset = self.offset > 0, 0
            return []
        return [event for line in block.splitlines() if (event := decode(line)) is not None]


def read_events(folder: Path) -> Iterator[dict[str, Any]]:
    """All events of a run so far. Raises FileFormatError for a file of a newer LabDL."""
    reader = EventReader(folder / EVENTS)
    while True:
        before = reader.offset
        for event in reader.read():
            check_version(event, folder)
            yield event
        if reader.offset == before:
            return


def check_version(event: dict[str, Any], folder: Path) -> None:
    """Raise FileFormatError where a start event is of a newer LabDL."""
    version = event.get("version", 1) if event["kind"] == "start" else 1
    if not isinstance(version, int) or version > VERSION:
        raise FileFormatError(
            f"{folder / EVENTS} was written by a newer LabDL (version {version}, this one reads up to "
            f"{VERSION}): upgrade labdl"
        )
