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
_PIECE = 1 << 22  # bytes read at a time
log = logging.getLogger(__name__)


class EventStream:
    """Delivers events in order, to late listeners from the beginning. Past events are read from the file, not kept.

    Who writes to ``path`` and tells of it holds ``lock`` for both; where it is another process that writes, ``told()`` gives
    how many bytes of it were told. ``unwritten()`` gives what was told and is not there.
    """

    def __init__(
        self, path: Path, unwritten: Callable[[], list[dict[str, Any]]], told: Callable[[], int] | None = None
    ):
        self.path, self._unwritten, self._told = path, unwritten, told
        self.lock = threading.RLock()  # a listener may cause events itself, by stopping the run for instance
        self._listeners: list[Listener] = []
        self._fresh: deque[tuple[list[dict[str, Any]], list[Listener]]] = deque()
        self._telling = False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all events so far, in pieces, then with new ones; returns the way out."""
        reader = EventReader(self.path)
        self._replay(reader, listener)  # nobody waits for this, long as it may take
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
            left = _PIECE if self._told is None else min(_PIECE, self._told() - before)
            if left > 0 and (events := reader.read(left)):
                listener(events)

    def tell(self, events: list[dict[str, Any]]) -> None:
        """Deliver new events. A listener that raises is logged and removed."""
        with self.lock:
            if events:
                self._fresh.append((events, list(self._listeners)))  # who comes later has read them
            if self._telling:  # inside of a listener: the others hear of what was before first
                return
            self._telling = True
            try:
                while self._fresh:
                    self._pass_on(*self._fresh.popleft())
            finally:
                self._telling = False

    def _pass_on(self, events: list[dict[str, Any]], listeners: list[Listener]) -> None:
        for listener in listeners:
            if listener not in self._listeners:
                continue
            try:
                listener(events)
            except Exception:  # somebody else's code, such as a widget's, must not end the training
                self._listeners.remove(listener)
                log.exception("%s raised an error and gets no more events", listener)
