"""How far a training is: the plain data with which it goes on after a break."""

from __future__ import annotations

import dataclasses
import functools
import typing
from typing import Annotated, Any

from annotated_types import Ge

from labdl.errors import FileFormatError
from labdl.nn.types import Count, Whole
from labdl.train.settings import Amount

VERSION = 1


@dataclasses.dataclass
class Progress:
    """What the next step must know of those before.

    ``samples``, ``batch_size``, ``shuffle`` and ``seed`` are what the order of the data follows from; ``epoch`` epochs have
    ended, and of the one under way ``batch`` batches with ``seen`` samples are done, whose values add up to ``sums``.
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

    @property
    def order(self) -> dict[str, Any]:
        """What the order of the data follows from."""
        return {name: getattr(self, name) for name in ("samples", "batch_size", "shuffle", "seed")}


@dataclasses.dataclass
class Monitored:
    """The figure by which a checkpoint is better than others."""

    name: str
    mode: typing.Literal["min", "max"]
    value: float


@dataclasses.dataclass
class Randomness:
    """What `labdl.ops.random.random_state` gives."""

    backend: str
    own: dict[str, Any]
    portable: dict[str, Any]
    seed: Whole | None
    mode: bool


@dataclasses.dataclass
class Features:
    """What a trainer does besides, where it does: averages, scales of the loss, early stopping, a rate set by hand, phases."""

    average: dict[str, Any] | None = None
    scaling: dict[str, dict[str, Any]] | None = None
    stopping: dict[str, Any] | None = None
    rate: Amount | None = None
    phases: list[str] | None = None


@dataclasses.dataclass
class Document:
    """What a checkpoint tells besides parameters and slots."""

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
    random: Randomness
    monitored: Monitored | None
    features: Features


_PARTS = {"progress": Progress, "random": Randomness, "monitored": Monitored, "features": Features}


@functools.cache
def _adapter(cls):
    import pydantic  # here, because importing it takes longer than everything else in labdl

    config = pydantic.ConfigDict(strict=True, extra="forbid")
    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        inner = _PARTS.get(name) if cls is Document else None
        if inner is not None:
            hint = _adapter(inner) if hint is inner else _adapter(inner) | None
        fields[name] = (hint, ...)
    return pydantic.create_model(cls.__name__, __config__=config, **fields)


def document(values: Any, name: str) -> Document:
    """The document in plain data. Raises FileFormatError that says what is wrong with it."""
    import pydantic

    version = values.get("version") if isinstance(values, dict) else None
    if type(version) is int and version > VERSION:
        raise FileFormatError(f"{name} was written by a newer LabDL (version {version}, this one reads up to {VERSION}): "
                              "upgrade labdl")  # fmt: skip
    try:
        found = _adapter(Document).model_validate(values)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        raise FileFormatError(f"{name} is no state of a training: {place}: {first['msg']}") from None
    made = {field: getattr(found, field) for field in Document.__dataclass_fields__}
    for field, cls in _PARTS.items():
        if made[field] is not None:
            made[field] = cls(**made[field].model_dump())
    return Document(**made)
