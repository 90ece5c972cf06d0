"""Listing of the runs below a folder, with incremental updates."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labdl.bounded.files import open_file
from labdl.errors import FileFormatError, message_of
from labdl.runs.listing.discovery import Finder
from labdl.runs.listing.summary_row import Brief, brief
from labdl.runs.metadata import ABOUT, About, about
from labdl.runs.reading.event_file import EVENTS, EventReader, check_version, decode
from labdl.runs.reading.status import RunStatus
from labdl.runs.reading.step_columns import merge_steps
from labdl.runs.schema import EndEvent, StartEvent, parse, parse_all

_END = 64 * 1024  # bytes at the beginning and end of a long file that are read for a row
_NOBODY = (0, 0, 0)


@dataclass(frozen=True)
class Listing:
    """The runs below a folder, newest first. ``truncation`` says what was left out, None where all are there."""

    folder: Path
    runs: list[Brief]
    truncation: str | None = None

    def __iter__(self) -> Iterator[Brief]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, index):
        return self.runs[index]

    def __str__(self) -> str:
        from labdl.runs.terminal.tables import table

        return table(self)

    def _repr_html_(self) -> str:
        from labdl.runs.terminal.tables import html_table

        return html_table(self)


def list_runs(folder: str | Path = ".") -> Listing:
    """The runs below a folder, newest first; links are not followed. Raises NotADirectoryError where there is no folder."""
    catalog = Catalog(folder)
    return Listing(catalog.folder, catalog.look(budget=None), catalog.truncation)


class Catalog:
    """The runs below a folder, updated incrementally: only changed files are read, each part once.

    A run that has not changed since the last look is the same object. ``truncation`` says what the last look left out.
    """

    def __init__(self, folder: str | Path = "."):
        self.folder = Path(folder)
        self._finder = Finder(self.folder)
        self._runs: dict[str, _FollowedRun] = {}

    @property
    def truncation(self) -> str | None:
        return self._finder.truncation

    def look(self, budget: float | None = 0.5) -> list[Brief]:
        """All runs, newest first. Long files are read for no more than ``budget`` seconds at a time: the next
        call continues. Raises NotADirectoryError where the folder is not there."""
        if not self.folder.is_dir():
            raise NotADirectoryError(f"there is no folder {self.folder}")
        until = None if budget is None else time.monotonic() + budget
        there = self._finder.find()
        self._runs = {path: self._runs.get(path) or _FollowedRun(path, self.folder / path) for path in there}
        found = [seen for run in self._runs.values() if (seen := run.look(until)) is not None]
        return sorted(found, key=lambda run: (-(run.time or 0.0), run.path))


class _FollowedRun:
    """One run of a catalog."""

    def __init__(self, path: str, folder: Path):
        self.path, self.folder = path, folder
        self._events, self._about_path = os.path.join(folder, EVENTS), os.path.join(folder, ABOUT)
        self._named = folder if folder.name else folder.resolve()
        self._stamp = self._about_stamp = _NOBODY
        self._about = About()
        self._alive = False
        self._brief: Brief | None = None
        self._begin()

    def _begin(self) -> None:
        self._status, self._reader = RunStatus(), EventReader(self.folder / EVENTS)
        self._short = self._behind = False  # only the ends were read; not read to the end yet

    def look(self, until: float | None) -> Brief | None:
        """The current row of the run, None where its file is gone."""
        stamp, about_stamp = _stamp(self._events), _stamp(self._about_path)
        if stamp == _NOBODY:
            return None
        changed = stamp != self._stamp
        try:
            if changed or self._behind:
                self._read(stamp, until)
                self._brief = None
        except (OSError, FileFormatError) as error:
            self._stamp, self._alive, self._short = stamp, False, True
            self._brief = Brief(self.path, self._named.name, status="unreadable", message=message_of(error))
            return self._brief
        if about_stamp != self._about_stamp:
            self._about_stamp, self._about, self._brief = about_stamp, about(self.folder), None
        if changed or self._alive:  # a lost run stays lost until it writes again
            alive = self._status.alive(self.folder)
            if alive != self._alive:
                self._alive, self._brief = alive, None
        if self._brief is None:
            self._brief = brief(self.path, self._named, self._status, self._alive, self._about)
        return self._brief

    def _read(self, stamp: tuple[int, int, int], until: float | None) -> None:
        replaced = stamp[0] != self._stamp[0] or stamp[1] < self._stamp[1]
        grown_again = self._short and stamp != self._stamp
        fresh = self._stamp == _NOBODY
        self._stamp = stamp
        if replaced or grown_again:
            self._begin()
        if fresh and stamp[1] > 2 * _END and self._read_ends():
            return
        while True:
            before = self._reader.offset
            events = self._reader.read()
            for event in events:
                check_version(event, self.folder)
            for event in parse_all(line for line, _ in merge_steps(events)):
                self._status.update(event)
            self._behind = self._reader.offset != before
            if not self._behind or (until is not None and time.monotonic() > until):
                return

    def _read_ends(self) -> bool:
        """Read only the start event and the end event with the summary; returns whether they were found."""
        with open_file(self._events) as file:
            head = file.read(_END)
            file.seek(-_END, os.SEEK_END)
            tail = file.read(_END)
        line = decode(tail[:-1].rpartition(b"\n")[2]) if tail.endswith(b"\n") else None
        last = None if line is None else parse(line)
        if not isinstance(last, EndEvent) or last.summary is None:
            return False
        lines = [*head[: head.rfind(b"\n") + 1].splitlines(), *tail.partition(b"\n")[2].splitlines()]
        starts = [event for line in lines if b'"start"' in line[:64] and (event := decode(line)) is not None]
        for event in starts[-1:]:
            check_version(event, self.folder)
        start = parse(starts[-1]) if starts else None
        if not isinstance(start, StartEvent):
            return False
        for event in (start, last):
            self._status.update(event)
        self._short = True
        return True


def _stamp(path: str) -> tuple[int, int, int]:
    """Inode, size and modification time of a file; zeros for a missing file."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return _NOBODY
    return found.st_ino or 1, found.st_size, found.st_mtime_ns
