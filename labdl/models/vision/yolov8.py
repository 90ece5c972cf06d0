"""YOLOv8: a detector without anchors, of C2f blocks (Jocher et al., 2023).

The backbone halves the image five times; its last three maps are merged from coarse to fine and back (Liu et al., 2018), and
a `DistanceHead` finds boxes and classes in each cell of the results.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import ClassVar

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.compound_scaling import scale_channels, scale_depth
from labdl.models.vision.csp import C2f, c2f_names, convolution, convolution_names
from labdl.models.vision.detection_losses import TaskAlignedLoss
from labdl.models.vision.detector_form import DetectorForm, columns_as_rows, letterbox
from labdl.models.vision.distance_head import DistanceHead, distance_head_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.spatial_pyramid import SPPF, sppf_names
from labdl.spec import Spec

_PAPER = "https://docs.ultralytics.com/models/yolov8/"  # there is no article


class Backbone(nn.Module):
    """Convolutions of stride 2 and C2f blocks: an image to maps at strides 8, 16 and 32."""

    def __init__(self, channels: Sequence[int], depths: Sequence[int]):
        self.stem = convolution(channels[0], 3, 2)
        self.stages = nn.ModuleList(
            [
                nn.Sequential(convolution(width, 3, 2), C2f(width, depth))
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
        self.down = nn.ModuleList([C2f(middle, depth, shortcut=False), C2f(fine, depth, shortcut=False)])
        self.reduce = nn.ModuleList([convolution(fine, 3, 2), convolution(middle, 3, 2)])
        self.up = nn.ModuleList([C2f(middle, depth, shortcut=False), C2f(coarse, depth, shortcut=False)])

    def forward(self, fine, middle, coarse):
        merged = self.down[0](ops.concat([self.enlarge(coarse), middle], axis=1))
        fine = self.down[1](ops.concat([self.enlarge(merged), fine], axis=1))
        middle = self.up[0](ops.concat([self.reduce[0](fine), merged], axis=1))
        return fine, middle, self.up[1](ops.concat([self.reduce[1](middle), coarse], axis=1))


class YOLOv8(nn.Module):
    """Images (N, 3, H, W), sizes multiples of 32, to boxes and classes of (H / 8)(W / 8) + (H / 16)(W / 16) + … cells.

    In training it gives the raw heads: logits of the distances to the four sides (N, 64, cells), 16 bins each, and logits of
    the classes (N, classes, cells). In evaluation, and in its graph, two more outputs follow: boxes (N, 4, cells) as center
    and size in pixels, and probabilities (N, classes, cells). They are read so::

        model = labdl.models.create("yolov8n", classes=3).build().eval()
        logits, scores, boxes, probabilities = model(images)

    ``channels`` are those of the stem and of the four stages, ``depths`` the blocks of the stages, ``neck`` those of each
    merging block. Raises ValueError for images of other sizes.
    """

    public_names: public_weights.PublicNames
    detector_form: ClassVar[DetectorForm] = letterbox(
        columns_as_rows, TaskAlignedLoss, threshold=0.25, iou_threshold=0.7, max_detections=300, candidates=30_000
    )

    def __init__(
        self,
        classes: int = 80,
        channels: Sequence[int] = (16, 32, 64, 128, 256),
        depths: Sequence[int] = (1, 2, 2, 1),
        neck: int = 1,
    ):
        self.backbone = Backbone(channels, depths)
        self.neck = PathAggregation(channels[2:], neck)
        self.head = DistanceHead(classes, channels[2:])

    def forward(self, x):
        check_sizes("YOLOv8", x, least=32, multiple=32)
        return self.head(*self.neck(*self.backbone(x)))


def _names() -> public_weights.PublicNames:
    """The names of the published weights, which number all blocks from the image on."""
    reductions = {0: "backbone/stem", 16: "neck/reduce/0", 19: "neck/reduce/1"}
    reductions |= {2 * at + 1: f"backbone/stages/{at}/0" for at in range(4)}
    blocks = {2 * at + 2: f"backbone/stages/{at}/1" for at in range(4)}
    blocks |= {12: "neck/down/0", 15: "neck/down/1", 18: "neck/up/0", 21: "neck/up/1"}
    groups = [
        *(convolution_names(f"model.{at}", ours) for at, ours in reductions.items()),
        *(part for at, ours in blocks.items() for part in c2f_names(f"model.{at}", ours)),
        sppf_names("model.9", "backbone/pyramid"),
    ]
    return public_weights.PublicNames(
        (*(public_weights.Group(group, needed=True) for group in groups), *distance_head_names("model.22", "head"))
    )


YOLOv8.public_names = _names()


def _create(width: float, depth: float, classes: int, most: int = 1024) -> YOLOv8:
    """A size of the family: ``most`` limits the channels before they are scaled."""
    return YOLOv8(
        classes,
        [scale_channels(min(n, most), width) for n in (64, 128, 256, 512, 1024)],
        [scale_depth(n, depth) for n in (3, 6, 6, 3)],
        scale_depth(3, depth),
    )


def _small() -> tuple[YOLOv8, tuple[Spec, ...]]:
    return YOLOv8(3, (4, 8, 8, 8, 16), (1, 1, 1, 1)), (Spec((None, 3, 64, 32)),)


_register = functools.partial(
    zoo.register,
    "object detection",
    inputs=zoo.images(640),
    paper=_PAPER,
    from_public=YOLOv8.public_names.from_public,
)


@_register(parameters=3_157_200, small=_small)
def yolov8n(classes: int = 80) -> YOLOv8:
    """YOLOv8 nano, a detector without anchors (Jocher et al., 2023)."""
    return _create(0.25, 0.33, classes)


@_register(parameters=11_166_560)
def yolov8s(classes: int = 80) -> YOLOv8:
    """YOLOv8 small, a detector without anchors (Jocher et al., 2023)."""
    return _create(0.5, 0.33, classes)


@_register(parameters=25_902_640)
def yolov8m(classes: int = 80) -> YOLOv8:
    """YOLOv8 medium, a detector without anchors (Jocher et al., 2023)."""
    return _create(0.75, 0.67, classes, 768)


@_register(parameters=43_691_520)
def yolov8l(classes: int = 80) -> YOLOv8:
    """YOLOv8 large, a detector without anchors (Jocher et al., 2023)."""
    return _create(1.0, 1.0, classes, 512)


@_register(parameters=68_229_648)
def yolov8x(classes: int = 80) -> YOLOv8:
    """YOLOv8 extra large, a detector without anchors (Jocher et al., 2023)."""
    return _create(1.25, 1.0, classes, 512)
