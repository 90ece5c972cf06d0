"""Task: base class of what models of one kind are trained and used with, and the registry of tasks."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from labdl.data.dataset import Dataset
from labdl.data.loader import Loader
from labdl.data.pipeline import Phase, Pipeline
from labdl.data.reading import Errors
from labdl.data.samplers import BucketSampler
from labdl.data.transforms import Normalize
from labdl.errors import ConfigError
from labdl.models import zoo
from labdl.nn.module import Module
from labdl.tasks.padded_texts import text_lengths
from labdl.tasks.samples import read_picture
from labdl.train.options import TrainerOptions
from labdl.train.trainer import Trainer

TASKS: dict[str, Task] = {}


class Task:
    """Transforms, loss, metrics and results of the models of one kind, such as "image classification".

    A subclass with the decorator `task` is found under its ``name`` by `labdl.fine_tune` and `labdl.infer.Inference.of`::

        @labdl.tasks.task
        class Colorization(labdl.tasks.Task):
            name, loss = "colorization", "mse"

            def pipeline(self, size):
                return data.Pipeline([T.Resize(size), T.ToFloat()])
    """

    name: ClassVar[str]  # as models of the zoo name it
    inputs: ClassVar[tuple[str, ...]] = ("image",)  # entries of a sample that the model receives
    targets: ClassVar[tuple[str, ...]] = ()  # entries of a sample that it is trained for; empty where any will do
    loss: ClassVar[Any] = "cross_entropy"
    metrics: ClassVar[Sequence[Any]] = ()
    postprocess: ClassVar[Mapping[str, Any] | None] = {
        "name": "classification",
        "top_k": 5,
    }  # of labdl.infer, with its settings; None where outputs are no results
    keeps_size: ClassVar[bool] = False  # whether a result has the size of its picture
    batch_size: ClassVar[int] = 32  # at inference; 1 where samples may differ in size
    trains_head: ClassVar[bool] = True  # beside adapters, as that of other classes than before
    trainer: ClassVar[type[Trainer]] = Trainer

    def read(self, sample: Any, model: Module) -> Any:
        """A sample as users have it, by default a picture (see `read_picture`), as the part that transforms take."""
        return read_picture(sample)

    def pipeline(self, size: Sequence[int]) -> Pipeline:
        """Transforms of samples to the size (height, width) of the model's input, with those of the training alone."""
        raise NotImplementedError(f"{type(self).__name__} has no pipeline")

    def pipeline_of(self, model: Module, size: int | Sequence[int] | None) -> Pipeline:
        """The `pipeline` of a model: for its usual size if ``size`` is None, and with the colors that it was trained with."""
        return _with_normalization_of(model, self.pipeline(_size_of(model, size)))

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        """The data of the training and of the validation, split and transformed by the pipeline of the model."""
        return pipeline.split_dataset(opened)

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        """Create a model of the zoo for so many classes of a data set."""
        return zoo.create(name, classes=classes, weights=weights, backend=backend)

    def prepare_model(
        self, model: Module, dataset: Dataset, classes: int | None, backend: str | None, seed: int
    ) -> None:
        """Change a model before its trainer is created, after `pipeline_of` has become its ``preprocessing``."""

    def loss_of(self, model: Module) -> Any:
        """The loss of a model whose ``preprocessing`` is that of the training."""
        return self.loss

    def metrics_of(self, model: Module, metrics: Any) -> Any:
        """The metrics of a trainer: those of the task if ``metrics`` is None."""
        return self.metrics if metrics is None else metrics

    def trainer_of(self, model: Module) -> type[Trainer]:
        """The class of the trainer of a model."""
        return self.trainer

    def create_loaders(
        self,
        train: Dataset,
        validation: Dataset,
        errors: Errors,
        seed: int,
        options: TrainerOptions,
        *,
        group_by_length: bool = False,
    ) -> tuple[Any, Any]:
        """The data of a trainer with these options: the data sets, or loaders of their batches.

        ``group_by_length`` makes batches of texts of similar length. Raises ConfigError for samples that are not padded.
        """
        if errors == "raise" and not group_by_length:
            return train, validation
        size = options.get("batch_size", 32)
        order: dict[str, Any] = {
            "shuffle": options.get("shuffle", True),
            "seed": seed,
            "drop_last": options.get("drop_last", False),
        }
        if group_by_length:
            order = {"batch_sampler": BucketSampler(text_lengths(train), size, **order)}
        return Loader(train, size, errors=errors, **order), Loader(validation, size, errors=errors)

    def count_classes(self, dataset: Dataset) -> int:
        """The number of classes of a data set. Raises ConfigError if it does not know them, or has one alone."""
        if not dataset.classes:
            raise ConfigError(f"{dataset!r} does not know its classes: give their number, classes=")
        if len(dataset.classes) == 1 and self.loss == "cross_entropy":
            raise ConfigError(
                f"{dataset!r} has one class alone, {dataset.classes[0]!r:.80}, and nothing to tell it from: add samples "
                "of another class, or give their number, classes="
            )
        return len(dataset.classes)

    def accepts(self, dataset: Dataset) -> bool:
        """Whether samples of a data set have the inputs and the targets of the task."""
        return tuple(dataset.inputs) == self.inputs and set(self.targets) <= set(dataset.targets)

    def check_output(self, model: Module, output: Any, classes: int | None) -> None:
        """Raise ConfigError for the Spec of an output that so many ``classes`` of a data set do not fit; None if unknown."""

    def check(self, model: Module, dataset: Dataset) -> None:
        """Raise ConfigError if the model cannot be trained with samples of this kind, or the data set has others."""
        specs = model._input_specs
        if specs is not None and len(specs) != len(self.inputs):
            raise ConfigError(
                f"{type(model).__name__} has {len(specs)} inputs, {self.name} gives {' and '.join(self.inputs)}: prepare "
                "the samples with transforms of your own and train with labdl.Trainer"
            )
        if tuple(dataset.inputs) != self.inputs:
            kind = ", ".join(dataset.inputs) or "no named inputs"
            raise ConfigError(f"{self.name} wants samples with {' and '.join(self.inputs)}, {dataset!r} has {kind}")


Kind = TypeVar("Kind", bound=Task)


def task(cls: type[Kind]) -> type[Kind]:
    """Register a task under its name. Raises ConfigError for a name that another task has."""
    if cls.name in TASKS and type(TASKS[cls.name]).__module__ != cls.__module__:
        raise ConfigError(f"there is a task {cls.name!r} already, that of {type(TASKS[cls.name]).__module__}")
    TASKS[cls.name] = cls()
    return cls


def join_phases(*, training: Sequence[Any], evaluation: Sequence[Any], always: Sequence[Any]) -> Pipeline:
    """A pipeline that begins with other transforms in training than in evaluation, and ends with the same ones."""
    phases: list[Phase] = [
        *("training" for _ in training),
        *("evaluation" for _ in evaluation),
        *("always" for _ in always),
    ]
    return Pipeline([*training, *evaluation, *always], phases=phases)


def find(name: str) -> Task:
    """Look up a task by name. Raises ConfigError that suggests similar names."""
    if name not in TASKS:
        near = difflib.get_close_matches(str(name)[:80].lower().replace("_", " "), TASKS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(list_tasks())}"
        raise ConfigError(f"labdl.tasks has no task {name!r:.80}: {hint}; labdl.Trainer trains any model")
    return TASKS[name]


def list_tasks() -> list[str]:
    """Sorted names of the tasks."""
    return sorted(TASKS)


def _with_normalization_of(model: Module, pipeline: Pipeline) -> Pipeline:
    """The pipeline, with the normalization of colors that the model or its weights were trained with."""
    normalizations = [one for one in getattr(model.preprocessing, "transforms", ()) if isinstance(one, Normalize)]
    if not normalizations:
        return pipeline
    transforms = [normalizations[-1] if isinstance(one, Normalize) else one for one in pipeline.transforms]
    return Pipeline(transforms, phases=pipeline.phases)


def _size_of(model: Module, size: int | Sequence[int] | None) -> tuple[int, ...]:
    """Height and width of the inputs of a model."""
    if isinstance(size, int):
        return (size, size)
    if size is not None:
        return tuple(size)
    first = (model._input_specs or (None,))[0]
    sides = () if first is None else first.shape[-2:]
    usual = tuple(side for side in sides if side is not None)
    if len(usual) != 2:
        raise ConfigError(f"{type(model).__name__} takes inputs of any size: give size=, such as 224")
    return usual
