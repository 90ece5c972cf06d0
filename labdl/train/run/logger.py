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

SYSTEM_SECONDS = 2.0  # minimal interval of system metrics
_FIRST_SAMPLE = 0.5  # seconds until the first one: shorter intervals are not accurate
_GROWTH = 500  # the interval is at least the time since the start / _GROWTH


class RunLogger:
    """The recording of one run; ``more`` are additional fields of its start event.

    Raises ConfigError for a folder with an active run.
    """

    def __init__(self, folder: Path, context: TrainContext, more: dict[str, Any]):
        self.folder, self._context, self._more = folder, context, more
        self._recorder = Recorder(folder)
        self._layers: list[str] | None = None  # the last ones that were recorded
        self._lock = threading.Lock()
        self._early: list[dict[str, Any]] | None = []  # log messages before the first event
        self._summary = Summary()
        self._system = SystemMonitor()
        self._began = self._sampled = math.inf
        self.write_event, self.queue_event = self._recorder.write_event, self._recorder.queue_event
        self.flush = self._recorder.flush

    def on_flush(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` five times per second from now on, in the thread of the recording."""

        def flush() -> None:
            callback()
            self._record_system()

        self._recorder.on_flush = flush

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all past events in chunks, then with new ones; returns a function that unsubscribes it."""
        return self._recorder.subscribe(listener)

    def record(self, event: Event) -> None:
        """Record an event of the training loop."""
        if isinstance(event, Step):
            self._recorder.add_step(event.step, event.values)
        elif isinstance(event, Start):
            self._start(event)
        else:
            self._record(event)

    def folder_was_recreated(self) -> bool:
        """Whether the folder was deleted and created again since the last call."""
        recreated, self._recorder.was_recreated = self._recorder.was_recreated, False
        return recreated

    def log(self, **fields: Any) -> None:
        """Record a log message, after the first event of the training."""
        with self._lock:
            if self._early is not None:
                self._early.append(fields)
                return
        self.queue_event("log", **fields)

    def end(self, status: str, message: str | None, place: dict[str, Any] | None) -> None:
        """Write the last event and close the recording."""
        try:
            self._flush_early_logs()
            if self._sampled < self._began:  # at least one sample, also of a short run
                self._record_system(last=True)
            self._recorder.flush()
            where = {"place": place} if place else {}
            self.write_event("end", status=status, message=message, **where, summary=self._summary.to_dict())
        finally:
            self._recorder.close()

    def _start(self, event: Start) -> None:
        context, model = self._context, self._context.model
        better = {name: metric.higher_is_better for name, metric in context.metrics.items()}
        graph = getattr(model, "graph", None)
        self.write_event(
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
            **({} if event.max_steps is None else {"max_steps": event.max_steps}),
            batch_size=event.batch_size,
            samples=event.samples,
            step=event.step,
            loss=context.loss_name,
            optimizer=context.optimizer.label,
            metrics=list(better),
            higher=[name for name in better if better[name]],
            lower=[name for name in better if better[name] is False],
            settings=dict(event.settings),
            environment=environment(model.backend),
            **self._more,
        )
        self._recorder.subscribe(self._update_summary)
        self._began = time.monotonic()
        self._sampled = self._began + _FIRST_SAMPLE - SYSTEM_SECONDS
        self._flush_early_logs()

    def _flush_early_logs(self) -> None:
        with self._lock:
            early, self._early = self._early or [], None
            for fields in early:
                self.queue_event("log", **fields)

    def _update_summary(self, events: list[dict[str, Any]]) -> None:
        for event in parse_all(events):
            self._summary.update(event)

    def _record(self, event: Event) -> None:
        record = to_record(event)
        if isinstance(event, Health | Histograms):  # names of layers are written only when they change
            previous, self._layers = self._layers, record["layers"]
            if previous == self._layers:
                del record["layers"]
                record.pop("classes", None)
        self.queue_event(event_kind(event), **record)

    def _record_system(self, last: bool = False) -> None:
        now = time.monotonic()
        if last or now - self._sampled >= max(SYSTEM_SECONDS, (now - self._began) / _GROWTH):
            self._sampled = now
            self.queue_event("system", **self._system.sample())
