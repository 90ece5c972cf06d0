"""Recording a run as events.jsonl: append-only, whole lines, at most five times a second (docs/runs.md)."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import filelock

from labdl.errors import ConfigError
from labdl.runs.reading.event_file import EVENTS, decode, encode
from labdl.train.run.event_stream import EventStream, Listener

FLUSH_SECONDS = 0.2
LOCK = "events.lock"
log = logging.getLogger(__name__)


class Recorder:
    """Collects events in memory; a thread writes them and tells the listeners, at most five times a second.

    What cannot be written, as on a full disk, is kept and tried again with each flush; the training goes on. A folder that
    has vanished is made again, with all that was recorded so far. Raises ConfigError for a folder in which a run is under way.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / EVENTS
        self._lock = _acquire_lock(folder)
        self._file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 - lives as long as the run
        # each a row of figures, or an event: appending to a deque needs no lock, and is all that a step waits for
        self._new: deque[tuple[int, Mapping[str, float]] | dict[str, Any]] = deque()
        self._unwritten = bytearray(b"\n" if _ends_in_partial_line(self._file) else b"")
        self._last = 0.0
        self._is_blocked = False
        self._feed = EventStream(self.path, self._pending_events)
        self._closed = threading.Event()
        self.on_flush: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._flush_often, name="labdl-recorder", daemon=True)
        self._thread.start()

    def step(self, step: int, values: Mapping[str, float]) -> None:
        """Remember one step; it is written with the next flush. ``values`` must not change any more."""
        self._new.append((step, values))

    def later(self, kind: str, **values) -> None:
        """Remember an event that may come many times a second; it is written with the next flush, after what was before."""
        self._new.append({"kind": kind, "time": time.time(), **values})

    def event(self, kind: str, **values) -> None:
        """Write one event now, after what was before it."""
        self.later(kind, **values)
        self._write()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all events so far, then with new ones as they are written; returns the way out."""
        self._write()
        return self._feed.subscribe(listener)

    def flush(self) -> None:
        """Write now what is new."""
        self._write()

    def close(self) -> None:
        """Write what is left; where that cannot be, the log says so."""
        self._closed.set()
        self._thread.join(timeout=5)
        self._write()
        with self._feed.lock:
            self._file.close()
            self._lock.release()
            if self._unwritten:
                log.warning("the last events of the run could not be written to %s", self.path)

    def _flush_often(self) -> None:
        while not self._closed.wait(FLUSH_SECONDS):
            if self.on_flush is not None:
                self.on_flush()
            self._write()

    def _write(self) -> None:
        with self._feed.lock:
            if self._file.closed:
                return
            lines = self._drain()
            self._unwritten += encode(lines)
            self._flush_bytes()
            self._feed.tell(lines)

    def _drain(self) -> list[dict[str, Any]]:
        """New events as lines: rows with the same metrics become columns, times never decrease."""
        lines: list[dict[str, Any]] = []
        rows: list[tuple[int, Mapping[str, float]]] = []
        for _ in range(len(self._new)):
            item = self._new.popleft()
            if isinstance(item, tuple):
                if rows and rows[-1][1].keys() != item[1].keys():
                    lines.append(self._columns(rows, time.time()))
                    rows = []
                rows.append(item)
                continue
            if rows:
                lines.append(self._columns(rows, item["time"]))
                rows = []
            self._last = item["time"] = max(self._last, item["time"])
            lines.append(item)
        return [*lines, self._columns(rows, time.time())] if rows else lines

    def _columns(self, rows: list[tuple[int, Mapping[str, float]]], now: float) -> dict[str, Any]:
        self._last = max(self._last, now)
        return {
            "kind": "steps",
            "time": self._last,
            "step": [step for step, _ in rows],
            **{name: [values[name] for _, values in rows] for name in rows[0][1]},
        }

    def _flush_bytes(self) -> None:
        """Bring everything to the file, or keep it until the next time."""
        try:
            if not self._is_current_file():
                self._recreate()
            while self._unwritten:  # a disk that is nearly full takes a part
                del self._unwritten[: self._file.write(self._unwritten)]
        except (OSError, ConfigError) as error:
            if not self._is_blocked:
                log.warning(
                    "%s cannot be written (%s): the training goes on, its events are kept and written when that is "
                    "possible again",
                    self.path,
                    getattr(error, "strerror", None) or error,
                )
            self._is_blocked = True
        else:
            if self._is_blocked:
                log.warning("%s is written again, nothing is missing", self.path)
            self._is_blocked = False

    def _is_current_file(self) -> bool:
        """Whether the open file is the one that the path leads to."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False

    def _recreate(self) -> None:
        """Make the folder and the file again, with what the one that was taken away holds as long as it is open."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = _acquire_lock(self.path.parent)
        try:
            with open(self.path, "wb") as copy:
                self._file.seek(0)
                shutil.copyfileobj(self._file, copy)
            fresh = open(self.path, "a+b", buffering=0)  # noqa: SIM115 - as above
        except OSError:
            lock.release()
            raise
        self._file.close()
        self._lock.release()
        self._file, self._lock = fresh, lock

    def _pending_events(self) -> list[dict[str, Any]]:
        return [event for line in bytes(self._unwritten).splitlines() if (event := decode(line)) is not None]


def _acquire_lock(folder: Path) -> filelock.BaseFileLock:
    """The right to write in the folder of a run; it ends with the process, whatever that dies of."""
    lock = filelock.FileLock(folder / LOCK, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise ConfigError(
            f"a run is under way in {folder}: wait until it has ended, or give this one another folder="
        ) from None
    except (NotImplementedError, OSError) as error:
        log.warning("%s cannot be locked (%s): make sure that no other run uses the folder", folder, error)
    return lock


def _ends_in_partial_line(file) -> bool:
    """Whether what was written last, by a process that was killed, is no whole line."""
    return file.seek(0, os.SEEK_END) > 0 and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n"
