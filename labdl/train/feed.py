"""The events of a run for whoever listens: those that were, then those that come."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

Listener = Callable[[list[dict[str, Any]]], None]
log = logging.getLogger(__name__)


class Feed:
    """Keeps the events of a run in ``past`` and passes them on, in order and without a gap for those who come late."""

    def __init__(self):
        self.past: list[dict[str, Any]] = []
        self._listeners: list[Listener] = []
        self._fresh: deque[list[dict[str, Any]]] = deque()
        self._telling = False
        self._lock = threading.RLock()  # a listener may cause events itself, by stopping the run for instance

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all events so far, then with new ones as they come; returns the way out."""
        with self._lock:
            if self.past:
                listener(list(self.past))  # inside the lock, so that nothing can overtake the replay
            self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def tell(self, events: list[dict[str, Any]]) -> None:
        """Pass new events on. A listener that fails is named in the log and hears no more."""
        with self._lock:
            self.past += events
            self._fresh.append(events)
            if self._telling:  # inside of a listener: the others hear of what was before first
                return
            self._telling = True
            try:
                while self._fresh:
                    self._pass_on(self._fresh.popleft())
            finally:
                self._telling = False

    def _pass_on(self, events: list[dict[str, Any]]) -> None:
        for listener in list(self._listeners) if events else ():
            try:
                listener(events)
            except Exception:  # somebody else's code, such as a widget's, must not end the training
                self._listeners.remove(listener)
                log.exception("%s raised an error and gets no more events", listener)
