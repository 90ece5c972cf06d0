"""Telling the pages of a widget the events of runs: all that was to those that ask, then what comes."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labdl.lab.packing import pack
from labdl.train.exits import running

if TYPE_CHECKING:
    from labdl.train import Run

log = logging.getLogger(__name__)


class Telling:
    """Events in order, and ``send(message, buffers)``, by which pages hear them; ``alive()`` says whether more may come."""

    def __init__(self, send: Callable[[dict[str, Any], list[bytes]], None], alive: Callable[[], bool]):
        self._send, self._alive = send, alive
        self._events: list[dict[str, Any]] = []
        self._lock = threading.RLock()
        self._pages = Unheard()

    def add(self, events: list[dict[str, Any]], *, quietly: bool = False) -> None:
        """Tell new events, in any thread; ``quietly`` those that pages will ask for. Raises what a dying connection raises."""
        with self._lock:
            first = len(self._events)
            self._events.extend(events)
            if not quietly:
                self._send_from(0 if self._pages.repeat() else first)

    def answer(self, after: Any) -> None:
        """A page asks for what comes after so many events."""
        with self._lock:
            self._pages.heard()
            self._send_from(after if isinstance(after, int) and 0 <= after <= len(self._events) else 0)

    def _send_from(self, first: int) -> None:
        events, buffers = pack(self._events[first:])
        self._send({"type": "events", "first": first, "events": events, "alive": self._alive()}, buffers)


class Unheard:
    """When to send everything once more, because no page has asked yet.

    A page asks for the past, but a kernel busy with the next cell does not hear it. Until it does, the whole past is
    sent again at doubling intervals, so that a page that opened meanwhile catches up and the cost stays proportional.
    """

    def __init__(self, wait: float = 0.25):
        self._wait, self._next, self._silent = wait, 0.0, True

    def heard(self) -> None:
        self._silent = False

    def repeat(self) -> bool:
        now = time.monotonic()
        if not self._silent or now < self._next:
            return False
        self._next, self._wait = now + self._wait, self._wait * 2
        return True


_SHOWN = ("start", "health", "end")  # what an editor shows of a run


class RunWatch:
    """Tells an editor of the runs in this process that train its model, one after the other.

    ``trains(run)`` says whether it is one of them; a run that began before is found as long as it goes on.
    """

    def __init__(self, trains: Callable[[Run], bool], send: Callable[[dict[str, Any], list[bytes]], None]):
        self._trains = trains
        self._run: Run | None = None
        self._leave: Callable[[], None] = lambda: None
        self.telling = Telling(send, lambda: self._run is not None and self._run.alive)
        own = weakref.WeakMethod(self.begun)  # an editor goes with its cell, whoever still trains

        def heard(run: Run) -> None:
            method = own()
            if method is None:
                stop()
            else:
                method(run)

        self._stop = stop = running.watch(heard)
        for run in list(running):
            self.begun(run)

    def close(self) -> None:
        self._stop()
        self._leave()

    def begun(self, run: Run) -> None:
        """A run that has begun: it is followed in place of the one before, if it trains the model."""
        if run is self._run or not self._trains(run):
            return
        self._leave()
        self._run = run

        def hear(events: list[dict[str, Any]]) -> None:
            shown = [event for event in events if event["kind"] in _SHOWN]
            try:
                if shown:
                    self.telling.add(shown)
            except Exception:  # whatever a dying connection raises; training does not end with its editor
                log.warning("the editor no longer follows run %s", run.folder, exc_info=True)
                self._leave()

        self._leave = run.subscribe(hear)
