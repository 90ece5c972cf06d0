"""Losses of detectors with anchors, each of which belongs to the object that it overlaps most (torchvision's rules)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from labdl import ops, settings
from labdl.errors import ModelError
from labdl.models.vision.anchor_boxes import WEIGHTS
from labdl.models.vision.detection_losses.objects import Objects, choose, overlaps, read_objects
from labdl.nn.types import Positive


def _outputs(name: str, outputs):
    if not isinstance(outputs, list | tuple) or len(outputs) < 3:
        raise ModelError(f"{name} wants the offsets, logits and anchors that a detector with anchors gives in training")
    offsets, logits, anchors = outputs[:3]
    return offsets, logits, ops.stop_gradient(anchors)


@dataclass(frozen=True)
class SSDLoss:
    """The loss of SSD: offsets and classes of anchors that match an object, and classes of the hardest others.

    An anchor matches the object that it overlaps most, from ``iou_threshold`` on; and each object its best anchor, whatever
    the overlap. Of the others, ``negatives`` times as many of each image enter, those with the largest loss. The sum of
    smooth L1 and cross entropy is divided by the number of matches::

        trainer = Trainer(labdl.models.create("ssd300_vgg16", classes=3), loss=SSDLoss())
        trainer.fit(images, objects)

    Classes of objects begin at 1; 0 is the background. Source: Liu et al., 2016. Semantics: torchvision's SSD.
    """

    iou_threshold: Positive = 0.5
    negatives: Annotated[float, Ge(0)] = 3.0

    def __post_init__(self):
        settings.check(self)

    def __call__(self, output, target):
        offsets, logits, anchors = _outputs("SSDLoss", output)
        objects = read_objects("SSDLoss", target)
        places, positive = match_best(objects, anchors, self.iou_threshold)
        offsets_of_targets = ops.box_encode(choose(objects.boxes, places), anchors, WEIGHTS)
        of_boxes = ops.sum(ops.smooth_l1_loss(offsets, offsets_of_targets, reduction="none"), axis=-1)
        classes = ops.where(positive, choose(objects.classes, places), 0)
        of_classes = ops.cross_entropy(logits, classes, reduction="none")
        # the rank of each anchor among the negative ones of its image, by falling loss
        hard = ops.where(positive, -1.0, ops.stop_gradient(of_classes))
        rank = ops.argsort(ops.argsort(hard, axis=1, descending=True), axis=1)
        share = ops.astype(positive, "float32")
        count = ops.sum(share, axis=1, keepdims=True)
        negative = ops.logical_and(
            ops.less(ops.astype(rank, "float32"), self.negatives * count), ops.logical_not(positive)
        )
        counted_terms = ops.where(ops.logical_or(positive, negative), of_classes, 0.0)
        total = ops.sum(ops.where(positive, of_boxes, 0.0)) + ops.sum(counted_terms)
        return total / ops.maximum(ops.sum(share), 1.0)


def match_best(objects: Objects, anchors, threshold: float):
    """The object of each anchor (N, A), and whether it has one: from the threshold on, and the best anchor of each object."""
    quality = overlaps(objects, anchors)
    places, best = ops.argmax(quality, axis=1), ops.max(quality, axis=1)
    own = ops.equal(_numbers(quality), ops.expand_dims(ops.argmax(quality, axis=2), -1))  # (N, G, A)
    own = ops.logical_and(own, ops.expand_dims(objects.valid, -1))
    rows = ops.cumulative_sum(ops.astype(ops.greater(quality, -2.0), "int64"), axis=1)  # 1, 2, … for each object
    last = ops.max(ops.where(own, rows, 0), axis=1)
    forced = ops.greater(last, 0)
    return ops.where(forced, last - 1, places), ops.logical_or(forced, ops.greater_equal(best, threshold))


def _numbers(quality):
    """The number of each anchor, in the shape (N, G, A)."""
    return ops.cumulative_sum(ops.astype(ops.greater(quality, -2.0), "int64"), axis=2) - 1


@dataclass(frozen=True)
class RetinaNetLoss:
    """The loss of RetinaNet: focal loss of the classes of all anchors, and L1 of the offsets of those that match an object.

    An anchor matches the object that it overlaps most from ``foreground`` on, is background below ``background``, and does not
    count between both. The best anchors of an object match what they overlap most, whatever the overlap. Both sums are
    divided by the matches of each image, and the mean over the images is the loss::

        trainer = Trainer(labdl.models.create("retinanet_resnet50_fpn", classes=3), loss=RetinaNetLoss())

    ``alpha`` and ``gamma`` are those of `ops.focal_loss`. Classes of objects are numbers of the model's columns. Source: Lin et
    al., 2017. Semantics: torchvision's RetinaNet.
    """

    foreground: Positive = 0.5
    background: Positive = 0.4
    alpha: float = 0.25
    gamma: Annotated[float, Ge(0)] = 2.0

    def __post_init__(self):
        settings.check(self)

    def __call__(self, output, target):
        offsets, logits, anchors = _outputs("RetinaNetLoss", output)
        objects = read_objects("RetinaNetLoss", target)
        quality = overlaps(objects, anchors)
        places, best = ops.argmax(quality, axis=1), ops.max(quality, axis=1)
        top = ops.max(quality, axis=2, keepdims=True)
        ties = ops.logical_and(ops.equal(quality, top), ops.expand_dims(objects.valid, -1))
        positive = ops.logical_or(ops.greater_equal(best, self.foreground), ops.any(ties, axis=1))
        counts = ops.logical_or(positive, ops.less(best, self.background))
        share = ops.astype(positive, "float32")
        matches = ops.maximum(ops.sum(share, axis=1), 1.0)
        classes = ops.one_hot(choose(objects.classes, places), logits.shape[-1])
        focal = ops.focal_loss(
            logits, classes * ops.expand_dims(share, -1), alpha=self.alpha, gamma=self.gamma, reduction="none"
        )
        of_classes = ops.sum(ops.where(counts, ops.sum(focal, axis=-1), 0.0), axis=1)
        offsets_of_targets = ops.box_encode(choose(objects.boxes, places), anchors)
        distance = ops.sum(ops.abs(offsets - offsets_of_targets), axis=-1)
        of_boxes = ops.sum(ops.where(positive, distance, 0.0), axis=1)
        return ops.mean((of_classes + of_boxes) / matches)
