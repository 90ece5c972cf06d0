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


@dataclass(frozen=True)
class Health:
    """What the layers are like after ``step``: measured beside the training, for ``samples`` of its batch, in ``seconds``.

    ``parameters`` and ``outputs`` are columns of equal length; in ``of`` stand places in ``layers``. Of what a layer learns:
    ``gradient``, the norm of the loss's gradient, ``weights``, the norm of its parameters, and ``update``, the norm of the
    update that the step made over that of the parameters. Of what it gives: ``mean``, ``std``, ``largest`` (magnitude),
    ``zeros`` (the share of exact zeros, which behind a ReLU are dead) and ``not_finite``, how many values are NaN or
    infinite; the other figures are those of the finite ones. A figure that is NaN is not finite itself.
    """

    step: int
    samples: int
    layers: tuple[str, ...]
    parameters: Mapping[str, list]
    outputs: Mapping[str, list]
    seconds: float


Event = Started | Step | Epoch | Health
