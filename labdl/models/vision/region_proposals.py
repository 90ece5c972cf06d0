"""Region proposal network: boxes that may hold an object, of any class (Ren et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models.vision.anchor_boxes import AnchorBoxes, cell_anchors, rows_of_anchors

_INIT = "normal(std=0.01)"
_LEAST = 1e-3  # pixels of the sides of a proposal
_NONE = -1e9  # the score of what is no proposal


class ProposalHead(nn.Module):
    """Objectness (N, anchors, H, W) and offsets (N, 4 * anchors, H, W) of a map (N, C, H, W)."""

    def __init__(self, channels: int, anchors: int):
        self.shared = nn.Conv2d(channels, kernel_size=3, padding=1, kernel_init=_INIT)
        self.objectness = nn.Conv2d(anchors, kernel_size=1, kernel_init=_INIT)
        self.offsets = nn.Conv2d(4 * anchors, kernel_size=1, kernel_init=_INIT)

    def forward(self, x):
        y = ops.relu(self.shared(x))
        return self.objectness(y), self.offsets(y)


class RegionProposals(nn.Module):
    """Proposals of the maps of a pyramid: an image (N, C, H, W), sizes (N, 2) and the maps to boxes in pixels.

    It gives objectness (N, anchors), offsets (N, anchors, 4), anchors (1, anchors, 4), and the proposals (N, most, 4) with
    whether each is one (N, most): of each map the best ``candidates`` enter a non-maximum suppression at ``iou_threshold``, and
    the best ``most`` of all maps remain. Where there are fewer, boxes of zeros follow. ``sizes`` are the heights and widths
    of the images without padding, to which proposals are clipped. No gradient flows through the proposals.
    """

    def __init__(
        self,
        channels: int,
        sides: Sequence[int],
        *,
        candidates: int = 1000,
        most: int = 1000,
        iou_threshold: float = 0.7,
    ):
        self.anchors = AnchorBoxes([cell_anchors((side,)) for side in sides])
        self.head = ProposalHead(channels, self.anchors.counts[0])
        self.candidates, self.most, self.iou_threshold = candidates, most, iou_threshold

    def forward(self, image, sizes, *maps):
        pairs = [self.head(x) for x in maps]
        of_maps = [(rows_of_anchors(score, 1)[:, :, 0], rows_of_anchors(offset, 4)) for score, offset in pairs]
        each = [self.anchors.of_map(at, image, x) for at, x in enumerate(maps)]
        best = [
            self._of_map(image, sizes, ops.stop_gradient(scores), ops.box_decode(ops.stop_gradient(offsets), anchors))
            for (scores, offsets), anchors in zip(of_maps, each, strict=True)
        ]
        scores, boxes = (ops.concat([pair[at] for pair in best], axis=1) for at in range(2))
        scores, order = ops.topk(scores, self.most, axis=1)
        boxes = ops.take_along_axis(boxes, ops.expand_dims(order, -1), axis=1)
        objectness, offsets = (ops.concat([pair[at] for pair in of_maps], axis=1) for at in range(2))
        exist = ops.greater(scores, _NONE / 2)
        boxes = ops.where(ops.expand_dims(exist, -1), boxes, 0.0)
        return objectness, offsets, ops.concat(each, axis=1), boxes, exist

    def _of_map(self, image, sizes, scores, boxes):
        """Scores (N, candidates) and boxes (N, candidates, 4) of the best of a map; what is suppressed scores `_NONE`."""
        # a map may have fewer anchors than there are candidates, of which the number is fixed
        none = ops.tile(ops.zeros_like(image[:, 0, 0, :1]), (1, self.candidates))
        scores, order = ops.topk(ops.concat([scores, none + _NONE], axis=1), self.candidates, axis=1)
        boxes = ops.concat([boxes, ops.tile(ops.expand_dims(none, -1), (1, 1, 4))], axis=1)
        boxes = clip_to_images(ops.take_along_axis(boxes, ops.expand_dims(order, -1), axis=1), sizes)
        sides = boxes[:, :, 2:] - boxes[:, :, :2]
        exist = ops.all(ops.greater_equal(sides, _LEAST), axis=-1)
        boxes = ops.where(ops.expand_dims(exist, -1), boxes, 0.0)
        survivors = ops.logical_and(exist, ops.nms_mask(boxes, scores, self.iou_threshold))
        return ops.where(survivors, scores, _NONE), boxes


def clip_to_images(boxes, sizes):
    """Boxes (N, K, 4) clipped to images of the heights and widths ``sizes`` (N, 2)."""
    height, width = sizes[:, :1], sizes[:, 1:]
    ends = ops.expand_dims(ops.concat([width, height, width, height], axis=1), 1)
    return ops.minimum(ops.maximum(boxes, 0.0), ends)


def proposal_names(public: str, ours: str) -> list[public_weights.Group]:
    """The groups of public names of a `RegionProposals`, torchvision's below ``public``."""
    parts = {"conv.0.0": "shared", "cls_logits": "objectness", "bbox_pred": "offsets"}
    return [
        public_weights.Group(
            *(
                public_weights.convolution(f"{public}.head.{there}", f"{ours}/head/{here}")
                for there, here in parts.items()
            ),
            needed=True,
        )
    ]
