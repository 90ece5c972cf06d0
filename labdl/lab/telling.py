"""Telling the pages of a widget the events of runs: all that was to those that ask, then what comes."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from labdl.lab.packing import pack
from labdl.train.exits import running
from labdl.train.feed import Listener

if TYPE_CHECKING:
    from labdl.train import Run

log = logging.getLogger(__name__)
Send = Callable[[dict[str, Any], list[bytes]], None]  # a message and its buffers


class Followed(Protocol):
    """What can be told: a run of this process, one of a race, or one that is read from its folder."""

    folder: Path

    @property
    def alive(self) -> bool: ...

    def subscribe(self, listener: Listener) -> Callable[[], None]: ...


class Telling:
    """The events of one run in order, by ``send``; ``number`` tells it from the others of the widget.

    With ``kinds`` only events of these are told. Nothing is kept: what was is read from the run's folder when a page asks.
    """

    def __init__(self, run: Followed, send: Send, *, number: int = 0, kinds: Collection[str] | None = None):
        self.run, self._send, self._number, self._kinds = run, send, number, kinds
        self._count = 0  # events told so far
        self._live = False
        self._pages = Unheard()
        self._leave = run.subscribe(self._hear)
        self._live = True

    def close(self) -> None:
        """Tell no more; the run goes on."""
        self._leave()

    def answer(self, after: Any) -> None:
        """A page asks for what comes after so many events."""
        self._pages.heard()
        self._repeat(after if isinstance(after, int) and 0 <= after <= self._count else 0)

    def tell_standing(self) -> None:
        """Tell whether the run goes on, where nothing else is new."""
        if self._live:
            self._tell(self._count, [])

    def _hear(self, events: list[dict[str, Any]]) -> None:
        """New events, in a thread of the run, or the past on subscribing, which pages ask for."""
        first, shown = self._count, self._shown(events)
        self._count += len(shown)
        if not self._live or not shown:
            return
        try:
            if self._pages.repeat():
                self._repeat(0)
            else:
                self._tell(first, shown)
        except Exception:  # whatever a dying connection raises; training does not end with its dashboard
            log.warning("the page no longer follows run %s", self.run.folder, exc_info=True)
            self._leave()

    def _repeat(self, after: int) -> None:
        count = 0

        def hear(events: list[dict[str, Any]]) -> None:
            nonlocal count
            shown = self._shown(events)
            fresh = shown[max(0, after - count) :]
            count += len(shown)
            if fresh:
                self._tell(count - len(fresh), fresh)

        self.run.subscribe(hear)()
        if count <= after:  # nothing to tell but whether it goes on
            self._tell(count, [])

    def _shown(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return events if self._kinds is None else [event for event in events if event["kind"] in self._kinds]

    def _tell(self, first: int, events: list[dict[str, Any]]) -> None:
        packed, buffers = pack(events)
        message = {"type": "events", "run": self._number, "first": first, "events": packed, "alive": self.run.alive}
        self._send(message, buffers)


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

    def __init__(self, trains: Callable[[Run], bool], send: Send):
        self._trains, self._send = trains, send
        self._telling: Telling | None = None
        self._number = 0
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
        if self._telling is not None:
            self._telling.close()

    def answer(self, after: Any, number: Any) -> None:
        """A page asks for what comes after so many events of a run; of another than the one at hand it has heard nothing."""
        if self._telling is not None:
            self._telling.answer(after if number == self._number else 0)

    def begun(self, run: Run) -> None:
        """A run that has begun: it is followed in place of the one before, if it trains the model."""
        if (self._telling is not None and run is self._telling.run) or not self._trains(run):
            return
        if self._telling is not None:
            self._telling.close()
        self._number += 1
        self._telling = Telling(run, self._send, number=self._number, kinds=_SHOWN)
