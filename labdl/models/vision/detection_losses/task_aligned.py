"""The loss of detectors without anchors that predict distributions of distances: cells are chosen by what they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl import ops, settings
from labdl.errors import ModelError
from labdl.models.vision.detection_losses.objects import read_objects
from labdl.models.vision.detection_losses.task_alignment import assign_cells, cells_of_image
from labdl.nn.types import Positive


@dataclass(frozen=True)
class TaskAlignedLoss:
    """The loss of YOLOv8 and of YOLOv5 without anchors: task-aligned assignment, complete IoU, and distribution focal loss.

    Each object takes the ``candidates`` cells inside of it with the largest probability ** ``alpha`` * IoU ** ``beta``; a cell
    of several objects goes to the one that its box overlaps most. The target probability of its class is that measure, scaled
    so that the best cell of an object has its IoU. ``image_size`` (height, width) is that of the images in training::

        trainer = Trainer(labdl.models.create("yolov8n", classes=3), loss=TaskAlignedLoss(image_size=(640, 640)))

    ``box``, ``classes`` and ``distances`` weigh the parts, whose sum is multiplied by the number of images, as published.
    Sources: Feng et al., 2021 (assignment), Li et al., 2020 (distances), Zheng et al., 2020 (IoU). Raises ModelError for
    outputs that are not those of images of this size.
    """

    image_size: tuple[Annotated[int, Ge(32)], Annotated[int, Ge(32)]] = (640, 640)
    candidates: Annotated[int, Ge(1)] = 10
    alpha: Positive = 0.5
    beta: Positive = 6.0
    box: Annotated[float, Ge(0)] = 7.5
    classes: Annotated[float, Ge(0)] = 0.5
    distances: Annotated[float, Ge(0)] = 1.5

    def __post_init__(self):
        settings.check(self)

    def __call__(self, output, target):
        if not isinstance(output, list | tuple) or len(output) < 2:
            raise ModelError(
                "TaskAlignedLoss wants the logits of distances and of classes that YOLOv8 gives in training"
            )
        sides, logits = (ops.permute_dims(part, (0, 2, 1)) for part in output[:2])
        centers, strides = (
            ops.tensor_like(logits, part, "float32")
            for part in cells_of_image("TaskAlignedLoss", self.image_size, logits.shape[1])
        )
        bins = sides.shape[2] // 4
        sides = ops.reshape_with([sides], ((0, 0), (0, 1), 4, bins))
        numbers = ops.tensor_like(logits, np.arange(bins), "float32")
        expected = ops.sum(ops.softmax(sides, axis=-1) * numbers, axis=-1)
        boxes = ops.concat([centers - expected[:, :, :2], centers + expected[:, :, 2:]], axis=-1)
        objects = read_objects("TaskAlignedLoss", target)
        assignment = assign_cells(
            ops.stop_gradient(ops.sigmoid(logits)),
            ops.stop_gradient(boxes * strides),
            centers * strides,
            objects,
            overlap=ops.complete_box_iou,
            candidates=self.candidates,
            alpha=self.alpha,
            beta=self.beta,
        )
        weight = ops.sum(assignment.scores, axis=-1)
        total = ops.maximum(ops.sum(weight), 1.0)
        of_classes = ops.sum(ops.binary_cross_entropy(logits, assignment.scores, reduction="none")) / total
        unit = ops.tensor_like(logits, np.array([0, 0, 1, 1]), "float32")
        targets = ops.where(ops.expand_dims(assignment.positive, -1), assignment.boxes / strides, unit)
        of_boxes = ops.complete_box_iou_loss(boxes, targets, reduction="none")
        of_distances = self._distribution_loss(sides, centers, targets, numbers)
        part = ops.where(assignment.positive, self.box * of_boxes + self.distances * of_distances, 0.0)
        images = ops.sum(ops.ones_like(logits[:, 0, 0]))
        return (ops.sum(part * weight) / total + self.classes * of_classes) * images

    @staticmethod
    def _distribution_loss(sides, centers, target_boxes, numbers):
        """Cross entropy (N, A) of the two bins around each target distance, weighed by their nearness; mean of the sides."""
        distance = ops.concat([centers - target_boxes[:, :, :2], target_boxes[:, :, 2:] - centers], axis=-1)
        distance = ops.clip(distance, 0.0, numbers.shape[0] - 1 - 0.01)
        # the weights of both bins are those of linear interpolation
        weights = ops.relu(1.0 - ops.abs(ops.expand_dims(distance, -1) - numbers))
        return -ops.mean(ops.sum(weights * ops.log_softmax(sides, axis=-1), axis=-1), axis=-1)
