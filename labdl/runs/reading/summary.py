"""Summary of a run: the values by which runs are compared."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from labdl.runs.curves.sparkline import Sparkline
from labdl.runs.reading.best import BestValues
from labdl.runs.schema import (
    MAX_METRICS,
    EndEvent,
    EpochEvent,
    EpochsEvent,
    Event,
    StartEvent,
    StatusEvent,
    StepsEvent,
)


class Summary:
    """Reduces the events of a run to a summary, in memory that does not grow.

    ``higher`` and ``lower`` name metrics as the start event does: see `BestValues`.
    """

    def __init__(self, higher: Collection[str] = (), lower: Collection[str] = ()):
        self._direction = higher, lower
        self._reset()

    def update(self, event: Event) -> None:
        """Apply the next event."""
        if isinstance(event, StartEvent):
            self._start(event)
            self._time = event.time
        elif self._time is not None and event.time > self._time:
            self.seconds += 0.0 if self._paused else event.time - self._time
            self._time = event.time
        self._best.update(event)
        if isinstance(event, StepsEvent):
            self._add_steps(event)
        elif isinstance(event, EpochEvent):
            self._add_epoch(event)
        elif isinstance(event, EpochsEvent):
            self.epochs = event.epochs or self.epochs
        elif isinstance(event, StatusEvent):
            self._paused = event.status == "paused"
        elif isinstance(event, EndEvent):
            self._paused = True

    def to_dict(self) -> dict[str, Any]:
        """The ``summary`` of the end event (`labdl.runs.schema.RunSummary`)."""
        last = {**self._of_steps, **self._of_epochs}
        return {
            "step": self.step,
            "epoch": self.epoch,
            "epochs": self.epochs,
            "seconds": round(min(self.seconds, 1e12), 3),
            "figures": {name: value if math.isfinite(value) else None for name, (_, value) in last.items()},
            "best": self._best.to_dict(),
            "spark": self._spark.to_list() or self._epoch_spark.to_list(),
            "higher": [name for name in last if self._best.direction(name) > 0],
        }

    # -- internal

    def _reset(self) -> None:
        self.step = self.epoch = 0
        self.epochs: int | None = None
        self.seconds = 0.0
        self._time: float | None = None
        self._paused = False  # or ended
        # last step and value
        self._of_steps: dict[str, tuple[int, float]] = {}
        self._of_epochs: dict[str, tuple[int, float]] = {}
        self._best = BestValues(*self._direction)
        self._spark, self._epoch_spark = Sparkline(), Sparkline()

    def _start(self, event: StartEvent) -> None:
        if event.step:
            self._rewind(event.step, event.steps_per_epoch)
        else:
            self._reset()
        self.step, self._paused = event.step, False
        self.epochs = event.epochs or self.epochs

    def _rewind(self, step: int, steps_per_epoch: int | None) -> None:
        """Discard what is after a step."""
        if steps_per_epoch:
            self.epoch = step // steps_per_epoch
        for values in (self._of_steps, self._of_epochs):
            for name in [name for name, (at, _) in values.items() if at > step]:
                del values[name]
        for spark in (self._spark, self._epoch_spark):
            spark.truncate(step)

    def _add_steps(self, event: StepsEvent) -> None:
        last = int(event.step[-1])
        self.step = max(self.step, last)
        for name, column in event.metrics.items():
            if not len(column) or (name not in self._of_steps and len(self._of_steps) >= MAX_METRICS):
                continue
            self._of_steps[name] = (last, float(column[-1]))
            if name == "loss":
                count = min(len(event.step), len(column))
                self._spark.add(event.step[:count], column[:count])

    def _add_epoch(self, event: EpochEvent) -> None:
        self.epoch, self.step = event.epoch, max(self.step, event.step)
        for name, value in event.metrics.items():
            if name in self._of_epochs or len(self._of_epochs) < MAX_METRICS:
                self._of_epochs[name] = (self.step, value)
        loss = self._of_epochs.get("loss")
        if loss is not None:
            self._epoch_spark.add(np.array([self.step]), np.array([loss[1]]))
