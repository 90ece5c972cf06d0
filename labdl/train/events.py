"""Events of a training run, as frozen dataclasses: the interface of progress bars, files and dashboards to training."""

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
    """Layer statistics after ``step``, measured on ``samples`` of its batch in ``seconds``.

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


@dataclass(frozen=True)
class Pace:
    """Where the time of the last ``steps`` steps went, in seconds.

    ``data`` was waited for; ``compute`` is forward and backward, with metrics; ``update`` is what the optimizer took, or None
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


@dataclass(frozen=True)
class Rate:
    """Where the learning rate changed: ``value`` is that of the updates behind ``step``. Of many changes not each is told."""

    step: tuple[int, ...]
    value: tuple[float, ...]


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


@dataclass(frozen=True)
class Samples:
    """The samples of the validation data that are watched, told once; their parts are plain data (docs/runs.md)."""

    task: str
    classes: tuple[str, ...] | None
    samples: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Predictions:
    """Predictions for the watched samples, in their order."""

    epoch: int
    step: int
    outputs: tuple[Mapping[str, Any], ...]


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


@dataclass(frozen=True)
class Worst:
    """The samples of the validation data with the highest loss, the highest first."""

    epoch: int
    step: int
    samples: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Alert:
    """Something that a person would want to know now: what was seen, and what may help."""

    alert: str
    level: str
    step: int
    message: str


Event = Started | Step | Epoch | Health | Pace | Rate | Histograms | Samples | Predictions | Confusion | Worst | Alert


def to_record(event: Event) -> dict[str, Any]:
    """The fields of an event as events.jsonl has them, which its model in `labdl.runs.schema` names.

    Optional fields that are None are left out; ``values`` become keys of their own.
    """
    from labdl.runs.schema import EVENTS, Decimals  # here, because importing pydantic takes longer than all the rest

    model = EVENTS[type(event).__name__.lower()]
    record: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        value = getattr(event, name, None)
        if not hasattr(event, name) or (value is None and not info.is_required()):
            continue
        digits = next((mark.digits for mark in info.metadata if isinstance(mark, Decimals)), None)
        record[name] = _plain(value if digits is None or value is None else round(value, digits))
    return {**record, **event.values} if isinstance(event, Epoch) else record


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value
