"""Trainers of a model for a task and a data set."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline, Split
from labdl.data.reading import Errors
from labdl.data.splits import open_data
from labdl.errors import ConfigError
from labdl.models import zoo
from labdl.nn.head import find_head
from labdl.nn.lora import add_lora
from labdl.nn.module import Module
from labdl.tasks import text_models
from labdl.tasks.task import Task, find, list_tasks
from labdl.train.optimizers import Optimizer
from labdl.train.options import TrainerOptions
from labdl.train.schedules import Schedule
from labdl.train.trainer import Trainer

Data = Dataset | Mapping[str, Dataset] | str | Path


def create_trainer(
    model: str | Module,
    dataset: Data,
    *,
    task: str | Mapping[str, Any] | Task | None = None,
    validation: float | Dataset = 0.2,
    size: int | Sequence[int] | None = None,
    classes: int | None = None,
    weights: Any = None,
    loss: Any = None,
    metrics: Any = None,
    optimizer: str | Optimizer | Mapping = "adam",
    schedule: str | Schedule | Mapping | None = None,
    backend: str | None = None,
    compiled: bool | str | None = None,
    seed: int = 0,
    errors: Errors = "raise",
    lora: int | Mapping[str, Any] | None = None,
    group_by_length: bool = False,
    **options: Unpack[TrainerOptions],
) -> Trainer:
    """Create the trainer of a model for a data set, with the transforms, the loss and the metrics of its task.

    ``model`` is the name of a zoo model, which gets a head for the ``classes`` of the data set and the ``weights`` of
    `labdl.models.create`; the folder of a pretrained model of texts, or its name on the Hub such as
    "google-bert/bert-base-uncased", see `labdl.models.from_pretrained`; or a Module, which is trained as it is. Of a Module
    that is not pretrained, the ``task`` is needed, one of `labdl.tasks.list_tasks`, or a dictionary of its name and settings.
    Without it an encoder of texts is trained to classify, a decoder to predict the next token, both together to translate.
    ``lora=8``, or a dictionary of settings of `labdl.nn.add_lora`, trains low-rank adapters of that rank and the head alone.
    ``group_by_length`` makes batches of texts of similar length, so that little is padded; all are read once before. Those of
    sounds always are.
    ``dataset`` is a `labdl.data.Dataset`, the parts of `labdl.data.open_splits`, or the folder or file of one. ``validation``
    is the share of its samples for validation, chosen by ``seed``, and of each class its share, or another data set; a folder
    that has a validation part keeps it. ``size`` (height, width), or one number for both, is that of the model's inputs, by
    default the usual one of the model; of texts it is the number of tokens, by default 128 where the model leaves it open.
    Colors are normalized as the ``preprocessing`` of the model or of its weights says, if it has one. ``errors`` "skip" or
    "replace" trains without samples that cannot be read, and a warning lists them (see `labdl.data.Loader`). The other
    ``options`` are those of `labdl.Trainer`. The transforms for evaluation are the ``preprocessing`` of the model, which
    `labdl.save` keeps for `labdl.infer.Inference`.

    Example: ``labdl.tasks.create_trainer("resnet18", labdl.data.ImageFolder("flowers"), size=64, epochs=5).start()``.
    Raises ConfigError for a model without a task, and for data of another kind.
    """
    plan = _task_of(model, task)
    opened = open_data(dataset) if isinstance(dataset, str | Path) else dataset
    if isinstance(validation, Dataset):
        opened = {"training": _training_part(opened), "validation": validation}
        validation = 0.2
    elif isinstance(validation, bool) or not 0 < validation < 1:
        raise ConfigError(f"validation wants a share between 0 and 1 or a data set, received {validation!r:.60}")
    first = _training_part(opened)
    if isinstance(model, str):
        classes = plan.count_classes(first) if classes is None else classes
        model = plan.create_model(model, classes, weights, backend)
    plan.check(model, first)
    pipeline = Pipeline(plan.pipeline_of(model, size), split=Split(1 - validation, seed))
    model.preprocessing = pipeline.evaluation()
    model.task_name = plan.name
    train, val = plan.prepare_datasets(model, opened, pipeline, classes)
    plan.prepare_model(model, first, classes, backend, seed)
    if lora is not None:
        _add_adapters(model, lora, plan, backend, seed)
    parts = plan.create_loaders(train, val, errors, seed, options, group_by_length=group_by_length)
    options["train_dataset"], options["val_dataset"] = parts
    return plan.trainer_of(model)(
        model,
        plan.loss_of(model) if loss is None else loss,
        optimizer,
        plan.metrics_of(model, metrics),
        backend,
        compiled,
        seed=seed,
        schedule=schedule,
        **options,
    )


def fine_tune(model: str | Module, dataset: Data, **settings: Any) -> Trainer:
    """Train a model on a data set in one line; returns the trainer, with the ``model`` and its ``progress.history``.

    The settings are those of `labdl.tasks.create_trainer`, which creates a trainer without starting it, and of
    `labdl.Trainer`::

        pictures = labdl.data.ImageFolder("flowers")
        trainer = labdl.fine_tune("resnet18", pictures, size=64, epochs=5, backend="torch")
        labdl.save(trainer.model, "flowers")
        labdl.infer.Inference("flowers", postprocess="classification").infer_one(pictures[0]["image"])

    Raises ConfigError for a model without a task, and for data of another kind.
    """
    trainer = create_trainer(model, dataset, **settings)
    trainer.fit()
    return trainer


def _add_adapters(model: Module, lora: int | Mapping[str, Any], plan: Task, backend: str | None, seed: int) -> None:
    """Give a model low-rank adapters, beside which a new head is trained."""
    settings = {"r": lora} if isinstance(lora, int) else dict(lora) if isinstance(lora, Mapping) else None
    names = [name for name in inspect.signature(add_lora).parameters if name not in ("model", "seed")]
    if settings is None or not set(settings) <= set(names):
        raise ConfigError(f"lora wants a rank, or settings of nn.add_lora ({', '.join(names)}), received {lora!r:.80}")
    if model.unbuilt:
        model.build(*model.input_specs, backend=backend, seed=seed)
    head = find_head(model) if plan.trains_head else None
    paths = [path for path, part in model.named_modules() if part is head]
    add_lora(model, **{"modules_to_save": paths, **settings}, seed=seed)


def _task_of(model: str | Module, task: str | Mapping[str, Any] | Task | None) -> Task:
    if isinstance(task, Task):
        return task
    if isinstance(task, Mapping):
        return _task_with_settings(task)
    if task is not None:
        return find(task)
    pretrained = model if text_models.is_pretrained_name(model) else getattr(model, "pretrained", None)
    if pretrained is not None and (name := text_models.task_of_pretrained(pretrained)):
        return find(name)
    if isinstance(model, str):
        return find(zoo.find(model).task)
    raise ConfigError(f"{type(model).__name__} has no task of its own: give task=, one of {', '.join(list_tasks())}")


def _task_with_settings(values: Mapping[str, Any]) -> Task:
    """A task by its name and its settings, as in files: ``{"name": "summarization", "prefix": "summarize: "}``."""
    settings = {str(key): value for key, value in values.items() if key != "name"}
    cls = type(find(values.get("name", "")))
    names = [name for name in inspect.signature(cls).parameters if cls.__init__ is not object.__init__]
    unknown = next((name for name in settings if name not in names), None)
    if unknown is not None:
        raise ConfigError(
            f"the task {cls.name} has the settings {', '.join(names) or '(none)'}, received {unknown!r:.60}"
        )
    return cls(**settings)


def _training_part(opened: Dataset | Mapping[str, Dataset]) -> Dataset:
    if isinstance(opened, Mapping):
        if "training" not in opened:
            raise ConfigError(f"the data set has no training part, only {', '.join(opened)}: name a folder train")
        return opened["training"]
    if not isinstance(opened, Dataset):
        raise ConfigError(
            f"dataset wants a labdl.data.Dataset, such as ImageFolder, or a folder, received {type(opened).__name__}"
        )
    return opened
