"""Losses of YOLOv5 and YOLOv7: anchors of similar sides, in the cell of an object and in the two nearest to it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt

from labdl import ops, settings
from labdl.errors import ModelError
from labdl.models.vision.anchor_head import ANCHORS, YOLOV7_ANCHORS
from labdl.models.vision.cells import STRIDES
from labdl.models.vision.detection_losses.objects import Objects, choose, paired_iou, read_objects
from labdl.nn.types import Positive

_BALANCE = (4.0, 1.0, 0.4)  # weights of the objectness of the maps: the finest has most cells without an object
_STEPS = ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (-0.5, 0.0), (0.0, -0.5))  # to the cell of an object and its neighbors
_MOST = 10  # cells of an object
_NEVER = 1e8
Sides = tuple[Annotated[float, Gt(0)], Annotated[float, Gt(0)]]


class Candidates(NamedTuple):
    """The cells of a map that may predict an object: their numbers, whether they may, and both boxes, (N, G, cells ...).

    ``rows`` are what the cells predict, boxes are corners in cells from the corner of their own cell.
    """

    cells: Any
    valid: Any
    rows: Any
    boxes: Any
    targets: Any


@dataclass(frozen=True)
class YOLOv5Loss:
    """The loss of YOLOv5 with anchors: complete IoU of boxes, and cross entropy of objectness and classes.

    An anchor may predict an object if neither side is ``ratio`` times that of the other or more; it does in the cell of the
    object's center and in the nearest cell to the side and above or below; a center exactly between two cells has none. The
    target objectness is the IoU of the prediction, the best where a cell has several objects. ``anchors`` are the sides in
    pixels of those of each map::

        trainer = Trainer(labdl.models.create("yolov5n", classes=3), loss=YOLOv5Loss())

    ``box``, ``objectness`` and ``classes`` weigh the parts, the second by the size of images, the third by the number of
    classes; the sum is multiplied by the number of images, as published. Source: Jocher et al., 2020, of which there is no
    article.
    """

    anchors: tuple[tuple[Sides, ...], ...] = ANCHORS
    ratio: Positive = 4.0
    box: Annotated[float, Ge(0)] = 0.05
    objectness: Annotated[float, Ge(0)] = 1.0
    classes: Annotated[float, Ge(0)] = 0.5

    def __post_init__(self):
        settings.check(self)

    def __call__(self, output, target):
        name, count = type(self).__name__, len(self.anchors)
        maps: Any = output[:count] if isinstance(output, list | tuple) else ()
        if len(maps) < count or any(len(x.shape) != 5 for x in maps):
            raise ModelError(
                f"{name} wants the {count} maps (N, anchors, H, W, 5 + classes) that the model gives in training"
            )
        for x, sides in zip(maps, self.anchors, strict=True):
            if x.shape[1] != len(sides):
                raise ModelError(
                    f"{name} has {len(sides)} anchors for a map of {x.shape[1]}: give it those of the model"
                )
        objects = read_objects(name, target)
        candidates = [self._candidates(x, at, objects) for at, x in enumerate(maps)]
        kinds = ops.one_hot(objects.classes, maps[0].shape[-1] - 5)
        valid = self._select([ops.flatten(x, 1, 3) for x in maps], candidates, kinds)
        total = None
        for at, (x, one, mask) in enumerate(zip(maps, candidates, valid, strict=True)):
            part = self._loss_of_map(at, x, one, mask, kinds)
            total = part if total is None else total + part
        return total * ops.sum(ops.ones_like(maps[0][:, 0, 0, 0, 0])) * (len(STRIDES) / count)

    def _candidates(self, x, at: int, objects: Objects) -> Candidates:
        stride, (height, width) = float(STRIDES[at]), x.shape[2:4]
        sides = ops.tensor_like(x, np.array(self.anchors[at]), "float32")
        size = ops.expand_dims(objects.boxes[:, :, 2:] - objects.boxes[:, :, :2], 2)  # (N, G, 1, 2)
        center = (objects.boxes[:, :, :2] + objects.boxes[:, :, 2:]) / (2 * stride)
        fits = ops.less(ops.max(ops.maximum(size / sides, sides / size), axis=-1), self.ratio)  # (N, G, anchors)
        ends = ops.tensor_like(x, np.array([width, height]), "float32")
        near = []
        # a center between two cells has no neighbor after it
        for part, least in ((center, -1.0), (ends - center, 0.0)):
            share = part - ops.floor(part)
            close = ops.logical_and(ops.less(share, 0.5), ops.greater(share, least))
            near.append(ops.logical_and(close, ops.greater(part, 1.0)))
        whole = ops.greater_equal(center[:, :, :1], -_NEVER)
        used = ops.concat([whole, *near], axis=-1)  # (N, G, 5), in the order of the steps
        steps = ops.tensor_like(x, np.array(_STEPS), "float32")
        cells = ops.floor(ops.expand_dims(center, 2) - steps)
        cells = ops.minimum(ops.maximum(cells, 0.0), ends - 1.0)  # (N, G, 5, 2)
        valid = ops.logical_and(ops.expand_dims(fits, 3), ops.expand_dims(used, 2))  # (N, G, anchors, 5)
        valid = ops.logical_and(valid, ops.reshape_with([objects.valid], ((0, 0), (0, 1), 1, 1)))
        numbers = ops.astype(cells[..., 1] * float(width) + cells[..., 0], "int64")
        first = ops.tensor_like(x, np.arange(len(self.anchors[at])) * height * width, "int64")
        numbers = ops.expand_dims(numbers, 2) + ops.reshape(first, (1, 1, -1, 1))
        rows = choose(ops.flatten(x, 1, 3), ops.flatten(numbers, 1))
        rows = ops.reshape_with([rows, numbers], ((1, 0), (1, 1), (1, 2), (1, 3), x.shape[-1]))
        middle = ops.sigmoid(rows[..., :2]) * 2.0 - 0.5
        half = ops.square(ops.sigmoid(rows[..., 2:4]) * 2.0) * ops.reshape(sides / (2 * stride), (1, 1, -1, 1, 2))
        boxes = ops.concat([middle - half, middle + half], axis=-1)
        own = ops.expand_dims(ops.expand_dims(center, 2) - cells, 2)  # (N, G, 1, 5, 2)
        reach = ops.expand_dims(size, 3) / (2 * stride)
        targets = ops.concat([own - reach, own + reach], axis=-1) + ops.zeros_like(boxes)
        parts = numbers, valid, rows, boxes, targets
        return Candidates(*(ops.flatten(part, 2, 3) for part in parts))

    def _select(self, maps, candidates: list[Candidates], kinds) -> list:
        """Which candidates (N, G, cells) predict their object: all that may."""
        return [one.valid for one in candidates]

    def _loss_of_map(self, at: int, x, one: Candidates, valid, kinds):
        share = ops.astype(valid, "float32")
        count = ops.maximum(ops.sum(share), 1.0)
        gap = ops.complete_box_iou_loss(one.boxes, one.targets, reduction="none")
        of_boxes = ops.sum(ops.where(valid, gap, 0.0)) / count
        level = ops.where(valid, ops.maximum(1.0 - ops.stop_gradient(gap), 0.0), 0.0)
        scores = ops.flatten(x[..., 4], 1)
        levels = ops.scatter(
            ops.zeros_like(scores), ops.flatten(one.cells, 1), ops.flatten(level, 1), axis=1, reduce="max"
        )
        of_scores = ops.mean(ops.binary_cross_entropy(scores, levels, reduction="none"))
        size = x.shape[2] * x.shape[3] * STRIDES[at] ** 2 / 640**2
        total = self.box * of_boxes + self.objectness * size * _BALANCE[at] * of_scores
        classes = x.shape[-1] - 5
        if classes == 1:  # the objectness says it
            return total
        logits = one.rows[..., 5:]
        entropy = ops.binary_cross_entropy(logits, ops.expand_dims(kinds, 2) + ops.zeros_like(logits), reduction="none")
        of_classes = ops.sum(ops.where(valid, ops.mean(entropy, axis=-1), 0.0)) / count
        return total + self.classes * classes / 80 * of_classes


@dataclass(frozen=True)
class YOLOv7Loss(YOLOv5Loss):
    """The loss of YOLOv7 and YOLOv7-tiny: as that of YOLOv5, with the cheapest of the cells that may predict an object.

    The cost of a cell is the cross entropy of its classes, whose probability is the root of objectness * class, and
    -3 log IoU. An object takes as many cells as the ten largest IoU sum up to, at least one; a cell of several objects goes to
    the one for which it is cheapest (SimOTA, Ge et al., 2021). Simplified: an object chooses among the cells that may predict
    it, where the authors let it also choose cells of other objects; and there is no auxiliary head::

        trainer = Trainer(labdl.models.create("yolov7", classes=3), loss=YOLOv7Loss())
        trainer = Trainer(labdl.models.create("yolov7_tiny", classes=3), loss=YOLOv7Loss(anchors=ANCHORS))

    Source: Wang et al., 2023 (https://arxiv.org/abs/2207.02696).
    """

    anchors: tuple[tuple[Sides, ...], ...] = YOLOV7_ANCHORS
    objectness: Annotated[float, Ge(0)] = 0.7
    classes: Annotated[float, Ge(0)] = 0.3

    def _select(self, maps, candidates: list[Candidates], kinds) -> list:
        starts = np.cumsum([0, *(x.shape[1] for x in maps)]).tolist()
        counts = [one.valid.shape[2] for one in candidates]
        cells = ops.concat([one.cells + start for one, start in zip(candidates, starts, strict=False)], axis=2)
        valid, rows, boxes, targets = (
            ops.stop_gradient(part) if at else part
            for at, part in enumerate(ops.concat([one[k] for one in candidates], axis=2) for k in range(1, 5))
        )
        overlap = ops.where(valid, paired_iou(boxes, targets), 0.0)
        share = ops.sqrt(ops.sigmoid(rows[..., 4:5]) * ops.sigmoid(rows[..., 5:]))
        share = ops.clip(share, 1e-6, 1.0 - 1e-6)
        own = ops.expand_dims(kinds, 2)
        entropy = -ops.sum(own * ops.log(share) + (1.0 - own) * ops.log(1.0 - share), axis=-1)
        cost = ops.where(valid, entropy - 3.0 * ops.log(overlap + 1e-8), _NEVER)
        most = min(_MOST, sum(counts))
        counts_of_cells = ops.sum(ops.topk(overlap, most, axis=2)[0], axis=2, keepdims=True)
        counts_of_cells = ops.astype(ops.clip(ops.floor(counts_of_cells), 1.0, float(most)), "int64")
        cheapest, _ = ops.topk(-cost, most, axis=2)
        is_cheap = ops.greater_equal(-cost, ops.take_along_axis(cheapest, counts_of_cells - 1, axis=2))
        cost = ops.where(ops.logical_and(is_cheap, valid), cost, _NEVER)
        # the least cost of each cell, over all objects
        free = ops.concat([ops.zeros_like(x[..., 0]) for x in maps], axis=1) + _NEVER
        places = ops.flatten(cells, 1)
        least = ops.take_along_axis(
            ops.scatter(free, places, ops.flatten(cost, 1), axis=1, reduce="min"), places, axis=1
        )
        least = ops.reshape_with([least, cost], ((1, 0), (1, 1), (1, 2)))
        winner = ops.logical_and(ops.less_equal(cost, least), ops.less(cost, _NEVER / 2))
        ends = np.cumsum([0, *counts]).tolist()
        return [winner[:, :, first:last] for first, last in itertools.pairwise(ends)]
