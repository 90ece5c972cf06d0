"""The loss of detectors without anchors that predict distributions of distances: cells are chosen by what they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge

from labdl import ops, settings
from labdl.errors import ModelError
from labdl.models.vision.cells import STRIDES
from labdl.models.vision.detection_losses.objects import Objects, choose, read_objects
from labdl.nn.types import Positive
from labdl.spec import show

_TINY = 1e-9


class Assignment(NamedTuple):
    """Of each cell: whether it has an object (N, A), its box (N, A, 4), and the wanted probabilities (N, A, classes)."""

    positive: Any
    boxes: Any
    scores: Any


@dataclass(frozen=True)
class TaskAlignedLoss:
    """The loss of YOLOv8 and of YOLOv5 without anchors: task-aligned assignment, complete IoU, and distribution focal loss.

    Each object takes the ``candidates`` cells inside of it with the largest probability ** ``alpha`` * IoU ** ``beta``; a cell
    of several objects goes to the one that its box overlaps most. The wanted probability of its class is that measure, scaled
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
        centers, strides = (ops.tensor_like(logits, part, "float32") for part in self._cells(logits.shape[1]))
        bins = sides.shape[2] // 4
        sides = ops.reshape_with([sides], ((0, 0), (0, 1), 4, bins))
        numbers = ops.tensor_like(logits, np.arange(bins), "float32")
        expected = ops.sum(ops.softmax(sides, axis=-1) * numbers, axis=-1)
        boxes = ops.concat([centers - expected[:, :, :2], centers + expected[:, :, 2:]], axis=-1)
        objects = read_objects("TaskAlignedLoss", target)
        assignment = self._assign(
            ops.stop_gradient(ops.sigmoid(logits)), ops.stop_gradient(boxes * strides), centers * strides, objects
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

    def _cells(self, count: int):
        """Centers (1, A, 2) in cells and strides (1, A, 1) in pixels."""
        centers, strides = [], []
        for stride in STRIDES:
            rows, columns = (n // stride for n in self.image_size)
            y, x = np.meshgrid(np.arange(rows) + 0.5, np.arange(columns) + 0.5, indexing="ij")
            centers.append(np.stack([x.ravel(), y.ravel()], axis=-1))
            strides.append(np.full((rows * columns, 1), stride))
        whole = np.concatenate(centers).astype("float32")[None]
        if count != whole.shape[1]:
            raise ModelError(
                f"TaskAlignedLoss is for images of {show(self.image_size)}, which have {whole.shape[1]} cells, received "
                f"outputs of {count} cells: give it the image_size of the images"
            )
        return whole, np.concatenate(strides).astype("float32")[None]

    def _assign(self, probabilities, boxes, centers, objects: Objects) -> Assignment:
        """The cells (N, A) of objects, by probabilities (N, A, classes), boxes (N, A, 4) and centers (1, A, 2) in pixels."""
        first, last = (ops.expand_dims(part, 2) for part in (objects.boxes[:, :, :2], objects.boxes[:, :, 2:]))
        middle = centers[:, None]
        reach = ops.min(ops.concat([middle - first, last - middle], axis=-1), axis=-1)  # (N, G, A)
        inside = ops.logical_and(ops.greater(reach, _TINY), ops.expand_dims(objects.valid, -1))
        overlap = ops.maximum(ops.complete_box_iou(objects.boxes, boxes), 0.0)
        overlap = ops.where(inside, overlap, 0.0)
        kinds = ops.one_hot(objects.classes, probabilities.shape[-1])
        scores = ops.where(inside, ops.matmul(kinds, ops.permute_dims(probabilities, (0, 2, 1))), 0.0)
        measure = ops.pow(scores, self.alpha) * ops.pow(overlap, self.beta)
        best, _ = ops.topk(measure, min(self.candidates, centers.shape[1]), axis=2)
        # a cell of measure 0 would have no weight
        candidates = ops.logical_and(ops.greater_equal(measure, best[:, :, -1:]), ops.greater(measure, 0.0))
        # a cell of several objects goes to the one that its box overlaps most
        several = ops.greater(ops.sum(ops.astype(candidates, "int64"), axis=1, keepdims=True), 1)
        rows = ops.cumulative_sum(ops.astype(ops.greater(overlap, -1.0), "int64"), axis=1) - 1
        winner = ops.equal(rows, ops.argmax(overlap, axis=1, keepdims=True))
        share = ops.astype(ops.where(several, winner, candidates), "float32")
        places = ops.argmax(share, axis=1)
        positive = ops.greater(ops.sum(share, axis=1), 0.0)
        measure = measure * share
        most = ops.max(overlap * share, axis=2, keepdims=True)
        weights = ops.max(measure * most / (ops.max(measure, axis=2, keepdims=True) + _TINY), axis=1)
        targets = ops.one_hot(choose(objects.classes, places), probabilities.shape[-1])
        level = ops.expand_dims(ops.where(positive, weights, 0.0), -1)
        return Assignment(positive, choose(objects.boxes, places), ops.stop_gradient(targets * level))

    @staticmethod
    def _distribution_loss(sides, centers, wanted, numbers):
        """Cross entropy (N, A) of the two bins around each wanted distance, weighed by their nearness; mean of the sides."""
        distance = ops.concat([centers - wanted[:, :, :2], wanted[:, :, 2:] - centers], axis=-1)
        distance = ops.clip(distance, 0.0, numbers.shape[0] - 1 - 0.01)
        # the weights of both bins are those of linear interpolation
        weights = ops.relu(1.0 - ops.abs(ops.expand_dims(distance, -1) - numbers))
        return -ops.mean(ops.sum(weights * ops.log_softmax(sides, axis=-1), axis=-1), axis=-1)
