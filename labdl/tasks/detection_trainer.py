"""The trainer of detectors: pictures with any number of objects, and detections for the metrics of a validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl import ops
from labdl.nn.signature import call_as_built
from labdl.tasks.detection_pipeline import canvas_of, detector_form
from labdl.tasks.detection_samples import pad_objects
from labdl.tasks.detections import select_detections
from labdl.train.trainer import Trainer


class DetectionTrainer(Trainer):
    """Trains a detector with pictures and objects (N, objects, 6): x1, y1, x2, y2, class, and 1 for a crowd.

    Batches of a data set are dictionaries, see `labdl.tasks.detection_samples`; a detector of two stages also gets the sizes of
    the pictures, and in training the objects. Crowds are no targets of the loss, and the metrics of a validation ignore what
    is detected in them; there are no metrics of training batches, of which a detector gives no boxes.
    """

    def preprocess(self, batch: Any) -> tuple[Any, Any]:
        if not isinstance(batch, Mapping):
            return super().preprocess(batch)
        objects, masks = pad_objects(batch)
        images = batch["image"]
        # what has as many entries as a picture has objects is a list in a batch
        x = (images, np.stack(batch["size"])) if detector_form(self.model).takes_sizes else images
        return x, objects if masks is None else {"boxes": objects, "masks": masks}

    def forward(self, x: Any) -> Any:
        return call_as_built(self.model, *(x if isinstance(x, tuple) else (x,)))

    def loss(self, output: Any, target: Any) -> Any:
        return self.loss_function(output, target)

    def loss_and_output(self, x: Any, y: Any) -> tuple[Any, Any]:
        boxes = _without_crowds(y["boxes"] if isinstance(y, dict) else y)
        target = {**y, "boxes": boxes} if isinstance(y, dict) else boxes
        inputs = x if isinstance(x, tuple) else (x,)
        output = self.forward((*inputs, boxes) if len(inputs) > 1 else x)
        return self.loss(output, target), output

    def postprocess(self, output: Any) -> Any:
        if self.model.training:
            return None
        form = detector_form(self.model)
        return select_detections(form, output, canvas_of(form))

    def evaluate(
        self, dataset: Any, y: Any = None, *, batch_size: int = 256, averaged: bool = False
    ) -> dict[str, float]:
        # a picture of a detector takes as much memory as a batch of a classifier
        size = min(batch_size, self.settings.batch_size or batch_size)
        return super().evaluate(dataset, y, batch_size=size, averaged=averaged)


def _without_crowds(objects: Any) -> Any:
    """Objects (N, objects, 5), of class -1 where the sixth column says that they are crowds."""
    kinds, crowd = objects[:, :, 4:5], objects[:, :, 5:]
    return ops.concat([objects[:, :, :4], ops.where(ops.greater(crowd, 0.0), -1.0, kinds)], axis=-1)
