"""Best value of each metric so far."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

from labdl.runs.schema import MAX_METRICS, EpochEvent, Event, StartEvent

_KEPT = 64  # improvements of each metric to which a run can be rewound


def has_epochs(events: Iterable[dict[str, Any]]) -> bool:
    """Check for events that may change best values."""
    return any(event["kind"] in ("start", "epoch") for event in events)


class BestValues:
    """Keeps the best epoch mean of each metric of a run.

    The start event names the metrics whose higher values are better and those whose lower values are; ``higher`` and
    ``lower`` add to them. Losses are better low. Other metrics have no best value.
    """

    def __init__(self, higher: Collection[str] = (), lower: Collection[str] = ()):
        self._higher, self._lower = set(higher), set(lower)
        self._metrics: set[str] = set()
        # (step, epoch, value) of each improvement
        self._improvements: dict[str, list[tuple[int, int, float]]] = {}

    def update(self, event: Event) -> None:
        """Apply a start or epoch event; a start event discards the epochs after its step."""
        if isinstance(event, StartEvent):
            self._metrics = set(event.metrics)
            self._higher.update(event.higher)
            self._lower.update(event.lower)
            for found in self._improvements.values():
                while found and (not event.step or found[-1][0] > event.step):
                    found.pop()
        elif isinstance(event, EpochEvent):
            for name, value in event.metrics.items():
                self._compare(name, value, event)

    def direction(self, name: str) -> int:
        """1 if higher values are better, -1 if lower ones are, 0 if unknown."""
        base = name.removeprefix("val_")
        return 1 if base in self._higher else -1 if base in self._lower or base not in self._metrics else 0

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """``value`` and ``epoch`` of each metric."""
        best = {name: found[-1] for name, found in self._improvements.items() if found}
        return {name: {"value": value, "epoch": epoch} for name, (_, epoch, value) in best.items()}

    def _compare(self, name: str, value: float, event: EpochEvent) -> None:
        sign = self.direction(name)
        if not sign or not math.isfinite(value):
            return
        if name not in self._improvements and len(self._improvements) >= MAX_METRICS:
            return
        found = self._improvements.setdefault(name, [])
        if not found or sign * value > sign * found[-1][2]:
            found.append((event.step, event.epoch, value))
            del found[:-_KEPT]
