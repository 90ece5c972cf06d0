"""A run in short, as a row of a list has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from labdl.runs import fields
from labdl.runs.about import About
from labdl.runs.course import Course

_BYTES = 64 * 1024  # of settings that a list shows


@dataclass(frozen=True)
class Brief:
    """One run of a list. ``path`` is relative to the folder that was looked through, with slashes.

    ``figures`` are the last of each name, ``best`` has ``value`` and ``epoch`` of each, ``higher`` names those that are better
    high, ``spark`` is the course of the loss in at most 32 numbers. ``status`` is that of a `Record`, or unreadable: then
    ``message`` says why.
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


def brief(path: str, folder: Path, course: Course, alive: bool, about: About) -> Brief:
    """What a row shows of a run that was heard to the end of its file."""
    start, summary = course.start, course.summary()
    return Brief(
        path=path, id=folder.name, name=about.name, tags=about.tags, note=about.note,
        status=course.status(alive), alive=alive, time=fields.number(start.get("time")),
        seconds=summary["seconds"], step=summary["step"], epoch=summary["epoch"], epochs=course.epochs,
        model=fields.text(start.get("model")), backend=fields.text(start.get("backend")),
        loss=fields.text(start.get("loss")), optimizer=fields.text(start.get("optimizer")),
        parameters=fields.whole(start.get("parameters")), metrics=tuple(fields.texts(start.get("metrics"))),
        settings=_small(start.get("settings")), params=_small(start.get("params")),
        figures=summary["figures"], best=summary["best"], higher=tuple(summary["higher"]), spark=summary["spark"],
        parent=parent_of(start), group=fields.text(start.get("group")), message=course.message,
    )  # fmt: skip


def parent_of(start: dict[str, Any]) -> dict[str, Any] | None:
    """The run from which one branched: ``id``, ``folder`` (relative) and ``step``."""
    parent = fields.mapping(start.get("parent"))
    identity = fields.text(parent.get("id"))
    if identity is None:
        return None
    return {"id": identity, "folder": fields.text(parent.get("folder")), "step": fields.whole(parent.get("step"))}


def _small(value: Any) -> dict[str, Any]:
    value = fields.mapping(value)
    return value if len(orjson.dumps(value)) <= _BYTES else {}
