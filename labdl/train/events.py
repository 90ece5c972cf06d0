"""What happens in a run, as frozen events: the only thing that progress bars, files and dashboards know of training (D8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Started:
    """Training is about to begin, or after a break to go on behind ``step``; ``history`` holds the epochs before it."""

    epochs: int
    steps_per_epoch: int
    batch_size: int
    samples: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    step: int = 0
    history: Mapping[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One update was made; ``values`` holds the loss and metrics of its batch. Steps count from 1 over all epochs."""

    step: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Epoch:
    """An epoch ended; ``values`` holds means over it, and over the validation data with ``val_`` before the name."""

    epoch: int
    step: int
    values: Mapping[str, float]
    samples_per_second: float


Event = Started | Step | Epoch
