"""Detection of objects: a box and a class for each."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError
from labdl.models import zoo
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks.detection_pipeline import canvas_of, create_pipeline, detector_form, resized_form
from labdl.tasks.detection_samples import pad_picture, read_objects
from labdl.tasks.detection_trainer import DetectionTrainer
from labdl.tasks.task import Task, task
from labdl.train.metrics import MeanAveragePrecision


@task
class ObjectDetection(Task):
    """Detection of objects: `labdl.data.CocoDetection`, `VOCDetection` and `YOLODetection`, or samples of one's own.

    A sample is a dictionary of "image", "boxes" (objects, 4), corners in pixels or `labdl.data.BoundingBoxes`, and "labels"
    (objects), class numbers from 0 on; a picture may have no object. Trained with the loss of the detector's family, half of
    the pictures mirrored; evaluated by COCO's mean average precision. Pictures get the size as the family does: stretched
    (SSD), with gray margins (YOLO), or with zeros to a square of the longest side (Faster R-CNN, RetinaNet). Source: Lin et
    al., 2014 (the metric).
    """

    name = "object detection"
    targets: ClassVar[tuple[str, ...]] = ("boxes", "labels")
    trainer = DetectionTrainer
    metrics = (MeanAveragePrecision(),)
    postprocess: ClassVar[Mapping[str, Any]] = {"name": "detection"}
    loss = None  # that of the detector's family
    masks: ClassVar[bool] = False

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        first = detector_form(zoo.create(name)).first_class
        return zoo.create(name, classes=classes + first, weights=weights, backend=backend)

    def check(self, model: Module, dataset: Dataset) -> None:
        form = detector_form(model)
        if (form.postprocess == "instance_segmentation") != self.masks:
            raise ConfigError(
                f"{self.name} wants a detector {'with' if self.masks else 'without'} masks, received {type(model).__name__}"
            )

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

    def prepare_model(self, model: Module, dataset: Dataset, backend: str | None, seed: int) -> None:
        form = detector_form(model)
        if model.unbuilt:
            sides = (None, None) if form.resize == "shorter" else form.size
            model.build(Spec((None, 3, *sides)), backend=backend, seed=seed)
        if dataset.classes:
            background = ("background",) * form.first_class
            model.class_names = (*background, *map(str, dataset.classes))

    def loss_of(self, model: Module) -> Any:
        form = detector_form(model)
        return form.loss(canvas_of(form))
