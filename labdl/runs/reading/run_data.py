"""Everything recorded in the events of a run, in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from labdl.runs.reading.status import RunStatus
from labdl.runs.reading.step_columns import Spans, StepColumns, merge_steps
from labdl.runs.reading.step_list import StepList
from labdl.runs.schema import (
    EVENTS,
    MAX_METRICS,
    CheckpointEvent,
    EpochEvent,
    Event,
    HealthEvent,
    HistogramsEvent,
    RateEvent,
    StartEvent,
    StepsEvent,
    metric_key,
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
        self.epochs, self.marks = StepList(), StepList()
        self.rates: list[tuple[int, float]] = []
        self.events = {kind: StepList() for kind in LISTED}
        self.checkpoint: CheckpointEvent | None = None  # the newest
        self._layers: list[str] = []  # of the last event about layers
        self._of_epochs: set[str] = set()  # names of metrics

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
            step = self.step if step is None else step
            self.marks.append(step, {**line, "step": step})
        elif isinstance(event, HealthEvent | HistogramsEvent):
            if event.layers is not None:
                self._layers = event.layers
            self.events[event.kind].append(event.step, {**line, "layers": self._layers})
        elif event.kind in LISTED:
            self.events[event.kind].append(getattr(event, "step", 0), line)

    def _rewind(self, event: StartEvent) -> None:
        step = event.step
        self.steps.truncate(step)
        for events in (self.epochs, self.marks, *self.events.values()):
            events.truncate(step) if step else events.clear()
        if not step:
            self._of_epochs.clear()
        while self.rates and self.rates[-1][0] >= step:
            self.rates.pop()
        if step:
            self.marks.append(step, {"kind": "resumed", "time": event.time, "step": step})
        self.step = step

    def _add_epoch(self, event: EpochEvent) -> None:
        self.step = max(self.step, event.step)
        metrics = {metric_key(name): value for name, value in event.metrics.items() if self._is_read(name)}
        self.epochs.append(
            self.step,
            {
                "epoch": event.epoch,
                "step": self.step,
                "time": event.time,
                "samples_per_second": event.samples_per_second,
                **metrics,
            },
        )

    def _is_read(self, name: str) -> bool:
        """True for the first metrics of a run, whose number is limited: `history` has a value of each for every epoch."""
        if len(self._of_epochs) < MAX_METRICS:
            self._of_epochs.add(name)
        return name in self._of_epochs

    def _add_rates(self, event: RateEvent) -> None:
        for step, rate in zip(event.step.tolist(), event.value.tolist(), strict=False):
            if np.isfinite(rate) and (not self.rates or step >= self.rates[-1][0]):
                self.rates.append((step, rate))
