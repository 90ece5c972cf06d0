"""Summary of a run for lists of runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from labdl.runs.metadata import About
from labdl.runs.reading.status import RunStatus
from labdl.runs.schema import StartEvent

_BYTES = 64 * 1024  # of the settings in a row


@dataclass(frozen=True)
class Brief:
    """One run of a list. ``path`` is relative to the folder of the list, with slashes.

    ``figures`` has the last value of each metric, ``best`` its best ``value`` and the ``epoch`` of that, ``higher`` the names
    of metrics whose higher values are better, and ``spark`` the loss over the run in at most 32 numbers. ``status`` is that of
    a `Record`, or unreadable, with the reason in ``message``.
    """

    path: str
    id: str
    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    status: str = "waiting"
    alive: bool = False
    time: float | None = None
    seconds: float = 0.0
    step: int = 0
    epoch: int = 0
    epochs: int | None = None
    model: str | None = None
    backend: str | None = None
    loss: str | None = None
    optimizer: str | None = None
    parameters: int | None = None
    metrics: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, float | None] = field(default_factory=dict)
    best: dict[str, dict[str, Any]] = field(default_factory=dict)
    higher: tuple[str, ...] = ()
    spark: list[float | None] = field(default_factory=list)
    parent: dict[str, Any] | None = None
    group: str | None = None
    message: str | None = None


def brief(path: str, folder: Path, status: RunStatus, alive: bool, about: About) -> Brief:
    """The row of a run whose events were all read."""
    start, summary = status.start, status.summary()
    known: dict[str, Any] = {}
    if start is not None:
        known = {
            "time": start.time,
            "model": start.model,
            "backend": start.backend,
            "loss": start.loss,
            "optimizer": start.optimizer,
            "parameters": start.parameters,
            "metrics": tuple(start.metrics),
            "settings": _limit(start.settings),
            "params": _limit(start.params or {}),
            "parent": parent_of(start),
            "group": start.group,
        }
    return Brief(
        path=path,
        id=folder.name,
        name=about.name,
        tags=about.tags,
        note=about.note,
        status=status.status(alive),
        alive=alive,
        seconds=summary["seconds"],
        step=summary["step"],
        epoch=summary["epoch"],
        epochs=status.epochs,
        figures=summary["figures"],
        best=summary["best"],
        higher=tuple(summary["higher"]),
        spark=summary["spark"],
        message=status.message,
        **known,
    )


def parent_of(start: StartEvent) -> dict[str, Any] | None:
    """The run from which one branched: ``id``, ``folder`` (relative) and ``step``."""
    return None if start.parent is None else start.parent.model_dump()


def _limit(value: dict[str, Any]) -> dict[str, Any]:
    return value if len(orjson.dumps(value)) <= _BYTES else {}
