"""Delivery of the events of a run to listeners: past events first, then new ones."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from labdl.runs.reading.event_file import EventReader

Listener = Callable[[list[dict[str, Any]]], None]
_CHUNK = 1 << 22  # bytes read at a time
log = logging.getLogger(__name__)


class EventStream:
    """Delivers events to listeners in order; a new listener first receives all past events, which are read from the file.

    Writing to ``path`` and publishing must happen with ``lock`` held. If another process writes the file, ``published()``
    returns the number of bytes that have been published. ``unwritten()`` returns published events that are not in the file.
    """

    def __init__(
        self, path: Path, unwritten: Callable[[], list[dict[str, Any]]], published: Callable[[], int] | None = None
    ):
        self.path, self._unwritten, self._published = path, unwritten, published
        self.lock = threading.RLock()  # reentrant: a listener may cause events, for instance by stopping the run
        self._listeners: list[Listener] = []
        self._queue: deque[tuple[list[dict[str, Any]], list[Listener]]] = deque()
        self._publishing = False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all past events in chunks, then with new ones; returns a function that unsubscribes it."""
        reader = EventReader(self.path)
        self._replay(reader, listener)  # without the lock, because it may take long
        with self.lock:
            self._replay(reader, listener)
            if events := self._unwritten():
                listener(events)
            self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def _replay(self, reader: EventReader, listener: Listener) -> None:
        before = -1
        while before != reader.offset:
            before = reader.offset
            size = _CHUNK if self._published is None else min(_CHUNK, self._published() - before)
            if size > 0 and (events := reader.read(size)):
                listener(events)

    def publish(self, events: list[dict[str, Any]]) -> None:
        """Deliver new events. A listener that raises is logged and removed."""
        with self.lock:
            if events:
                self._queue.append((events, list(self._listeners)))  # later listeners read them from the file
            if self._publishing:  # called by a listener: earlier events are delivered to all listeners first
                return
            self._publishing = True
            try:
                while self._queue:
                    self._deliver(*self._queue.popleft())
            finally:
                self._publishing = False

    def _deliver(self, events: list[dict[str, Any]], listeners: list[Listener]) -> None:
        for listener in listeners:
            if listener not in self._listeners:
                continue
            try:
                listener(events)
            except Exception:  # an error of a listener must not end the training
                self._listeners.remove(listener)
                log.exception("the listener %s failed and is removed", listener)
