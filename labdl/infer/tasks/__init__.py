"""Inference by task: how the models of a task of the zoo read samples and what their outputs become; one entry a task.

A new task is a file here that calls `register_task` with the name that its models have in the zoo.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError, ModelError
from labdl.infer.tasks.detectors import TASKS_OF_DETECTORS, plan_detector
from labdl.infer.tasks.plan import InferencePlan
from labdl.infer.tasks.task import TASKS, Step, Task, register_task
from labdl.models import zoo
from labdl.models.weights import find_weights, list_weights
from labdl.models.weights.weight_set import Preprocessing
from labdl.nn.module import Module

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):  # each registers its tasks
    importlib.import_module(_file.name)

__all__ = ["TASKS", "InferencePlan", "Task", "plan_inference", "register_task"]


def plan_inference(
    model: str | Module,
    weights: Any,
    preprocess: Any,
    *,
    size: tuple[int, int] | None,
    backend: str | None,
    progress: bool,
    settings: Mapping[str, Any],
) -> InferencePlan:
    """Create a model of the zoo with weights, and choose the steps before and after it; see `Inference.of`."""
    if isinstance(model, Module):
        return plan_detector(model, weights, size=size, backend=backend, settings=settings)
    entry, name = zoo.find(model), model
    task = TASKS.get(entry.task)
    if task is None and entry.task not in TASKS_OF_DETECTORS:
        raise ConfigError(
            f"{name} is a model for {entry.task}, for which Inference.of has no steps: create the model and write "
            "Inference(model, preprocess=…, postprocess=…). It has steps for "
            f"{', '.join(sorted((*TASKS, *TASKS_OF_DETECTORS)))}"
        )
    if weights is None:
        if not list_weights(name):
            raise ConfigError(f"{name} has no public weights by name: give weights= a file, or write Inference(model)")
        weights = "DEFAULT"
    given = None if preprocess is None else _steps(name, preprocess)  # before a download
    own = {*entry.schema()["properties"], "num_classes"}
    of_model = {key: value for key, value in settings.items() if key in own}
    rest = {key: value for key, value in settings.items() if key not in own}
    if task is None:
        detector = zoo.create(name, weights=weights, backend=backend, progress=progress, **of_model)
        plan = plan_detector(detector, None, size=size, backend=backend, settings=rest)
        return plan if given is None else replace(plan, preprocess=given)
    if size is not None:
        raise ConfigError(f"size is for detectors; the size of {name} is that of its pre-processing: give preprocess=")
    created = zoo.create(name, weights=weights, backend=backend, progress=progress, **of_model)
    if given is None:
        if created.preprocessing is None:
            raise ModelError(
                f"the pre-processing of these weights of {name} is not known: give preprocess=, such as the name of a set "
                f"that has the same ({', '.join(list_weights(name)[:3]) or 'none here'}), or "
                "labdl.models.weights.PicturePreprocessing(256, 224)"
            )
        given = [created.preprocessing.evaluation()]
    steps = list(task.prepare(given, created))
    return InferencePlan(created, steps, task.postprocess(created, rest), task.batch_size)


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
