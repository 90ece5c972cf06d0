"""Recording a run as events.jsonl: append-only, one line a flush with column arrays (D12)."""

from __future__ import annotations

import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from labdl.train.feed import Feed, Listener

FLUSH_SECONDS = 0.2
log = logging.getLogger(__name__)


def jsonable(value) -> Any:
    """NaN and infinities as null, which every JSON reader understands."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: jsonable(v) for k, v in value.items()}
    return [jsonable(v) for v in value] if isinstance(value, list | tuple) else value


class Recorder:
    """Collects steps in memory; a thread writes them and tells the listeners, at most five times a second.

    What cannot be written, as on a full disk, is kept and tried again with each flush; the training goes on. A folder that
    has vanished is made again, with all that was recorded so far.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "events.jsonl"
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 - lives as long as the run
        self._columns: dict[str, list] = {}
        self._collected: list[dict[str, Any]] = []
        self._feed = Feed()
        self._written = self._feed.past
        self._unwritten = bytearray()
        self._hindered = False
        self._lock = threading.RLock()  # as that of the feed
        self._closed = threading.Event()
        self.on_flush: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._flush_often, name="labdl-recorder", daemon=True)
        self._thread.start()

    def step(self, step: int, values: dict[str, float]) -> None:
        """Remember one step; it is written with the next flush."""
        with self._lock:
            columns = self._columns
            if not columns:
                columns["step"] = []
                columns.update({name: [] for name in values})
            columns["step"].append(step)
            for name, value in values.items():
                columns[name].append(value)

    def later(self, kind: str, **values) -> None:
        """Remember an event that may come many times a second; it is written with the next flush, after what was before."""
        with self._lock:
            event = {"kind": kind, "time": time.time(), **values}
            self._end_steps(event["time"])  # their time is never after that of the event that follows
            self._collected.append(event)

    def event(self, kind: str, **values) -> None:
        """Write one event now, after what was before it."""
        with self._lock:
            self.later(kind, **values)
            self._write()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all events so far, then with new ones as they are written; returns the way out."""
        return self._feed.subscribe(listener)

    def close(self) -> None:
        """Write what is left; where that cannot be, the log says so."""
        self._closed.set()
        self._thread.join(timeout=5)
        self._write()
        with self._lock:
            self._file.close()
            if self._unwritten:
                log.warning(
                    "the last events of the run could not be written to %s; its history is in memory", self.path
                )

    def _flush_often(self) -> None:
        while not self._closed.wait(FLUSH_SECONDS):
            if self.on_flush is not None:
                self.on_flush()
            self._write()

    def _end_steps(self, now: float) -> None:
        if self._columns:
            self._collected.append({"kind": "steps", "time": now, **self._columns})
            self._columns = {}

    def _write(self) -> None:
        with self._lock:
            self._end_steps(time.time())
            lines, self._collected = self._collected, []
            try:
                encoded = _encoded(lines)
            except ValueError:  # not a number, or infinite
                lines = [jsonable(e) for e in lines]
                encoded = _encoded(lines)
            self._unwritten += encoded
            self._put(lines)
            self._feed.tell(lines)

    def _put(self, lines: list[dict[str, Any]]) -> None:
        """Bring everything to the file, these lines the last, or keep it until the next time."""
        try:
            if not self._there():
                self._file.close()
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 - as above
                self._unwritten = bytearray(_encoded([*self._written, *lines]))
            while self._unwritten:  # a disk that is nearly full takes a part
                del self._unwritten[: self._file.write(self._unwritten)]
        except OSError as error:
            if not self._hindered:
                log.warning("%s cannot be written (%s): the training goes on, its events are kept and written when that is "
                            "possible again", self.path, error.strerror or error)  # fmt: skip
            self._hindered = True
        else:
            if self._hindered:
                log.warning("%s is written again, nothing is missing", self.path)
            self._hindered = False

    def _there(self) -> bool:
        """Whether the open file is the one that the path leads to."""
        try:
            return not self._file.closed and os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False


def _encoded(lines: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(line, allow_nan=False)}\n" for line in lines).encode()
