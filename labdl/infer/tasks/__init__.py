"""Inference by task: how the models of a task of the zoo read samples and what their outputs become; one entry a task.

A new task is a file here that calls `register_task` with the name that its models have in the zoo.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError, ModelError
from labdl.infer.tasks.task import TASKS, Step, Task, register_task
from labdl.models import zoo
from labdl.models.weights import find_weights, list_weights
from labdl.models.weights.weight_set import Preprocessing
from labdl.nn.module import Module

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):  # each registers its tasks
    importlib.import_module(_file.name)

__all__ = ["TASKS", "InferencePlan", "Task", "plan_inference", "register_task"]


@dataclass(frozen=True)
class InferencePlan:
    """The arguments of an `Inference` with a model of the zoo."""

    model: Module
    preprocess: list[Step]
    postprocess: Any
    batch_size: int


def plan_inference(
    name: str,
    weights: Any,
    preprocess: Any,
    *,
    backend: str | None,
    progress: bool,
    settings: Mapping[str, Any],
) -> InferencePlan:
    """Create a model of the zoo with weights, and choose the steps before and after it; see `Inference.of`."""
    entry = zoo.find(name)
    task = TASKS.get(entry.task)
    if task is None:
        raise ConfigError(
            f"{name} is a model for {entry.task}, for which Inference.of has no steps: create the model and write "
            f"Inference(model, preprocess=…, postprocess=…). It has steps for {', '.join(sorted(TASKS))}"
        )
    if weights is None:
        if not list_weights(name):
            raise ConfigError(f"{name} has no public weights by name: give weights= a file, or write Inference(model)")
        weights = "DEFAULT"
    given = None if preprocess is None else _steps(name, preprocess)  # before a download
    model = zoo.create(name, weights=weights, backend=backend, progress=progress, **settings)
    if given is None:
        if model.preprocessing is None:
            raise ModelError(
                f"the pre-processing of these weights of {name} is not known: give preprocess=, such as the name of a set "
                f"that has the same ({', '.join(list_weights(name)[:3]) or 'none here'}), or "
                "labdl.models.weights.PicturePreprocessing(256, 224)"
            )
        given = [model.preprocessing.evaluation()]
    return InferencePlan(model, list(task.prepare(given, model)), task.postprocess(model), task.batch_size)


def _steps(name: str, preprocess: Any) -> list[Step]:
    """The steps of a set that is named, of a description, or as given."""
    if isinstance(preprocess, str):
        entry = find_weights(name, preprocess)
        if entry is None:
            raise ConfigError(
                f"preprocess wants the name of a set, {', '.join(list_weights(name))}, received {preprocess!r}"
            )
        return [entry.preprocessing.pipeline()]
    if not callable(preprocess) and hasattr(preprocess, "pipeline"):
        description: Preprocessing = preprocess
        return [description.pipeline()]
    if isinstance(preprocess, Pipeline):
        preprocess = preprocess.evaluation()
    listed = list(preprocess) if isinstance(preprocess, list | tuple) else [preprocess]
    for step in listed:
        if not callable(step):
            raise ConfigError(f"preprocess wants functions, or the name of a set, received {step!r:.80}")
    return listed
