"""Events of runs as messages to the pages of a widget: past events on request, then new ones."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from labdl.lab.messages.base import write
from labdl.lab.messages.runs import EventsMessage
from labdl.lab.widgets.binary_events import pack
from labdl.runs.reading.best import BestValues, has_epochs
from labdl.runs.schema import parse_all
from labdl.train.run.event_stream import Listener
from labdl.train.run.shutdown import active_runs

if TYPE_CHECKING:
    from labdl.train import Run

log = logging.getLogger(__name__)
Send = Callable[[dict[str, Any], list[bytes]], None]  # a message and its buffers


class EventSource(Protocol):
    """A run of this process, one of a race, or one that is read from its folder."""

    folder: Path

    @property
    def alive(self) -> bool: ...

    def subscribe(self, listener: Listener) -> Callable[[], None]: ...


class EventSender:
    """Sends the events of one run in order; ``number`` distinguishes it from others of the widget.

    With ``kinds`` only events of these are sent. Past events are read from the run's folder when a page asks.
    """

    def __init__(self, run: EventSource, send: Send, *, number: int = 0, kinds: Collection[str] | None = None):
        self.run, self._send, self._number, self._kinds = run, send, number, kinds
        self._count = 0  # events sent so far
        self._best = BestValues()
        self._live = False
        self._resend = ResendTimer()
        self._leave = run.subscribe(self._receive)
        self._live = True

    def close(self) -> None:
        """Stop sending; the run continues."""
        self._leave()

    def send_after(self, after: Any) -> None:
        """Send the events after the first ``after`` to a page that asks."""
        self._resend.stop()
        self._repeat(after if isinstance(after, int) and 0 <= after <= self._count else 0)

    def send_status(self) -> None:
        """Send whether the run is alive, without events."""
        if self._live:
            self._send_events(self._count, [])

    def _receive(self, events: list[dict[str, Any]]) -> None:
        """Receive new events in a thread of the run; past ones, on subscribing, are sent when pages ask."""
        first, shown = self._count, self._filter_kinds(events)
        for event in parse_all(event for event in events if event["kind"] in ("start", "epoch")):
            self._best.update(event)
        self._count += len(shown)
        if not self._live or not shown:
            return
        try:
            if self._resend.is_due():
                self._repeat(0)
            else:
                self._send_events(first, shown)
        except Exception:  # any error of a closing connection; it must not end the training
            log.warning("the page no longer follows run %s", self.run.folder, exc_info=True)
            self._leave()

    def _repeat(self, after: int) -> None:
        count = 0

        def collect(events: list[dict[str, Any]]) -> None:
            nonlocal count
            shown = self._filter_kinds(events)
            fresh = shown[max(0, after - count) :]
            count += len(shown)
            if fresh:
                self._send_events(count - len(fresh), fresh)

        self.run.subscribe(collect)()
        if count <= after:  # only the status
            self._send_events(count, [])

    def _filter_kinds(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return events if self._kinds is None else [event for event in events if event["kind"] in self._kinds]

    def _send_events(self, first: int, events: list[dict[str, Any]]) -> None:
        packed, buffers = pack(events)
        message = {"type": "events", "run": self._number, "first": first, "events": packed, "alive": self.run.alive}
        message["best"] = self._best.to_dict() if has_epochs(events) else None
        self._send(write(EventsMessage, message), buffers)


class ResendTimer:
    """Timer for sending all events again while no page has asked for them.

    A page requests past events, but a kernel busy with the next cell does not receive the request. Until it does, all past
    events are sent again at doubling intervals, so that a page that opened meanwhile catches up at a proportional cost.
    """

    def __init__(self, wait: float = 0.25):
        self._wait, self._next, self._silent = wait, 0.0, True

    def stop(self) -> None:
        self._silent = False

    def is_due(self) -> bool:
        now = time.monotonic()
        if not self._silent or now < self._next:
            return False
        self._next, self._wait = now + self._wait, self._wait * 2
        return True


_SHOWN = ("start", "health", "end")  # kinds of events that an editor shows


class ModelRunSender:
    """Sends an editor the events of the runs in this process that train its model, one after the other.

    ``trains(run)`` selects them; runs that started before are included while they continue.
    """

    def __init__(self, trains: Callable[[Run], bool], send: Send):
        self._trains, self._send = trains, send
        self._sender: EventSender | None = None
        self._number = 0
        own = weakref.WeakMethod(self.follow)  # the editor may be collected while a run continues

        def on_start(run: Run) -> None:
            method = own()
            if method is None:
                stop()
            else:
                method(run)

        self._stop = stop = active_runs.watch(on_start)
        for run in list(active_runs):
            self.follow(run)

    def close(self) -> None:
        self._stop()
        if self._sender is not None:
            self._sender.close()

    def send_after(self, after: Any, number: Any) -> None:
        """Send the events after the first ``after`` of run ``number``; all of them where that is another run."""
        if self._sender is not None:
            self._sender.send_after(after if number == self._number else 0)

    def follow(self, run: Run) -> None:
        """Follow a newly started run instead of the previous one, if it trains the model."""
        if (self._sender is not None and run is self._sender.run) or not self._trains(run):
            return
        if self._sender is not None:
            self._sender.close()
        self._number += 1
        self._sender = EventSender(run, self._send, number=self._number, kinds=_SHOWN)
