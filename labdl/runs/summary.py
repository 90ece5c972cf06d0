"""What is left of a run when it is over: the figures by which runs are compared."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from labdl.runs import fields
from labdl.runs.spark import POINTS, Spark

_KEPT = 64  # values better than all before, of each figure, to which a run can go back
_NAMES = 500  # figures that are taken into account


class Summary:
    """Hears the events of a run one after the other and tells what they come to, in memory that does not grow.

    Which figures are better high is said by the start event, or by ``higher`` and ``lower``; of metrics of which nobody says
    it there is no best value, losses are better low.
    """

    def __init__(self, higher: Collection[str] = (), lower: Collection[str] = ()):
        self._higher, self._lower = set(higher), set(lower)
        self._metrics: set[str] = set()
        self._heard: dict[str, Any] = {
            "steps": self._steps, "epoch": self._epoch_end, "epochs": self._planned, "status": self._status,
        }  # fmt: skip
        self._begin()

    def hear(self, event: dict[str, Any]) -> None:
        """Take an event into account; its columns may be lists or arrays."""
        kind, time = event["kind"], fields.number(event["time"])
        if kind == "start":
            self._start(event)
            self._time = time
        elif time is not None and self._time is not None and time > self._time:
            self.seconds += 0.0 if self._resting else time - self._time
            self._time = time
        if kind in self._heard:
            self._heard[kind](event)
        elif kind == "end":
            self._resting = True

    def told(self) -> dict[str, Any]:
        """``step``, ``epoch``, ``epochs``, ``seconds``, ``figures``, ``best`` and ``spark`` as the event "end" has them, and
        ``higher``: those of the figures that are better high."""
        figures = {**self._of_steps, **self._of_epochs}
        return {
            "step": self.step, "epoch": self.epoch, "epochs": self.epochs,
            "seconds": round(min(self.seconds, 1e12), 3),
            "figures": {name: value if math.isfinite(value) else None for name, (_, value) in figures.items()},
            "best": {name: {"value": found[-1][2], "epoch": found[-1][1]} for name, found in self._best.items() if found},
            "spark": self._spark.told() or self._epoch_spark.told(),
            "higher": [name for name in figures if self._better(name) > 0],
        }  # fmt: skip

    # -- inside

    def _begin(self) -> None:
        self.step = self.epoch = 0
        self.epochs: int | None = None
        self.seconds = 0.0
        self._time: float | None = None
        self._resting = False  # paused, or over
        self._of_steps: dict[str, tuple[int, float]] = {}
        self._of_epochs: dict[str, tuple[int, float]] = {}
        # steps, epochs and values, each better than those before
        self._best: dict[str, list[tuple[int, int, float]]] = {}
        self._spark, self._epoch_spark = Spark(), Spark()

    def _start(self, event: dict[str, Any]) -> None:
        step = fields.whole(event.get("step")) or 0
        if step:
            self._return_to(step, fields.whole(event.get("steps_per_epoch")))
        else:
            self._begin()
        self.step, self._resting = step, False
        self._planned(event)
        self._metrics = set(fields.texts(event.get("metrics")))
        self._higher.update(fields.texts(event.get("higher")))
        self._lower.update(fields.texts(event.get("lower")))

    def _return_to(self, step: int, steps_per_epoch: int | None) -> None:
        """What was behind a step is as if it had not been."""
        if steps_per_epoch:
            self.epoch = step // steps_per_epoch
        for figures in (self._of_steps, self._of_epochs):
            for name in [name for name, (at, _) in figures.items() if at > step]:
                del figures[name]
        for found in self._best.values():
            while found and found[-1][0] > step:
                found.pop()
        for spark in (self._spark, self._epoch_spark):
            spark.cut(step)

    def _steps(self, event: dict[str, Any]) -> None:
        steps = fields.steps(event.get("step"))
        if steps is None:
            return
        self.step = max(self.step, int(steps[-1]))
        for name, values in event.items():
            if name in fields.NOT_FIGURES or (name not in self._of_steps and len(self._of_steps) >= _NAMES):
                continue
            column = fields.numbers(values)
            if column is not None and len(column):
                self._of_steps[name] = (int(steps[-1]), float(column[-1]))
                if name == "loss":
                    count = min(len(steps), len(column))
                    self._spark.add(steps[:count], column[:count])

    def _epoch_end(self, event: dict[str, Any]) -> None:
        epoch, step = fields.whole(event.get("epoch")), fields.whole(event.get("step"))
        self.epoch = self.epoch + 1 if epoch is None else epoch
        self.step = self.step if step is None else max(self.step, step)
        for name, value in fields.figures(event).items():
            if name not in self._of_epochs and len(self._of_epochs) >= _NAMES:
                continue
            self._of_epochs[name] = (self.step, value)
            self._compare(name, value)
        loss = self._of_epochs.get("loss")
        if loss is not None:
            self._epoch_spark.add(np.array([self.step]), np.array([loss[1]]))

    def _compare(self, name: str, value: float) -> None:
        sign, found = self._better(name), self._best.setdefault(name, [])
        if sign and math.isfinite(value) and (not found or sign * value > sign * found[-1][2]):
            found.append((self.step, self.epoch, value))
            del found[:-_KEPT]

    def _better(self, name: str) -> int:
        base = name.removeprefix("val_")
        return 1 if base in self._higher else -1 if base in self._lower or base not in self._metrics else 0

    def _planned(self, event: dict[str, Any]) -> None:
        self.epochs = fields.whole(event.get("epochs")) or self.epochs

    def _status(self, event: dict[str, Any]) -> None:
        self._resting = event.get("status") == "paused"


def cleaned(told: Any) -> dict[str, Any] | None:
    """A summary as it stands in a file, without what does not belong there; None where it is none."""
    if not isinstance(told, dict) or not isinstance(told.get("figures"), dict):
        return None
    best = {name: {"value": value, "epoch": fields.whole(found.get("epoch"))} for name, found in
            fields.mapping(told.get("best")).items()
            if isinstance(found, dict) and (value := fields.number(found.get("value"))) is not None}  # fmt: skip
    spark = told.get("spark")
    return {
        "step": fields.whole(told.get("step")) or 0, "epoch": fields.whole(told.get("epoch")) or 0,
        "epochs": fields.whole(told.get("epochs")),
        "seconds": max(0.0, fields.number(told.get("seconds")) or 0.0),
        "figures": {name: fields.number(value) for name, value in list(told["figures"].items())[:_NAMES]},
        "best": best, "spark": [fields.number(value) for value in spark[:POINTS]] if isinstance(spark, list) else [],
        "higher": fields.texts(told.get("higher")),
    }  # fmt: skip
