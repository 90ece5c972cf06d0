"""The loss of YOLOv6: cells are chosen by what they predict, and their classes are weighed by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from labdl import ops, settings
from labdl.errors import ModelError
from labdl.models.vision.detection_losses.objects import paired_iou, read_objects
from labdl.models.vision.detection_losses.task_alignment import assign_cells, cells_of_image
from labdl.nn.types import Positive

_TINY = 1e-7


@dataclass(frozen=True)
class YOLOv6Loss:
    """The loss of YOLOv6 n and s: task-aligned assignment, varifocal loss of the classes, and SIoU or GIoU of the boxes.

    Cells are assigned as by `TaskAlignedLoss`, from the first epoch on, by their IoU; the published training begins with four
    epochs of another assignment. ``image_size`` (height, width) is that of the images in training, ``box_loss`` "siou" or
    "giou", ``box`` and ``classes`` weigh the parts::

        trainer = Trainer(labdl.models.create("yolov6n", classes=3), loss=YOLOv6Loss(image_size=(640, 640)))

    Sources: Li et al., 2023 (https://arxiv.org/abs/2301.05586); Zhang et al., 2021 (varifocal loss); Gevorgyan, 2022 (SIoU).
    Raises ModelError for outputs that are not those of images of this size.
    """

    image_size: tuple[Annotated[int, Ge(32)], Annotated[int, Ge(32)]] = (640, 640)
    candidates: Annotated[int, Ge(1)] = 13
    alpha: Positive = 1.0
    beta: Positive = 6.0
    box_loss: Literal["siou", "giou"] = "siou"
    box: Annotated[float, Ge(0)] = 2.5
    classes: Annotated[float, Ge(0)] = 1.0

    def __post_init__(self):
        settings.check(self)

    def __call__(self, output, target):
        if not isinstance(output, list | tuple) or len(output) < 2:
            raise ModelError("YOLOv6Loss wants the distances and the logits of classes that YOLOv6 gives in training")
        distances, logits = (ops.permute_dims(part, (0, 2, 1)) for part in output[:2])
        grid = cells_of_image("YOLOv6Loss", self.image_size, logits.shape[1])
        centers, strides = (ops.tensor_like(logits, part, "float32") for part in grid)
        boxes = ops.concat([centers - distances[:, :, :2], centers + distances[:, :, 2:]], axis=-1)
        assignment = assign_cells(
            ops.stop_gradient(ops.sigmoid(logits)),
            ops.stop_gradient(boxes * strides),
            centers * strides,
            read_objects("YOLOv6Loss", target),
            overlap=ops.box_iou,
            candidates=self.candidates,
            alpha=self.alpha,
            beta=self.beta,
        )
        weight = ops.sum(assignment.scores, axis=-1)
        total = ops.maximum(ops.sum(weight), 1.0)
        of_classes = ops.sum(varifocal_loss(logits, assignment.scores)) / total
        positive = ops.expand_dims(assignment.positive, -1)
        unit = ops.tensor_like(logits, np.array([0, 0, 1, 1]), "float32")
        # boxes of other cells, which may have no area, are replaced before a quotient has no value
        of_boxes = siou_loss if self.box_loss == "siou" else _giou_loss
        part = of_boxes(ops.where(positive, boxes, unit), ops.where(positive, assignment.boxes / strides, unit))
        return self.classes * of_classes + self.box * ops.sum(part * weight) / total


def varifocal_loss(logits, target, *, alpha: float = 0.75, gamma: float = 2.0):
    """Cross entropy (...) of logits and target probabilities: weighed by these, where they are 0 by alpha * p ** gamma."""
    share = ops.where(ops.greater(target, 0.0), target, alpha * ops.pow(ops.sigmoid(logits), gamma))
    return ops.binary_cross_entropy(logits, target, reduction="none") * share


def _giou_loss(boxes, targets):
    return ops.generalized_box_iou_loss(boxes, targets, reduction="none")


def siou_loss(boxes, targets):
    """1 - IoU + (distance + shape) / 2 (...) of boxes (..., 4) as corners: distances count by their angle (Gevorgyan, 2022).

    With the angle a of the line between both centers, the distance is the sum over both axes of 1 - exp(-(2 - sin 2a) r), where
    r is the square of the gap by the side of the hull; the shape is that of (1 - exp(-change)) ** 4, where the change of a
    side is its difference by the larger one.
    """
    sides, target_sides = boxes[..., 2:] - boxes[..., :2], targets[..., 2:] - targets[..., :2]
    hull = ops.maximum(boxes[..., 2:], targets[..., 2:]) - ops.minimum(boxes[..., :2], targets[..., :2])
    gap = (boxes[..., :2] + boxes[..., 2:] - targets[..., :2] - targets[..., 2:]) * 0.5
    squares = ops.square(gap)
    sine = 2.0 * ops.abs(gap[..., 0] * gap[..., 1]) / (squares[..., 0] + squares[..., 1] + _TINY)
    ratio = squares / (ops.square(hull) + _TINY)
    distance = ops.sum(1.0 - ops.exp(-ops.expand_dims(2.0 - sine, -1) * ratio), axis=-1)
    change = ops.abs(sides - target_sides) / (ops.maximum(sides, target_sides) + _TINY)
    shape = ops.sum(ops.square(ops.square(1.0 - ops.exp(-change))), axis=-1)
    return 1.0 - paired_iou(boxes, targets) + 0.5 * (distance + shape)
