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

    def told(self) -> dict[str, Any]:
        """What the recording of a run has of it."""
        return {"step": self.step, "samples": self.samples, "seconds": round(self.seconds, 6), "layers": list(self.layers),
                "parameters": dict(self.parameters), "outputs": dict(self.outputs)}  # fmt: skip


@dataclass(frozen=True)
class Pace:
    """Where the time of the last ``steps`` steps went, in seconds.

    ``data`` was waited for; ``compute`` is forward and backward, with metrics; ``update`` is what the optimiser took, or None
    where the step is compiled as one, which ``compute`` then has all of. Of a device that works on its own, such as a GPU,
    it is the time in which its work was handed over; what is left of it is waited for when the loss is read, and counts
    as ``compute``. Nothing waits for the device on account of this event.
    """

    step: int
    steps: int
    samples: int
    data: float
    compute: float
    update: float | None

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        update = None if self.update is None else round(self.update, 6)
        return {"step": self.step, "steps": self.steps, "samples": self.samples, "data": round(self.data, 6),
                "compute": round(self.compute, 6), "update": update}  # fmt: skip


@dataclass(frozen=True)
class Rate:
    """Where the learning rate changed: ``value`` is that of the updates behind ``step``. Of many changes not each is told."""

    step: tuple[int, ...]
    value: tuple[float, ...]

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        return {"step": list(self.step), "value": list(self.value)}


@dataclass(frozen=True)
class Histograms:
    """How the values of layers are spread after ``step``: of what they learn, of its gradients, and of what they give.

    Columns of equal length: in ``of`` stand places in ``layers``; ``counts`` says how many values lie in each of 24 equal
    parts of the range from ``low`` to ``high``. Of a layer with very many values an even sample is counted.
    """

    step: int
    layers: tuple[str, ...]
    weights: Mapping[str, list]
    gradients: Mapping[str, list]
    outputs: Mapping[str, list]

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        return {"step": self.step, "layers": list(self.layers), "weights": dict(self.weights),
                "gradients": dict(self.gradients), "outputs": dict(self.outputs)}  # fmt: skip


@dataclass(frozen=True)
class Samples:
    """The samples of the validation data that are watched, told once; their parts are plain data (docs/runs.md)."""

    task: str
    classes: tuple[str, ...] | None
    samples: tuple[Mapping[str, Any], ...]

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        return {"task": self.task, "classes": self.classes and list(self.classes), "samples": list(self.samples)}


@dataclass(frozen=True)
class Predictions:
    """What the model makes of the samples that are watched, in their order."""

    epoch: int
    step: int
    outputs: tuple[Mapping[str, Any], ...]

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        return {"epoch": self.epoch, "step": self.step, "outputs": list(self.outputs)}


@dataclass(frozen=True)
class Confusion:
    """How often which class was taken for which, over the validation data.

    ``counts`` has a row for each true class and a column for each predicted one; of many classes there are ``pairs`` instead,
    the most frequent mistakes as (true, predicted, how often).
    """

    epoch: int
    step: int
    counts: tuple[tuple[int, ...], ...] | None = None
    pairs: tuple[tuple[int, int, int], ...] | None = None

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        name, rows = ("pairs", self.pairs or ()) if self.counts is None else ("counts", self.counts)
        return {"epoch": self.epoch, "step": self.step, name: [list(row) for row in rows]}


@dataclass(frozen=True)
class Worst:
    """The samples of the validation data with the highest loss, the highest first."""

    epoch: int
    step: int
    samples: tuple[Mapping[str, Any], ...]

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        return {"epoch": self.epoch, "step": self.step, "samples": list(self.samples)}


@dataclass(frozen=True)
class Alert:
    """Something that a person would want to know now: what was seen, and what may help."""

    alert: str
    level: str
    step: int
    message: str

    def told(self) -> dict[str, Any]:
        """As for `Health`."""
        return {"alert": self.alert, "level": self.level, "step": self.step, "message": self.message}


Event = Started | Step | Epoch | Health | Pace | Rate | Histograms | Samples | Predictions | Confusion | Worst | Alert
