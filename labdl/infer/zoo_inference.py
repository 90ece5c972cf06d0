"""The steps before and after a model of the zoo, by its weights and its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from labdl import tasks
from labdl.errors import ConfigError, ModelError
from labdl.infer.detectors import TASKS_OF_DETECTORS, plan_detector
from labdl.infer.inference_plan import InferencePlan
from labdl.infer.postprocess.base import get_postprocessor
from labdl.infer.predict import as_model
from labdl.infer.prepared_sample import PreparedSample
from labdl.infer.pretrained import is_pretrained_source, plan_folder, plan_pretrained, plan_trained
from labdl.infer.recognizers import plan_recognizer
from labdl.infer.steps import list_steps
from labdl.models import zoo
from labdl.models.sound.recognizers import is_recognizer
from labdl.models.weights import find_weights, list_weights
from labdl.models.weights.weight_set import Preprocessing
from labdl.nn.module import Module
from labdl.saving import load
from labdl.tasks import Task

Step = Callable[[Any], Any]
TASKS_OF_TEXTS = (
    *("text classification", "text similarity", "token classification", "question answering", "masked words"),
    *("text generation", "text to text", "translation", "summarization"),
)
# of the zoo, whose models need a tokenizer
_TASKS_OF_FOLDERS = ("text generation", "text encoding", "text to text", "translation", "character recognition")


def plan_inference(
    model: str | Path | Module,
    weights: Any,
    preprocess: Any,
    *,
    size: tuple[int, int] | None,
    backend: str | None,
    progress: bool,
    settings: Mapping[str, Any],
) -> InferencePlan:
    """Create a model of the zoo with weights, and choose the steps before and after it; see `Inference.of`."""
    if isinstance(model, str | Path) and str(model) not in zoo.ZOO:
        name = str(model)
        if name.endswith(".labdl") or Path(f"{name}.labdl").is_file():
            model = load(model, backend=backend)
    pretrained = isinstance(model, Module) and "pretrained" in model.__dict__
    if pretrained or is_pretrained_source(model):
        for argument, value in (("weights", weights), ("size", size), ("preprocess", preprocess)):
            if value is not None:
                raise ConfigError(f"{argument} is for models of the zoo; a model of the Hub has its own in its folder")
        if isinstance(model, Module):
            return plan_pretrained(as_model(model, backend), settings)
        return plan_folder(model, backend=backend, settings=settings)
    if isinstance(model, Module) and model.task_name in TASKS_OF_TEXTS and weights is None and preprocess is None:
        return plan_trained(as_model(model, backend), settings)
    if is_recognizer(model) and weights is None and size is None:
        return plan_recognizer(as_model(model, backend), preprocess, settings)
    if isinstance(model, Module):
        return plan_detector(model, weights, size=size, backend=backend, settings=settings)
    name = str(model)
    entry = zoo.find(name)
    if entry.task in _TASKS_OF_FOLDERS and weights is None:
        raise ConfigError(
            f"{name} is a model for {entry.task}, whose weights and tokenizer are files of one folder: give its name on the "
            "Hub (owner/name) or the path of the folder"
        )
    task = tasks.TASKS.get(entry.task)
    task = None if task is None or task.postprocess is None else task
    is_detector = entry.task in TASKS_OF_DETECTORS
    if task is None and not is_detector:
        raise ConfigError(
            f"{name} is a model for {entry.task}, for which Inference.of has no steps: create the model and write "
            "Inference(model, preprocess=…, postprocess=…). It has steps for "
            f"{', '.join(sorted({*_tasks_with_results(), *TASKS_OF_DETECTORS}))}"
        )
    if weights is None:
        if not list_weights(name):
            raise ConfigError(f"{name} has no public weights by name: give weights= a file, or write Inference(model)")
        weights = "DEFAULT"
    steps = None if preprocess is None else _steps_before(name, preprocess)  # before a download
    own = {*entry.schema()["properties"], "num_classes"}
    of_model = {key: value for key, value in settings.items() if key in own}
    rest = {key: value for key, value in settings.items() if key not in own}
    if task is None or is_detector:
        detector = zoo.create(name, weights=weights, backend=backend, progress=progress, **of_model)
        plan = plan_detector(detector, None, size=size, backend=backend, settings=rest)
        return plan if steps is None else replace(plan, preprocess=steps)
    if size is not None:
        raise ConfigError(f"size is for detectors; the size of {name} is that of its pre-processing: give preprocess=")
    created = zoo.create(name, weights=weights, backend=backend, progress=progress, **of_model)
    if steps is None:
        if created.preprocessing is None:
            raise ModelError(
                f"the pre-processing of these weights of {name} is not known: give preprocess=, such as the name of a set "
                f"that has the same ({', '.join(list_weights(name)[:3]) or 'none here'}), or "
                "labdl.models.weights.PicturePreprocessing(256, 224)"
            )
        steps = [created.preprocessing.evaluation()]
    names = {} if created.class_names is None else {"names": tuple(created.class_names)}
    after = [_main_output, get_postprocessor({**(task.postprocess or {}), **names, **rest})]
    return InferencePlan(created, [_prepare(task, created, steps)], after, task.batch_size)


def _tasks_with_results() -> list[str]:
    return [name for name, task in tasks.TASKS.items() if task.postprocess is not None]


def _prepare(task: Task, model: Module, steps: Sequence[Step]) -> Step:
    """A function from a sample as users have it to the input of the model, with its size where the result has that."""

    def prepare(sample: Any) -> Any:
        part = task.read(sample, model)
        prepared = part
        for step in steps:
            prepared = step(prepared)
        return PreparedSample(prepared, {"original_size": tuple(part.shape[:2])}) if task.keeps_size else prepared

    return prepare


def _main_output(output: Any) -> Any:
    """The output of the main head, where a model has an auxiliary one too."""
    return output[0] if isinstance(output, tuple) else output


def _steps_before(name: str, preprocess: Any) -> list[Step]:
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
    return list_steps(preprocess)
