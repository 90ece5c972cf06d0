"""Everything recorded in the events of a run, in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from labdl.runs.reading.status import RunStatus
from labdl.runs.reading.step_columns import Spans, StepColumns, merge_steps
from labdl.runs.schema import (
    EVENTS,
    CheckpointEvent,
    EpochEvent,
    Event,
    HealthEvent,
    HistogramsEvent,
    RateEvent,
    StartEvent,
    StepsEvent,
    parse,
)

MARKS = ("status", "learning_rate", "epochs", "checkpoint", "branch")  # actions of people
LISTED = tuple(kind for kind in EVENTS if kind not in ("start", "steps", "epoch", "rate", "end", *MARKS))


class RunData:
    """Collects the events of a run.

    Where a run resumes, what was recorded after its step is discarded: it did not become part of the model.
    """

    def __init__(self):
        self.status, self.steps, self.step = RunStatus(), StepColumns(), 0
        self.start: dict[str, Any] = {}  # the last start event
        self.epochs: list[dict[str, Any]] = []
        self.marks: list[dict[str, Any]] = []
        self.rates: list[tuple[int, float]] = []
        self.events: dict[str, list[dict[str, Any]]] = {kind: [] for kind in LISTED}
        self.checkpoint: CheckpointEvent | None = None  # the newest
        self._layers: list[str] = []  # of the last event about layers

    def update(self, events: Iterable[dict[str, Any]]) -> None:
        """Apply the next events. Lists in them may be changed."""
        for line, spans in merge_steps(events):
            event = parse(line)
            if event is not None:
                self._apply(event, line, spans)

    def _apply(self, event: Event, line: dict[str, Any], spans: Spans | None) -> None:
        before = self.status.time
        self.status.update(event)
        if isinstance(event, StartEvent):
            self.start = line
            self._rewind(event)
        elif isinstance(event, StepsEvent):
            self.steps.add(event, before, spans)
            self.step = max(self.step, self.steps.last)
        elif isinstance(event, EpochEvent):
            self._add_epoch(event)
        elif isinstance(event, RateEvent):
            self._add_rates(event)
        elif isinstance(event, CheckpointEvent) and event.automatic:
            self.checkpoint = event
        elif event.kind in MARKS:
            self.checkpoint = event if isinstance(event, CheckpointEvent) else self.checkpoint
            # version 1 does not give the step of all of them: then it is the last one
            step = getattr(event, "step", None)
            self.marks.append({**line, "step": self.step if step is None else step})
        elif isinstance(event, HealthEvent | HistogramsEvent):
            if event.layers is not None:
                self._layers = event.layers
            self.events[event.kind].append({**line, "layers": self._layers})
        elif event.kind in LISTED:
            self.events[event.kind].append(line)

    def _rewind(self, event: StartEvent) -> None:
        step = event.step
        self.steps.truncate(step)
        for events in (self.epochs, self.marks, *self.events.values()):
            events[:] = [one for one in events if one.get("step", 0) <= step] if step else []
        self.rates = [rate for rate in self.rates if rate[0] < step]
        if step:
            self.marks.append({"kind": "resumed", "time": event.time, "step": step})
        self.step = step

    def _add_epoch(self, event: EpochEvent) -> None:
        self.step = max(self.step, event.step)
        self.epochs.append(
            {
                "epoch": event.epoch,
                "step": self.step,
                "time": event.time,
                "samples_per_second": event.samples_per_second,
                **event.metrics,
            }
        )

    def _add_rates(self, event: RateEvent) -> None:
        for step, rate in zip(event.step.tolist(), event.value.tolist(), strict=False):
            if np.isfinite(rate) and (not self.rates or step >= self.rates[-1][0]):
                self.rates.append((step, rate))
