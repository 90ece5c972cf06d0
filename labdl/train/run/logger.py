"""Logger of a run: writes the training's events to events.jsonl (docs/runs.md)."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.runs.reading.summary import Summary
from labdl.runs.schema import VERSION, parse_all
from labdl.train.events import Event, Health, Histograms, Start, Step, event_kind, to_record
from labdl.train.monitor.system_stats import SystemMonitor, environment
from labdl.train.run.event_stream import Listener
from labdl.train.run.event_writer import Recorder

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

SYSTEM_SECONDS = 2.0  # from one look at the machine to the next, at least
_FIRST_LOOK = 0.5  # in seconds: of a shorter time the system cannot say how busy it was
_THINNING = 500  # and the time since the start over this


class RunLogger:
    """The recording of one run. ``more`` is told in the start event besides what is known of every training.

    Raises ConfigError for a folder in which a run is under way.
    """

    def __init__(self, folder: Path, context: TrainContext, more: dict[str, Any]):
        self.folder, self._context, self._more = folder, context, more
        self._recorder = Recorder(folder)
        self._layers: list[str] | None = None  # that the recording has named
        self._lock = threading.Lock()
        self._early: list[dict[str, Any]] | None = []  # what is logged before the first event
        self._summary = Summary()
        self._machine = SystemMonitor()
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
        elif isinstance(event, Start):
            self._start(event)
        else:
            self._record(event)

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
            self.event("end", status=status, message=message, **where, summary=self._summary.to_dict())
        finally:
            self._recorder.close()

    def _start(self, event: Start) -> None:
        context, model = self._context, self._context.model
        better = {name: metric.higher_is_better for name, metric in context.metrics.items()}
        graph = getattr(model, "graph", None)
        self.event(
            "start",
            version=VERSION,
            id=self.folder.name,
            pid=os.getpid(),
            host=socket.gethostname(),
            model=graph.name if graph is not None else type(model).__name__,
            backend=model.backend,
            parameters=model.count_parameters(),
            epochs=event.epochs,
            steps_per_epoch=event.steps_per_epoch,
            batch_size=event.batch_size,
            samples=event.samples,
            step=event.step,
            loss=context.loss_name,
            optimizer=context.optimizer.kind,
            metrics=list(better),
            higher=[name for name in better if better[name]],
            lower=[name for name in better if better[name] is False],
            settings=dict(event.settings),
            environment=environment(model.backend),
            **self._more,
        )
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
        for event in parse_all(events):
            self._summary.update(event)

    def _record(self, event: Event) -> None:
        record = to_record(event)
        if isinstance(event, Health | Histograms):  # names of layers only where they differ from those before
            known, self._layers = self._layers, record["layers"]
            if known == self._layers:
                del record["layers"]
        self.later(event_kind(event), **record)

    def _look_at_machine(self, last: bool = False) -> None:
        now = time.monotonic()
        if last or now - self._looked >= max(SYSTEM_SECONDS, (now - self._began) / _THINNING):
            self._looked = now
            self.later("system", **self._machine.sample())
