"""YOLOv5: a detector of C3 blocks with anchors, and its later form without anchors (Jocher et al., 2020).

The backbone halves the image five times; its last three maps are merged from coarse to fine and back (Liu et al., 2018).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.anchor_head import ANCHORS, AnchorHead, Anchors, anchor_head_names
from labdl.models.vision.compound_scaling import scale_channels, scale_depth
from labdl.models.vision.csp import C3, c3_names, convolution, convolution_names
from labdl.models.vision.detection_losses import TaskAlignedLoss, YOLOv5Loss
from labdl.models.vision.detector_form import DetectorForm, columns_as_rows, letterbox, rows_with_objectness
from labdl.models.vision.distance_head import DistanceHead, distance_head_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.spatial_pyramid import SPPF, sppf_names
from labdl.spec import Spec

_PAPER = "https://doi.org/10.5281/zenodo.3908559"  # there is no article


class Backbone(nn.Module):
    """Convolutions of stride 2 and C3 blocks: an image to maps at strides 8, 16 and 32."""

    def __init__(self, channels: Sequence[int], depths: Sequence[int]):
        self.stem = convolution(channels[0], 6, 2)
        self.stages = nn.ModuleList(
            [
                nn.Sequential(convolution(width, 3, 2), C3(width, depth))
                for width, depth in zip(channels[1:], depths, strict=True)
            ]
        )
        self.pyramid = SPPF(channels[-1], channels[-1])

    def forward(self, x):
        maps = [self.stem(x)]
        for stage in self.stages:
            maps.append(stage(maps[-1]))
        return maps[2], maps[3], self.pyramid(maps[4])


class PathAggregation(nn.Module):
    """Three maps, merged from the coarsest to the finest and back; ``channels`` are theirs, the finest first."""

    def __init__(self, channels: Sequence[int], depth: int):
        fine, middle, coarse = channels
        self.enlarge = nn.Upsample(scale=2.0)
        self.lateral = nn.ModuleList([convolution(middle), convolution(fine)])
        self.down = nn.ModuleList([C3(middle, depth, shortcut=False), C3(fine, depth, shortcut=False)])
        self.reduce = nn.ModuleList([convolution(fine, 3, 2), convolution(middle, 3, 2)])
        self.up = nn.ModuleList([C3(middle, depth, shortcut=False), C3(coarse, depth, shortcut=False)])

    def forward(self, fine, middle, coarse):
        coarse = self.lateral[0](coarse)
        merged = self.down[0](ops.concat([self.enlarge(coarse), middle], axis=1))
        merged = self.lateral[1](merged)
        fine = self.down[1](ops.concat([self.enlarge(merged), fine], axis=1))
        middle = self.up[0](ops.concat([self.reduce[0](fine), merged], axis=1))
        return fine, middle, self.up[1](ops.concat([self.reduce[1](middle), coarse], axis=1))


class YOLOv5(nn.Module):
    """Images (N, 3, H, W), sizes multiples of 32, to boxes and classes of each anchor in each cell of three maps.

    In training it gives the raw maps (N, anchors, H / stride, W / stride, 5 + classes) at strides 8, 16 and 32. In evaluation,
    and in its graph, one more output follows, all of them decoded: rows (N, boxes, 5 + classes) of center and size in pixels,
    objectness and classes as probabilities::

        model = labdl.models.create("yolov5n", classes=3).build().eval()
        fine, middle, coarse, rows = model(images)

    ``anchors`` (maps, anchors, 2) are widths and heights in pixels; None is the later form without anchors, which has the head
    and the outputs of `YOLOv8`. ``channels`` are those of the stem and of the four stages, ``depths`` the blocks of the stages,
    ``neck`` those of each merging block. Raises ValueError for images of other sizes.
    """

    def __init__(
        self,
        classes: int = 80,
        channels: Sequence[int] = (16, 32, 64, 128, 256),
        depths: Sequence[int] = (1, 2, 3, 1),
        neck: int = 1,
        *,
        anchors: Anchors | None = ANCHORS,
    ):
        self.backbone = Backbone(channels, depths)
        self.neck = PathAggregation(channels[2:], neck)
        self.head = DistanceHead(classes, channels[2:]) if anchors is None else AnchorHead(classes, anchors)

    def forward(self, x):
        check_sizes("YOLOv5", x, least=32, multiple=32)
        return self.head(*self.neck(*self.backbone(x)))

    @property
    def detector_form(self) -> DetectorForm:
        """The steps before and after the model."""
        settings = {"threshold": 0.25, "iou_threshold": 0.45, "max_detections": 1000, "candidates": 30_000}
        if not isinstance(self.head, AnchorHead):
            return letterbox(columns_as_rows, TaskAlignedLoss, **settings)
        sides = self.head.sides
        return letterbox(rows_with_objectness, lambda _: YOLOv5Loss(sides), **settings)

    @property
    def public_names(self) -> public_weights.PublicNames:
        """The names of the published weights, which number all blocks from the image on."""
        return public_names(anchors=isinstance(self.head, AnchorHead))


def public_names(*, anchors: bool = True) -> public_weights.PublicNames:
    """The published names of a YOLOv5 with anchors or without."""
    single = {0: "backbone/stem", 10: "neck/lateral/0", 14: "neck/lateral/1", 18: "neck/reduce/0", 21: "neck/reduce/1"}
    single |= {2 * at + 1: f"backbone/stages/{at}/0" for at in range(4)}
    blocks = {2 * at + 2: f"backbone/stages/{at}/1" for at in range(4)}
    blocks |= {13: "neck/down/0", 17: "neck/down/1", 20: "neck/up/0", 23: "neck/up/1"}
    groups = [
        *(convolution_names(f"model.{at}", ours) for at, ours in single.items()),
        *(part for at, ours in blocks.items() for part in c3_names(f"model.{at}", ours)),
        sppf_names("model.9", "backbone/pyramid"),
    ]
    head = anchor_head_names if anchors else distance_head_names
    return public_weights.PublicNames(
        (*(public_weights.Group(group, needed=True) for group in groups), *head("model.24", "head")),
        ignored=r"model\.24\.anchor_grid",  # the anchors again, in older files
    )


def _create(width: float, depth: float, classes: int, anchors: Anchors | None = ANCHORS) -> YOLOv5:
    return YOLOv5(
        classes,
        [scale_channels(n, width) for n in (64, 128, 256, 512, 1024)],
        [scale_depth(n, depth) for n in (3, 6, 9, 3)],
        scale_depth(3, depth),
        anchors=anchors,
    )


def _small() -> tuple[YOLOv5, tuple[Spec, ...]]:
    return YOLOv5(3, (4, 8, 8, 8, 16), (1, 1, 1, 1)), (Spec((None, 3, 64, 32)),)


_register = functools.partial(
    zoo.register,
    "object detection",
    inputs=zoo.images(640),
    paper=_PAPER,
    from_public=public_names().from_public,
)


@_register(parameters=1_872_157, small=_small)
def yolov5n(classes: int = 80) -> YOLOv5:
    """YOLOv5 nano, a detector with anchors (Jocher et al., 2020)."""
    return _create(0.25, 0.33, classes)


@_register(parameters=7_235_389)
def yolov5s(classes: int = 80) -> YOLOv5:
    """YOLOv5 small, a detector with anchors (Jocher et al., 2020)."""
    return _create(0.5, 0.33, classes)


@_register(parameters=21_190_557)
def yolov5m(classes: int = 80) -> YOLOv5:
    """YOLOv5 medium, a detector with anchors (Jocher et al., 2020)."""
    return _create(0.75, 0.67, classes)


@_register(parameters=46_563_709)
def yolov5l(classes: int = 80) -> YOLOv5:
    """YOLOv5 large, a detector with anchors (Jocher et al., 2020)."""
    return _create(1.0, 1.0, classes)


@_register(parameters=86_749_405)
def yolov5x(classes: int = 80) -> YOLOv5:
    """YOLOv5 extra large, a detector with anchors (Jocher et al., 2020)."""
    return _create(1.25, 1.33, classes)


_register_later = functools.partial(_register, from_public=public_names(anchors=False).from_public)


@_register_later(parameters=2_654_816)
def yolov5nu(classes: int = 80) -> YOLOv5:
    """YOLOv5 nano with the head of YOLOv8, without anchors (Jocher et al., 2023)."""
    return _create(0.25, 0.33, classes, None)


@_register_later(parameters=9_153_152)
def yolov5su(classes: int = 80) -> YOLOv5:
    """YOLOv5 small with the head of YOLOv8, without anchors (Jocher et al., 2023)."""
    return _create(0.5, 0.33, classes, None)
