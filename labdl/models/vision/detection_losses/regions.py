"""Losses of detectors with two stages: proposals of regions, then a class, a box and a mask of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le

from labdl import dispatch, ops, settings
from labdl.errors import ModelError
from labdl.models.vision.anchor_boxes import WEIGHTS
from labdl.models.vision.detection_losses.objects import Objects, choose, overlaps, read_objects
from labdl.models.vision.detection_losses.sampling import Matches, match_regions, sample_balanced
from labdl.nn.types import Positive
from labdl.spec import show

_BETA = 1 / 9  # where smooth L1 becomes linear


@dataclass(frozen=True)
class FasterRCNNLoss:
    """The loss of Faster R-CNN: objectness and offsets of sampled anchors, classes and offsets of sampled regions.

    An anchor has the object that it overlaps most from ``foreground`` on, is background below ``background`` and does not
    count between both; the best anchors of an object have what they overlap most, whatever the overlap. Of each image
    ``anchors`` are sampled, at most ``anchor_share`` of them with an object, and ``regions``, at most ``region_share`` of them
    with an object, which they overlap from ``region_overlap`` on. The loss is the sum of four means over the samples::

        trainer = Trainer(labdl.models.create("fasterrcnn_resnet50_fpn", classes=3), loss=FasterRCNNLoss())

    Classes of objects begin at 1; 0 is the background. Objects are among the regions where the model gets them, as in
    `labdl.fine_tune`. Source: Ren et al., 2015; semantics: torchvision's Faster R-CNN.
    """

    foreground: Positive = 0.7
    background: Positive = 0.3
    anchors: Annotated[int, Ge(1)] = 256
    anchor_share: Annotated[float, Ge(0), Le(1)] = 0.5
    region_overlap: Positive = 0.5
    regions: Annotated[int, Ge(1)] = 512
    region_share: Annotated[float, Ge(0), Le(1)] = 0.25

    def __post_init__(self):
        settings.check(self)

    def __call__(self, output, target):
        parts = _parts(type(self).__name__, output, 6)
        return self.detection_loss(parts, read_objects(type(self).__name__, target))[0]

    def detection_loss(self, parts, objects: Objects) -> tuple[Any, Matches]:
        """The loss of the detections, and the matches of the regions with the sampled ones as positive."""
        objectness, offsets, anchors, regions, logits, changes = parts
        anchors, regions = ops.stop_gradient(anchors), ops.stop_gradient(regions)
        of_proposals = self._proposal_loss(objectness, offsets, anchors, objects)
        matches = match_regions(objects, regions, self.region_overlap)
        positive, negative = sample_balanced(matches, self.regions, self.region_share)
        classes = ops.where(positive, choose(objects.classes, matches.places), 0)
        of_classes = ops.cross_entropy(logits, classes, reduction="none")
        # a region without an area has no features, and an offset to it no meaning
        whole = ops.where(ops.expand_dims(positive, -1), regions, _unit(regions))
        targets = ops.box_encode(choose(objects.boxes, matches.places), whole, WEIGHTS)
        own = ops.expand_dims(ops.one_hot(classes, logits.shape[-1]), -1)
        of_boxes = _box_loss(ops.sum(changes * own, axis=2), targets)
        counts = ops.logical_or(positive, negative)
        terms = ops.where(counts, of_classes, 0.0) + ops.where(positive, of_boxes, 0.0)
        return of_proposals + ops.sum(terms) / _count(counts), Matches(matches.places, positive, negative)

    def _proposal_loss(self, objectness, offsets, anchors, objects: Objects):
        quality = overlaps(objects, anchors)
        best = ops.max(quality, axis=1)
        top = ops.max(quality, axis=2, keepdims=True)
        ties = ops.logical_and(ops.equal(quality, top), ops.expand_dims(objects.valid, -1))
        has_object = ops.logical_or(ops.greater_equal(best, self.foreground), ops.any(ties, axis=1))
        other = ops.logical_and(ops.less(best, self.background), ops.logical_not(has_object))
        matches = Matches(ops.argmax(quality, axis=1), has_object, other)
        positive, negative = sample_balanced(matches, self.anchors, self.anchor_share)
        counts = ops.logical_or(positive, negative)
        share = ops.astype(positive, "float32")
        of_scores = ops.binary_cross_entropy(objectness, share, reduction="none")
        of_boxes = _box_loss(offsets, ops.box_encode(choose(objects.boxes, matches.places), anchors))
        terms = ops.where(counts, of_scores, 0.0) + ops.where(positive, of_boxes, 0.0)
        return ops.sum(terms) / _count(counts)


@dataclass(frozen=True)
class MaskRCNNLoss(FasterRCNNLoss):
    """The loss of Mask R-CNN: that of Faster R-CNN, and the mean cross entropy of the pixels of masks of sampled regions.

    Targets are objects (N, objects, 5) and their masks (N, objects, height, width), of 0 and 1, in the size of the images; or
    a dictionary of these as "boxes" and "masks". The mask of an object is sampled at four points of each of the 28 x 28
    pixels of a region::

        trainer = Trainer(labdl.models.create("maskrcnn_resnet50_fpn", classes=3), loss=MaskRCNNLoss())
        trainer.train_one_batch(images, (objects, masks))

    In evaluation, where there are no masks of all regions, it is the loss of Faster R-CNN. Source: He et al., 2017.
    Semantics: torchvision's Mask R-CNN, which takes about one point for each pixel of the image.
    """

    def __call__(self, output, target):
        parts = _parts("MaskRCNNLoss", output, 7)
        in_training = len(parts[6].shape) == 5  # in evaluation there are masks of the detections alone
        if isinstance(target, dict):
            target = target.get("boxes"), target.get("masks")
        if not isinstance(target, list | tuple) or len(target) != 2 or any(part is None for part in target):
            raise ModelError("MaskRCNNLoss wants two targets, objects (N, objects, 5) and masks (N, objects, H, W)")
        rows, masks = target
        shapes = [tuple(dispatch.spec_of(part).shape) for part in target]
        if len(shapes[1]) != 4 or shapes[0][:2] != shapes[1][:2]:
            raise ModelError(
                f"MaskRCNNLoss wants masks (N, objects, H, W), one for each of the objects {show(shapes[0])}, received "
                f"{show(shapes[1])}"
            )
        objects = read_objects("MaskRCNNLoss", rows)
        loss, matches = self.detection_loss(parts[:6], objects)
        return loss + self._mask_loss(parts[3], parts[6], matches, objects, masks) if in_training else loss

    def _mask_loss(self, regions, logits, matches: Matches, objects: Objects, masks):
        """Mean of the cross entropies of the pixels of masks (N, K, classes, 28, 28), of the first K regions."""
        count, side = logits.shape[1], logits.shape[-1]
        positive, places = matches.positive[:, :count], matches.places[:, :count]
        regions = ops.stop_gradient(ops.where(ops.expand_dims(positive, -1), regions[:, :count], 0.0))
        own = ops.one_hot(choose(objects.classes, places), logits.shape[2])
        own = ops.reshape_with([own], ((0, 0), (0, 1), (0, 2), 1, 1))
        own_logits = ops.sum(logits * own, axis=2)
        # `read_objects` adds a row, which is no object
        masks = ops.astype(masks, "float32")
        none = ops.zeros_like(ops.sum(masks, axis=1, keepdims=True))
        masks = ops.concat([masks, none], axis=1)
        each = masks.shape[1]
        first = ops.cumulative_sum(ops.ones_like(places), axis=0) - 1
        numbers = ops.flatten(first * each + places, 0)
        flat = ops.expand_dims(ops.flatten(masks, 0, 1), 1)
        targets = ops.roi_align(flat, ops.flatten(regions, 0, 1), numbers, side, sampling_ratio=2)
        targets = ops.reshape_with([targets, own_logits], ((1, 0), (1, 1), side, side))
        pixels = ops.mean(ops.binary_cross_entropy(own_logits, targets, reduction="none"), axis=(2, 3))
        return ops.sum(ops.where(positive, pixels, 0.0)) / _count(positive)


def _parts(name: str, output, count: int):
    if not isinstance(output, list | tuple) or len(output) < count:
        of_masks = ", and logits of masks" if count > 6 else ""
        raise ModelError(
            f"{name} wants objectness, offsets and anchors, regions, their logits and their offsets{of_masks}, as the model "
            "gives them in training"
        )
    return output[:count]


def _count(mask):
    """The number of what a mask has, at least 1, as a number of the backend."""
    return ops.maximum(ops.sum(ops.astype(mask, "float32")), 1.0)


def _box_loss(offsets, targets):
    return ops.sum(ops.smooth_l1_loss(offsets, targets, beta=_BETA, reduction="none"), axis=-1)


def _unit(boxes):
    """Boxes of side 1, in the shape of the given ones."""
    return ops.concat([ops.zeros_like(boxes[:, :, :2]), ops.ones_like(boxes[:, :, 2:])], axis=-1)
