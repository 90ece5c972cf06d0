"""Base class of the tasks of detectors, which find objects in pictures."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError
from labdl.models import zoo
from labdl.models.vision.detector_form import count_columns
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks.detection_pipeline import canvas_of, create_pipeline, detector_form, resized_form
from labdl.tasks.detection_samples import pad_picture, read_objects
from labdl.tasks.detection_trainer import DetectionTrainer
from labdl.tasks.task import Task


class DetectorTask(Task):
    """Training of detectors: pictures with boxes, and with masks where ``masks`` is True, to COCO's mean average precision."""

    trainer = DetectionTrainer
    targets = ("boxes", "labels")
    loss = None  # that of the detector's family
    masks: ClassVar[bool] = False

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        first = detector_form(zoo.create(name)).first_class
        return zoo.create(name, classes=classes + first, weights=weights, backend=backend)

    def check(self, model: Module, dataset: Dataset) -> None:
        form = detector_form(model)
        has_masks = form.postprocess == "instance_segmentation"
        if self.masks and not has_masks:
            raise ConfigError(f"{self.name} wants a detector with masks, received {type(model).__name__}")
        if has_masks and not self.masks:
            raise ConfigError(f"{self.name} wants a detector without masks, received {type(model).__name__}")

    def pipeline_of(self, model: Module, size: int | Sequence[int] | None) -> Pipeline:
        return create_pipeline(resized_form(detector_form(model), size))

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        form = detector_form(model)
        first = opened["training"] if isinstance(opened, Mapping) else opened
        classes = self.count_classes(first) if classes is None else classes
        read = functools.partial(read_objects, classes=classes, masks=self.masks)
        pad = functools.partial(pad_picture, canvas=canvas_of(form), first_class=form.first_class)
        parts = opened if isinstance(opened, Mapping) else {"": opened}
        parts = {name: part.map(read) for name, part in parts.items()}
        split = pipeline.split_dataset(parts if isinstance(opened, Mapping) else parts[""])
        train, validation = (part.map(pad) for part in split)
        for part in (train, validation):
            part.inputs = part.targets = ()  # `DetectionTrainer.preprocess` takes the dictionaries
        return train, validation

    def prepare_model(
        self, model: Module, dataset: Dataset, classes: int | None, backend: str | None, seed: int
    ) -> None:
        form = detector_form(model)
        if model.unbuilt:
            sides = (None, None) if form.resize == "shorter" else form.size
            sizes = [Spec((None, 2))] if form.takes_sizes else []  # an input of the saved graph too
            model.build(Spec((None, 3, *sides)), *sizes, backend=backend, seed=seed)
            head = getattr(model, "head", None)
            if hasattr(head, "initial_biases"):
                values = {f"head/{name}": value for name, value in head.initial_biases().items()}
                model.load_state_dict(values, strict=False)
        count = self.count_classes(dataset) if classes is None else classes
        columns = count_columns(form, model.output_specs) - form.first_class
        if columns != count:
            raise ConfigError(
                f"{type(model).__name__} tells {columns} classes of objects apart, the data set has {count}: create the "
                f"model with classes={count + form.first_class}"
            )
        if dataset.classes and len(dataset.classes) == count:
            background = ("background",) * form.first_class
            model.class_names = (*background, *map(str, dataset.classes))

    def loss_of(self, model: Module) -> Any:
        form = detector_form(model)
        return form.loss(canvas_of(form))
