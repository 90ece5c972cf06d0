"""The progress of a training, and the document of a checkpoint from which it resumes."""

from __future__ import annotations

import dataclasses
import functools
import typing
from typing import Annotated, Any

from annotated_types import Ge

from labdl.errors import FileFormatError
from labdl.nn.types import Count, Whole
from labdl.settings import Amount

VERSION = 1


@dataclasses.dataclass
class Progress:
    """Progress of a training.

    ``samples``, ``batch_size``, ``shuffle`` and ``seed`` determine the order of the data. ``epoch`` of ``epochs`` epochs are
    complete, and ``batch`` batches with ``seen`` samples of the current one, with the sums of values ``sums``.
    ``validations`` are the values of the validations within epochs, and in ``step`` their steps. ``logged`` are sums of the
    values of the current epoch that were logged, and of their weights. ``validated_epochs`` are the numbers of the epochs,
    counted from 1, whose end was validated.
    """

    samples: Count
    batch_size: Count
    shuffle: bool
    seed: Whole
    step: Whole = 0
    epoch: Whole = 0
    batch: Whole = 0
    seen: Whole = 0
    sums: dict[str, float] = dataclasses.field(default_factory=dict)
    history: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    epochs: Count | None = None
    validations: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    logged: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    validated_epochs: list[Count] = dataclasses.field(default_factory=list)

    @property
    def order(self) -> dict[str, Any]:
        """The values that determine the order of the data."""
        return {name: getattr(self, name) for name in ("samples", "batch_size", "shuffle", "seed")}


@dataclasses.dataclass
class MonitoredValue:
    """The value by which checkpoints are compared."""

    name: str
    mode: typing.Literal["min", "max"]
    value: float


@dataclasses.dataclass
class RandomState:
    """The result of `labdl.ops.random.state.random_state`."""

    backend: str
    own: dict[str, Any]
    portable: dict[str, Any]
    seed: Whole | None
    mode: bool


@dataclasses.dataclass
class OptionalState:
    """State of optional features: averages, loss scales, early stopping, a rate set by the user, names of phases and
    of classes, callbacks, and the global random generators of NumPy and Python."""

    average: dict[str, Any] | None = None
    scaling: dict[str, dict[str, Any]] | None = None
    stopping: dict[str, Any] | None = None
    rate: Amount | None = None
    phases: list[str] | None = None
    class_names: list[str] | None = None
    callbacks: dict[str, Any] | None = None
    generators: dict[str, Any] | None = None


@dataclasses.dataclass
class TrainingDocument:
    """The contents of a checkpoint besides parameters and slots."""

    format: typing.Literal["labdl training"]
    version: Annotated[int, Ge(1)]
    labdl: str | None
    backend: str
    model: str
    loss: str
    optimizer: str
    settings: dict[str, Any]
    schedule: str | None
    memory: dict[str, int | float]
    metrics: dict[str, Any]
    progress: Progress | None
    random: RandomState
    monitored: MonitoredValue | None
    features: OptionalState


# missing in the first files of this version
_LATER: dict[str, Any] = {
    "class_names": None,
    "epochs": None,
    "validations": {},
    "logged": {},
    "callbacks": None,
    "generators": None,
}
_PARTS = {"progress": Progress, "random": RandomState, "monitored": MonitoredValue, "features": OptionalState}


@functools.cache
def _adapter(cls):
    import pydantic  # imported here because it is slow to import

    config = pydantic.ConfigDict(strict=True, extra="forbid")
    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        inner = _PARTS.get(name) if cls is TrainingDocument else None
        if inner is not None:
            hint = _adapter(inner) if hint is inner else _adapter(inner) | None
        fields[name] = (hint, _LATER.get(name, ...))
    return pydantic.create_model(cls.__name__, __config__=config, **fields)


def parse_document(values: Any, name: str) -> TrainingDocument:
    """Validate a document read from a file. Raises FileFormatError with the location of the first error."""
    import pydantic

    version = values.get("version") if isinstance(values, dict) else None
    if type(version) is int and version > VERSION:
        raise FileFormatError(
            f"{name} was written by a newer LabDL (version {version}, this one reads up to {VERSION}): upgrade labdl"
        )
    try:
        model = _adapter(TrainingDocument).model_validate(values)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "document"
        raise FileFormatError(f"{name} is not the state of a training: {place}: {first['msg']}") from None
    values = {field: getattr(model, field) for field in TrainingDocument.__dataclass_fields__}
    for field, cls in _PARTS.items():
        if values[field] is not None:
            values[field] = cls(**values[field].model_dump())
    return TrainingDocument(**values)
