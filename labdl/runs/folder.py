"""The folder of a run on disk: whether somebody still works in it (docs/runs.md)."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import psutil

from labdl.runs.eventfile import EVENTS, parsed

_BLOCK = 1 << 22
_START, _END = b'"kind":"start"', b'"kind":"end"'


class Standing:
    """Whether a run is under way. It may be asked again and again: it looks at what is new in the file alone."""

    def __init__(self, folder: Path):
        self.path = folder / EVENTS
        self.start: dict[str, Any] | None = None  # the last one
        self.ended = False
        self._offset = 0

    def alive(self) -> bool:
        """Whether the process that writes this run still lives and has not said that it came to the end.

        Of a process on another computer nothing can be seen: it counts as alive as long as there is no end. Raises OSError.
        """
        self._look()
        if self.start is None:
            return self._offset == 0  # it is just starting
        return not self.ended and works(self.start)

    def _look(self) -> None:
        with open(self.path, "rb") as file:
            if file.seek(0, 2) < self._offset:  # another file
                self._offset, self.start, self.ended = 0, None, False
            file.seek(self._offset)
            while block := file.read(_BLOCK):
                whole = block.rfind(b"\n") + 1
                if not whole:
                    block += file.readline()
                    whole = len(block) if block.endswith(b"\n") else 0
                if not whole:
                    return
                self._take(block[:whole])
                self._offset += whole
                file.seek(self._offset)

    def _take(self, block: bytes) -> None:
        """Version 1 has spaces in its JSON, which are taken out where one of the words may stand."""
        for line in block.splitlines():
            head = line[:64].replace(b" ", b"")
            if _START in head and (event := parsed(line)) is not None:
                self.start, self.ended = event, False
            elif _END in head and parsed(line) is not None:
                self.ended = True


def works(start: dict[str, Any]) -> bool:
    """Whether the process of a start event is there, and not a later one with the same number."""
    if start.get("host") not in (None, socket.gethostname()):
        return True
    try:
        process = psutil.Process(start["pid"])
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process.create_time() <= start["time"] + 1  # the system's clock ticks and ours are not the same
    except (psutil.NoSuchProcess, KeyError, TypeError, ValueError, OverflowError):
        return False
    except psutil.AccessDenied:
        return True  # it exists, and belongs to somebody else
