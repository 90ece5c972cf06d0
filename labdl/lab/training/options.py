"""Options of the Train panel: data sets, backends, losses, metrics, optimizers and schedules, each with its form."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Literal

from labdl import framework_info
from labdl.data import SOURCES
from labdl.lab.training.defaults import BATCH_SIZE, EPOCHS, LEARNING_RATE, SEED
from labdl.lab.training.task_choices import task_choices
from labdl.nn.module import Module
from labdl.nn.schema import Task, layer_schema
from labdl.settings import form_fields, settings_schema
from labdl.train import EarlyStopping, Schedule
from labdl.train.config import TrainerSettings
from labdl.train.losses import losses
from labdl.train.metrics import METRICS
from labdl.train.optimizers import OPTIMIZERS, NamedOptimizer
from labdl.train.schedules import SCHEDULES

Kind = Literal["classes", "numbers"]  # kind of targets of a data set

FIRST: dict[Kind, tuple[str, tuple[str, ...]]] = {  # defaults for such data sets
    "classes": ("cross_entropy", ("accuracy",)),
    "numbers": ("mean_squared_error", ("mean_absolute_error",)),
}
OPTIONS = (  # settings of a trainer in the form
    "clip_norm",
    "accumulate",
    "precision",
    "max_steps",
    "val_check_interval",
    "limit_train_batches",
    "limit_val_batches",
    "drop_last",
    "fast_dev_run",
)
_KINDS: dict[Task | None, Kind] = {"classification": "classes", "regression": "numbers"}


def kind_of(classes: int | None) -> Kind:
    """Kind of targets of a data set with this number of classes."""
    return "numbers" if classes is None else "classes"


def size_of(shape: Sequence[int | None]) -> str:
    """Describe the size of one sample; the first axis counts samples."""
    sizes = ["?" if size is None else str(size) for size in shape[1:]]
    return " × ".join(sizes) if len(sizes) > 1 else f"{sizes[0]} numbers" if sizes and sizes[0] != "1" else "one number"


def choices() -> dict[str, Any]:
    """All choices of the form, found without importing a framework."""
    backends = [
        {"name": n, "version": framework_info.metadata_version(n), "problem": framework_info.problem(n)}
        for n in framework_info.PREFERENCE
        if n != "numpy"
    ]
    dataset = next(iter(SOURCES))
    loss, metrics = FIRST[kind_of(SOURCES[dataset].classes)]
    defaults = {
        "backend": next((b["name"] for b in backends if b["problem"] is None), None),
        "dataset": dataset,
        "loss": loss,
        "metrics": list(metrics),
        "optimizer": "adam",
        "learning_rate": LEARNING_RATE,
        "epochs": EPOCHS,
        "batch_size": BATCH_SIZE,
        "seed": SEED,
        "parameters": "new",
    }
    return {**_static_choices(), "backends": backends, "defaults": defaults}


@functools.cache
def _static_choices() -> dict[str, Any]:
    """Options that do not change while the server runs."""
    return {
        "datasets": [
            {
                "name": name,
                "summary": s.summary,
                "kind": kind_of(s.classes),
                "classes": s.classes,
                "input_shape": list(s.input_shape),
                "samples": s.samples,
            }
            for name, s in SOURCES.items()
        ],
        "losses": [_loss(name, cls) for name, cls in losses().items() if cls.__module__.startswith("labdl.nn.")],
        "metrics": [
            {
                "name": name,
                "summary": _summary(cls),
                "kind": _KINDS.get(cls.task),
                "higher_is_better": cls.higher_is_better,
            }
            for name, cls in METRICS.items()
            if cls().scalar and cls.__module__.startswith("labdl.train.")
        ],
        "optimizers": [_optimizer(name, named) for name, named in OPTIMIZERS.items()],
        "schedules": [_describe(name, cls.schema()) for name, cls in schedules().items()],
        "stopping": settings_schema(EarlyStopping)["schema"],
        "options": _part(settings_schema(TrainerSettings)["schema"], OPTIONS),
        "tasks": task_choices(),
        "first": {kind: {"loss": loss, "metrics": list(metrics)} for kind, (loss, metrics) in FIRST.items()},
    }


def schedules() -> dict[str, type[Schedule]]:
    """Schedules for the form, by name; without those that take functions or other schedules."""
    found = {cls.kind: cls for cls in SCHEDULES.values()}
    return {
        name: cls
        for name, cls in found.items()
        if not any(
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            for field in dataclasses.fields(cls)
            if field.name not in form_fields(cls)
        )
    }


def _loss(name: str, cls: type[Module]) -> dict[str, Any]:
    described = layer_schema(cls)
    kind = _KINDS.get(cls.layer_task)  # type: ignore[attr-defined]
    settings = [key for key in described["schema"]["properties"] if key != "reduction"]  # training needs a scalar
    return {**_describe(name, described), "kind": kind, "schema": _part(described["schema"], settings)}


def _optimizer(name: str, named: NamedOptimizer) -> dict[str, Any]:
    described = _describe(name, named.cls.schema())
    properties = {
        key: {**field, **({"default": dict(named.extra)[key]} if key in dict(named.extra) else {})}
        for key, field in described["schema"]["properties"].items()
        if key != "learning_rate"
    }
    return {**described, "schema": {"type": "object", "properties": properties, "required": []}}


def _describe(name: str, found: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "summary": found["summary"].replace("``", ""), "schema": found["schema"]}


def _summary(cls: type) -> str:
    return (cls.__doc__ or "").partition("\n")[0].replace("``", "")


def _part(schema: dict[str, Any], keys) -> dict[str, Any]:
    return {"type": "object", "properties": {key: schema["properties"][key] for key in keys}, "required": []}
