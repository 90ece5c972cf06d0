"""Live status of the folder of a run."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import psutil

from labdl.runs.reading.best import BestValues
from labdl.runs.reading.event_file import EVENTS, LineReader, decode
from labdl.runs.schema import EndEvent, Event, StartEvent, parse

_READ = (b'"kind":"start"', b'"kind":"epoch"', b'"kind":"end"')
_SILENT_ELSEWHERE = 24 * 3600.0  # seconds without an event after which a run of another computer counts as lost


class LiveStatus:
    """Liveness and best values of a run. Each call reads only what is new in the file."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._lines = LineReader(folder / EVENTS)
        self.start: StartEvent | None = None  # the last one
        self.ended = False
        self.best = BestValues()

    def alive(self) -> bool:
        """Check that the run has no end event and its process is alive. Raises OSError."""
        self.refresh()
        if self.start is None:
            return self._lines.offset == 0  # the run is starting
        return not self.ended and is_process_alive(self.start, self.folder)

    def refresh(self) -> None:
        """Read what is new. Raises OSError."""
        while True:
            block = self._lines.read_block()
            if self._lines.restarted:
                self.start, self.ended, self.best = None, False, BestValues()
            if not block:
                return
            self._apply(block)

    def _apply(self, block: bytes) -> None:
        for line in block.splitlines():
            head = line[:64].replace(b" ", b"")  # version 1 has spaces in its JSON
            event = _event(line) if any(kind in head for kind in _READ) else None
            if event is None:
                continue
            self.best.update(event)
            if isinstance(event, StartEvent):
                self.start, self.ended = event, False
            elif isinstance(event, EndEvent):
                self.ended = True


def _event(line: bytes) -> Event | None:
    fields = decode(line)
    return None if fields is None else parse(fields)


def is_process_alive(start: StartEvent, folder: Path) -> bool:
    """Check that the process of a start event exists, and is not a later one with the same number.

    One on another computer cannot be seen from here: it counts as alive for a day after its last event.
    """
    if start.host not in (None, socket.gethostname()):
        try:
            last_write = (folder / EVENTS).stat().st_mtime
        except OSError:
            return False
        return time.time() - last_write < _SILENT_ELSEWHERE
    if start.pid is None:
        return False
    try:
        process = psutil.Process(start.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process.create_time() <= start.time + 1  # tolerance between the clocks of the system and of Python
    except (psutil.NoSuchProcess, ValueError, OverflowError):
        return False
    except psutil.AccessDenied:
        return True  # it exists and belongs to another user
