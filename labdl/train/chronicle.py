"""What a run records of itself: from the loop's events to those of events.jsonl (docs/runs.md)."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.runs.eventfile import VERSION
from labdl.runs.summary import Summary
from labdl.train.events import Epoch, Event, Started, Step
from labdl.train.feed import Listener
from labdl.train.machine import Machine, environment
from labdl.train.recorder import Recorder

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

SYSTEM_SECONDS = 2.0  # from one look at the machine to the next, at least
_FIRST_LOOK = 0.5  # in seconds: of a shorter time the system cannot say how busy it was
_THINNING = 500  # and the time since the start over this


class Chronicle:
    """The recording of one run. ``more`` is told in the start event besides what is known of every training.

    Raises ConfigError for a folder in which a run is under way.
    """

    def __init__(self, folder: Path, trainer: Trainer, more: dict[str, Any]):
        self.folder, self._trainer, self._more = folder, trainer, more
        self._recorder = Recorder(folder)
        self._layers: list[str] | None = None  # that the recording has named
        self._lock = threading.Lock()
        self._early: list[dict[str, Any]] | None = []  # what is logged before the first event
        self._summary = Summary()
        self._machine = Machine()
        self._began = self._looked = math.inf
        self.event, self.later, self.flush = self._recorder.event, self._recorder.later, self._recorder.flush

    def often(self, do: Callable[[], None]) -> None:
        """Call ``do`` five times a second from now on, in a thread of the recording."""

        def flush() -> None:
            do()
            self._look_at_machine()

        self._recorder.on_flush = flush

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all events so far, in pieces, then with new ones; returns the way out."""
        return self._recorder.subscribe(listener)

    def record(self, event: Event) -> None:
        """Take down what the loop tells."""
        if isinstance(event, Step):
            self._recorder.step(event.step, event.values)
        elif isinstance(event, Epoch):
            self.later("epoch", epoch=event.epoch, step=event.step, **event.values,
                       samples_per_second=event.samples_per_second)  # fmt: skip
        elif isinstance(event, Started):
            self._start(event)
        else:
            self._measured(event)

    def log(self, **told: Any) -> None:
        """Take down what is logged, behind the first event."""
        with self._lock:
            if self._early is not None:
                self._early.append(told)
                return
        self.later("log", **told)

    def end(self, status: str, message: str | None, place: dict[str, Any] | None) -> None:
        """Write the last event; nothing can be recorded after it."""
        try:
            self._tell_early()
            if self._looked < self._began:  # a short run is seen once all the same
                self._look_at_machine(last=True)
            self._recorder.flush()
            where = {"place": place} if place else {}
            self.event("end", status=status, message=message, **where, summary=self._summary.told())
        finally:
            self._recorder.close()

    def _start(self, event: Started) -> None:
        trainer, model = self._trainer, self._trainer.model
        better = {name: metric.higher_is_better for name, metric in trainer.metrics.items()}
        graph = getattr(model, "graph", None)
        self.event(
            "start", version=VERSION, id=self.folder.name, pid=os.getpid(), host=socket.gethostname(),
            model=graph.name if graph is not None else type(model).__name__, backend=model.backend,
            parameters=model.count_parameters(), epochs=event.epochs, steps_per_epoch=event.steps_per_epoch,
            batch_size=event.batch_size, samples=event.samples, step=event.step, loss=trainer.loss_name,
            optimizer=trainer.optimizer.kind, metrics=list(better), higher=[name for name in better if better[name]],
            lower=[name for name in better if better[name] is False], settings=dict(event.settings),
            environment=environment(model.backend), **self._more,
        )  # fmt: skip
        self._recorder.subscribe(self._hear)
        self._began = time.monotonic()
        self._looked = self._began + _FIRST_LOOK - SYSTEM_SECONDS
        self._tell_early()

    def _tell_early(self) -> None:
        with self._lock:
            early, self._early = self._early or [], None
            for told in early:
                self.later("log", **told)

    def _hear(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            self._summary.hear(event)

    def _measured(self, event: Any) -> None:
        """The layers stand in the first of these events, and again where they are others."""
        told = dict(event.told())
        if "layers" in told:
            known, self._layers = self._layers, told["layers"]
            if known == self._layers:
                del told["layers"]
        self.later(type(event).__name__.lower(), **told)

    def _look_at_machine(self, last: bool = False) -> None:
        now = time.monotonic()
        if last or now - self._looked >= max(SYSTEM_SECONDS, (now - self._began) / _THINNING):
            self._looked = now
            self.later("system", **self._machine.sample())
