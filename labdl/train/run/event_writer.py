"""Writer of events.jsonl: appends complete lines, at most five times per second (docs/runs.md)."""

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
from labdl.runs.schema import metric_key
from labdl.train.run.event_stream import EventStream, Listener

FLUSH_SECONDS = 0.2
LOCK = "events.lock"
log = logging.getLogger(__name__)


class Recorder:
    """Collects events in memory; a thread writes them and calls the listeners, at most five times per second.

    Events that cannot be written, for instance on a full disk, are kept and retried with each flush; the training continues. A
    folder that is deleted is created again, with all events so far. Raises ConfigError for a folder with an active run.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / EVENTS
        self._lock = _acquire_lock(folder)
        self._file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 - lives as long as the run
        # rows of steps, and events: appending to a deque needs no lock and is fast enough for each step
        self._new: deque[tuple[int, Mapping[str, float]] | dict[str, Any]] = deque()
        self._unwritten = bytearray(b"\n" if _ends_in_partial_line(self._file) else b"")
        self._last = 0.0
        self._is_blocked = False
        self.was_recreated = False
        self._stream = EventStream(self.path, self._pending_events)
        self._closed = threading.Event()
        self.on_flush: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._flush_often, name="labdl-recorder", daemon=True)
        self._thread.start()

    def add_step(self, step: int, values: Mapping[str, float]) -> None:
        """Add the values of a step, which must not change later; they are written with the next flush."""
        self._new.append((step, values))

    def queue_event(self, kind: str, /, **values) -> None:
        """Add an event; it is written with the next flush, after those before."""
        self._new.append({"kind": kind, "time": time.time(), **values})

    def write_event(self, kind: str, /, **values) -> None:
        """Write an event immediately, after those before."""
        self.queue_event(kind, **values)
        self._write()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all events so far, then with new ones; returns a function that unsubscribes it."""
        self._write()
        return self._stream.subscribe(listener)

    def flush(self) -> None:
        """Write the events added so far."""
        self._write()

    def close(self) -> None:
        """Write the remaining events and close the file; events that cannot be written are reported in the log."""
        self._closed.set()
        self._thread.join(timeout=5)
        self._write()
        with self._stream.lock:
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
        with self._stream.lock:
            if self._file.closed:
                return
            lines = self._drain()
            self._unwritten += encode(lines)
            self._flush_bytes()
            self._stream.publish(lines)

    def _drain(self) -> list[dict[str, Any]]:
        """Take the new events: consecutive steps with the same metrics become columns, times never decrease."""
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
            **{metric_key(name): [values[name] for _, values in rows] for name in rows[0][1]},
        }

    def _flush_bytes(self) -> None:
        """Write all bytes to the file, or keep them until the next flush."""
        try:
            if not self._is_current_file():
                self._recreate()
            while self._unwritten:  # a nearly full disk may accept only a part
                del self._unwritten[: self._file.write(self._unwritten)]
        except (OSError, ConfigError) as error:
            if not self._is_blocked:
                log.warning(
                    "%s cannot be written (%s): the training continues, its events are kept in memory and written later",
                    self.path,
                    getattr(error, "strerror", None) or error,
                )
            self._is_blocked = True
        else:
            if self._is_blocked:
                log.warning("%s is written again, no event is missing", self.path)
            self._is_blocked = False

    def _is_current_file(self) -> bool:
        """Return True if the open file is still the one at the path."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False

    def _recreate(self) -> None:
        """Create the folder and the file again, with the contents of the deleted file, which is still open."""
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
        self.was_recreated = True
        log.warning(
            "%s was deleted while the run was active: it is created again with all events, but without other files that it had",
            self.path.parent,
        )

    def _pending_events(self) -> list[dict[str, Any]]:
        return [event for line in bytes(self._unwritten).splitlines() if (event := decode(line)) is not None]


def _acquire_lock(folder: Path) -> filelock.BaseFileLock:
    """Lock the folder of a run for writing; the lock is released when the process ends, even if it is killed."""
    lock = filelock.FileLock(folder / LOCK, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise ConfigError(
            f"{folder} has an active run: wait until it has ended, or give this one another folder="
        ) from None
    except (NotImplementedError, OSError) as error:
        log.warning("%s cannot be locked (%s): make sure that no other run uses the folder", folder, error)
    return lock


def _ends_in_partial_line(file) -> bool:
    """Return True if the last line is incomplete, written by a process that was killed."""
    return file.seek(0, os.SEEK_END) > 0 and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n"
