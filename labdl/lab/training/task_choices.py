"""Tasks in the Train panel: the loss and the metrics that each begins with."""

from __future__ import annotations

import dataclasses
from typing import Any

from labdl.tasks import TASKS
from labdl.tasks.task import Task
from labdl.train.losses import losses
from labdl.train.metrics import METRICS


def task_choices() -> list[dict[str, Any]]:
    """Each task with its first line and the loss and metrics that it begins with; a loss of None is that of the model."""
    return [
        {
            "name": name,
            "summary": (type(task).__doc__ or "").partition("\n")[0].replace("`", ""),
            "loss": task_loss(task)[0],
            "loss_settings": task_loss(task)[1],
            "metrics": list(task_metrics(task)),
        }
        for name, task in sorted(TASKS.items())
    ]


def task_loss(task: Task) -> tuple[str | None, dict[str, Any]]:
    """Name and settings of the loss of a task; None where it is that of the model."""
    if task.loss is None or isinstance(task.loss, str):
        return task.loss, {}
    names = {cls: name for name, cls in losses().items()}
    return names[type(task.loss)], _settings_of(task.loss)


def task_metrics(task: Task) -> dict[str, dict[str, Any]]:
    """Settings of the metrics of a task by their names."""
    names = {cls: name for name, cls in METRICS.items()}
    return {
        one if isinstance(one, str) else names[type(one)]: {} if isinstance(one, str) else _settings_of(one)
        for one in task.metrics
    }


def _settings_of(part: Any) -> dict[str, Any]:
    """Settings of a loss or metric that are not their defaults."""
    values = {field.name: (getattr(part, field.name), field.default) for field in dataclasses.fields(part)}
    return {name: value for name, (value, usual) in values.items() if value != usual}
