"""All that the events of a run tell, gathered as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from labdl.runs import fields
from labdl.runs.columns import Spans, Steps, joined
from labdl.runs.course import Course

MARKS = ("status", "learning_rate", "epochs", "checkpoint", "branch")  # what people did
LISTED = ("pace", "system", "alert", "log", "problem", "command", "health", "histograms", "samples", "predictions",
          "confusion", "worst")  # fmt: skip
_LAYERED = ("health", "histograms")  # events that name the layers only where they are others


class Collected:
    """Hears the events of a run in their order and keeps what they tell.

    Where a run goes on, what was told behind its step is dropped: it did not become part of the model.
    """

    def __init__(self):
        self.course, self.steps, self.step = Course(), Steps(), 0
        self.epochs: list[dict[str, Any]] = []
        self.marks: list[dict[str, Any]] = []
        self.rates: list[tuple[int, float]] = []
        self.events: dict[str, list[dict[str, Any]]] = {kind: [] for kind in LISTED}
        self._layers: dict[str, Any] = {}
        self._heard = {"start": self._on_start, "steps": self._on_steps, "epoch": self._on_epoch, "rate": self._on_rate,
                       **dict.fromkeys(MARKS, self._on_mark), **dict.fromkeys(LISTED, self._on_listed)}  # fmt: skip

    def hear(self, events: Iterable[dict[str, Any]]) -> None:
        """Take events into account, whose columns become parts of one another."""
        for event, spans in joined(events):
            self._hear(event, spans)

    def _hear(self, event: dict[str, Any], spans: Spans | None) -> None:
        before = self.course.time
        if event["kind"] == "steps":
            arrays = {name: found for name, values in event.items() if (found := fields.numbers(values)) is not None}
            event = {**event, **arrays}  # once, for all who hear of it
            self.steps.add(event, before, spans)
        self.course.hear(event)
        hear = self._heard.get(event["kind"])
        if hear is not None:
            hear(event)

    def _on_start(self, event: dict[str, Any]) -> None:
        step = fields.whole(event.get("step")) or 0
        self.steps.cut(step)
        for events in (self.epochs, self.marks, *self.events.values()):
            events[:] = [one for one in events if (fields.whole(one.get("step")) or 0) <= step] if step else []
        self.rates = [rate for rate in self.rates if rate[0] < step]
        if step:
            self.marks.append({"kind": "resumed", "time": event["time"], "step": step})
        self.step = step

    def _on_steps(self, event: dict[str, Any]) -> None:
        self.step = max(self.step, self.steps.last)

    def _on_epoch(self, event: dict[str, Any]) -> None:
        epoch, step = fields.whole(event.get("epoch")), fields.whole(event.get("step"))
        self.step = self.step if step is None else max(self.step, step)
        self.epochs.append({
            "epoch": len(self.epochs) + 1 if epoch is None else epoch, "step": self.step, "time": event["time"],
            "samples_per_second": fields.number(event.get("samples_per_second")), **fields.figures(event),
        })  # fmt: skip

    def _on_rate(self, event: dict[str, Any]) -> None:
        step, value = fields.steps(event.get("step")), fields.numbers(event.get("value"))
        if step is not None and value is not None:
            for at, rate in zip(step.tolist(), value.tolist(), strict=False):
                if np.isfinite(rate) and (not self.rates or at >= self.rates[-1][0]):
                    self.rates.append((at, rate))

    def _on_mark(self, event: dict[str, Any]) -> None:
        """Version 1 does not say the step of all of them: then it is the last one."""
        step = fields.whole(event.get("step"))
        self.marks.append({**event, "step": self.step if step is None else step})

    def _on_listed(self, event: dict[str, Any]) -> None:
        kind = event["kind"]
        if kind in _LAYERED:
            self._layers[kind] = (
                fields.texts(event["layers"], 10_000) if "layers" in event else self._layers.get(kind, [])
            )
            event = {**event, "layers": self._layers[kind]}
        self.events[kind].append(event)
