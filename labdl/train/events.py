"""Events of a training run, as frozen dataclasses: the interface of progress bars, files and dashboards to training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True)
class Start:
    """A training starts, or resumes after ``step``; ``history`` holds the values of the epochs before.

    It ends after ``epochs`` epochs, or after ``max_steps`` steps if that is earlier.
    """

    epochs: int
    steps_per_epoch: int
    batch_size: int
    samples: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    step: int = 0
    history: Mapping[str, list[float]] = field(default_factory=dict)
    max_steps: int | None = None


@dataclass(frozen=True)
class Step:
    """A step ended; ``values`` holds the loss and metrics of its batch. Steps count from 1 over all epochs."""

    step: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Epoch:
    """An epoch ended; ``values`` holds means over the training data, and over the validation data with the prefix ``val_``."""

    epoch: int
    step: int
    values: Mapping[str, float]
    samples_per_second: float


@dataclass(frozen=True)
class Validation:
    """A validation within an epoch, the ``epoch``-th, see ``val_check_interval`` of `Trainer`.

    The names of its ``values`` begin with ``val_``.
    """

    epoch: int
    step: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Health:
    """Layer statistics after ``step``, measured on ``samples`` samples of its batch in ``seconds``.

    ``parameters`` and ``outputs`` are tables as columns of equal length; their column ``of`` has indices into ``layers``.
    Parameters: ``gradient`` is the norm of the gradient of the loss, ``weights`` the norm of the parameters, and ``update`` the
    norm of the update of the step divided by that of the parameters. Outputs: ``mean``, ``std``, ``largest`` (magnitude),
    ``zeros`` (the fraction of exact zeros: dead units after a ReLU) and ``not_finite`` (the number of NaN and infinite values,
    which the other columns leave out). NaN stands for a value that is not finite. ``classes`` are those of the layers.
    """

    step: int
    samples: int
    layers: tuple[str, ...]
    parameters: Mapping[str, list]
    outputs: Mapping[str, list]
    seconds: float
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Throughput:
    """Time of the last ``steps`` steps with ``samples`` samples, by part, in seconds.

    ``data`` is the time spent waiting for data, ``compute`` that of forward, backward and metrics, ``update`` that of the
    optimizer; None if the step is compiled as a whole and ``compute`` includes the update. On an asynchronous device such as a
    GPU they are the times of launching the work; the rest passes when the loss is read and counts as ``compute``. Measuring
    does not synchronize with the device.
    """

    record_kind: ClassVar[str] = "pace"  # its name in events.jsonl

    step: int
    steps: int
    samples: int
    data: float
    compute: float
    update: float | None


@dataclass(frozen=True)
class Rate:
    """Changes of the learning rate: ``value`` is the rate of the updates after ``step``. Frequent changes are sampled."""

    step: tuple[int, ...]
    value: tuple[float, ...]


@dataclass(frozen=True)
class Histograms:
    """Histograms of the weights, gradients and outputs of layers after ``step``.

    Each is a table as columns of equal length: ``of`` has indices into ``layers``, ``counts`` the number of values in each of
    24 equal bins from ``low`` to ``high``. Of layers with very many values an evenly spaced subset is counted.
    """

    step: int
    layers: tuple[str, ...]
    weights: Mapping[str, list]
    gradients: Mapping[str, list]
    outputs: Mapping[str, list]


@dataclass(frozen=True)
class Samples:
    """The fixed samples of the validation data, once per training; their parts are plain data (docs/runs.md)."""

    task: str
    classes: tuple[str, ...] | None
    samples: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Predictions:
    """Predictions for the fixed samples, in their order."""

    epoch: int
    step: int
    outputs: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix of the validation data.

    ``counts`` has a row for each true class and a column for each predicted one. With many classes there are ``pairs`` instead:
    the most frequent mistakes as (true, predicted, count).
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
    """A warning about the training: its kind, its level, and a message with advice.

    The message is the ``template`` with its places %1, %2 … filled by the ``values``, so that it can be translated.
    """

    alert: str
    level: str
    step: int
    message: str
    template: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class NewCheckpoint:
    """A checkpoint after ``step`` is complete at ``path``."""

    record_kind: ClassVar[str] = "checkpoint"

    step: int
    path: str
    automatic: bool = True


@dataclass(frozen=True)
class Text:
    """A text that `Trainer.log_text` was given, such as a generated sample."""

    step: int
    name: str
    text: str


Event = (
    Start
    | Step
    | Epoch
    | Validation
    | Health
    | Throughput
    | Rate
    | Histograms
    | Samples
    | Predictions
    | Confusion
    | Worst
    | Alert
    | NewCheckpoint
    | Text
)


def event_kind(event: Event) -> str:
    """Name of an event in events.jsonl: that of its class, unless the class has a ``record_kind``."""
    return getattr(event, "record_kind", type(event).__name__.lower())


def to_record(event: Event) -> dict[str, Any]:
    """The fields of an event as in events.jsonl, by its model in `labdl.runs.schema`.

    Optional fields that are None are left out; ``values`` become keys of their own.
    """
    from labdl.runs.schema import EVENTS, Decimals, metric_key  # imported here because pydantic is slow to import

    model = EVENTS[event_kind(event)]
    record: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        value = getattr(event, name, None)
        if not hasattr(event, name) or (value is None and not info.is_required()):
            continue
        digits = next((mark.digits for mark in info.metadata if isinstance(mark, Decimals)), None)
        record[name] = _plain(value if digits is None or value is None else round(value, digits))
    if not isinstance(event, Epoch | Validation):
        return record
    return {**record, **{metric_key(name): value for name, value in event.values.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value
