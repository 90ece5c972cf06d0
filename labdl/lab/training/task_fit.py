"""Tasks that fit a model and a data set, found before anything is trained."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.loader import Loader
from labdl.data.pipeline import Pipeline
from labdl.errors import LabDLError
from labdl.graph import Graph, GraphModule
from labdl.lab.training import compatibility
from labdl.nn.module import Module
from labdl.saving.detector import read_detector
from labdl.saving.structure import StructureFile
from labdl.tasks import TASKS
from labdl.tasks.task import Task

Opened = Dataset | Mapping[str, Dataset]


@dataclasses.dataclass(frozen=True)
class TaskFit:
    """Names of the tasks that fit a model and a data set, and why there are none, or an empty text."""

    names: tuple[str, ...]
    problem: str = ""


def arrays_problem(name: str) -> str:
    """Why no task fits a data set whose samples are arrays."""
    message = (
        f"No task fits {name}: its samples are arrays that are prepared already. A task prepares the samples of a folder or a "
        "file, such as a folder of pictures."
    )
    return message


def fit_tasks(model: StructureFile, name: str, opened: Opened) -> TaskFit:
    """The tasks that a model can be trained for with a data set; ``name`` is that of the data set in sentences.

    ``model`` is a document, with the graph as it is edited. Nothing is imported of a framework.
    """
    dataset = _training_part(opened)
    matches = [task for _, task in sorted(TASKS.items()) if task.accepts(dataset)]
    if not matches:
        entries = " and ".join([*dataset.inputs, *dataset.targets])
        message = f"No task fits samples of {name} with {entries}: there are {', '.join(sorted(TASKS))}."
        return TaskFit((), message if entries else arrays_problem(name))
    module, outputs = None, compatibility.ends(model.graph).outputs
    names, problems = [], []
    for task in matches:
        try:
            module = module or _module(model)
            task.check(module, dataset)
            if len(outputs) == 1:
                task.check_output(module, outputs[0], None)
            names.append(task.name)
        except LabDLError as error:
            problems.append(_message(error))
    return TaskFit(tuple(names), "" if names else problems[0])


def task_mismatches(model: StructureFile, opened: Opened, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of `compatibility.mismatches` for a training by the task of the ``settings``, and the transforms of the task.

    One sample is prepared as in the training, unless its transforms have to be fitted to the data set first.
    """
    task, dataset = TASKS[settings["task"]], _training_part(opened)
    model_ends = compatibility.ends(model.graph)
    answer = model_ends.shapes() | {"problems": model_ends.problems, "transforms": []}
    if model_ends.problems:
        return answer
    try:
        module = _module(model)
        task.check(module, dataset)
        pipeline = Pipeline(task.pipeline_of(module, settings.get("size")))
        if len(model_ends.outputs) == 1:
            task.check_output(module, model_ends.outputs[0], len(dataset.classes) if dataset.classes else None)
        problems = _sample_mismatches(task, module, model.graph, opened, pipeline, name, settings)
    except LabDLError as error:
        return answer | {"problems": [_message(error)]}
    return answer | {"problems": problems, "transforms": [type(one).__name__ for one in pipeline.transforms]}


def _message(error: LabDLError) -> str:
    """The message of an error, where the model of a document has no class of its own."""
    return str(error).replace(GraphModule.__name__, "the model")


def _sample_mismatches(
    task: Task,
    module: Module,
    graph: Graph,
    opened: Opened,
    pipeline: Pipeline,
    name: str,
    settings: Mapping[str, Any],
) -> list[str]:
    if any(hasattr(one, "fit") for one in pipeline.transforms):
        return []
    classes = _training_part(opened).classes
    validation = task.prepare_datasets(module, opened, pipeline, None)[1]
    if not validation.inputs or not validation.targets:
        return []  # of a detector, whose loss is its own
    batch = next(iter(Loader(validation.as_supervised().select([0]), 1)))
    shapes = [[None, *np.shape(part)[1:]] for part in batch]
    data = {
        "name": name,
        "kind": "classes" if classes else "numbers",
        "classes": len(classes) if classes else None,
        "input_shape": shapes[0],
        "target_shape": shapes[1],
        "target_dtype": str(batch[1].dtype),
    }
    return compatibility.mismatches(graph, data, settings)["problems"]


def _training_part(opened: Opened) -> Dataset:
    return next(iter(opened.values())) if isinstance(opened, Mapping) else opened


def _module(model: StructureFile) -> Module:
    """The model of a document without parameters, with the shapes of its inputs."""
    graph = model.graph
    module = graph.to_module()
    module.__dict__["_input_specs"] = tuple(compatibility.ends(graph).inputs)
    if model.detector is not None:
        module.__dict__["detector_form"] = read_detector(model.detector, graph.name)
    return module
