"""YOLOv7 and YOLOv7-tiny: detectors of layer aggregation blocks with anchors (Wang et al., 2023)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.public_weights import WeightMapping
from labdl.models import zoo
from labdl.models.vision.anchor_head import ANCHORS, YOLOV7_ANCHORS, AnchorHead, Anchors, anchor_head_names
from labdl.models.vision.conv_norm import conv_norm_names
from labdl.models.vision.csp import convolution, convolution_names
from labdl.models.vision.detection_losses import YOLOv7Loss
from labdl.models.vision.detector_form import DetectorForm, letterbox, rows_with_objectness
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.rep_vgg import RepVGGBlock
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/2207.02696"
_WINDOWS = (5, 9, 13)  # of the pyramid's pools


class LeakyConvolution(nn.Module):
    """A convolution without bias, batch normalization and a leaky ReLU of slope 0.1."""

    def __init__(self, channels: int, kernel_size: int = 1, stride: int = 1):
        self.block = convolution(channels, kernel_size, stride, activation=None)

    def forward(self, x):
        return ops.leaky_relu(self.block(x), negative_slope=0.1)


Convolution = Callable[..., nn.Module]


class ELAN(nn.Module):
    """Efficient layer aggregation: 3 x 3 convolutions in a row, of which several results are merged by a 1 x 1 one.

    Two 1 x 1 convolutions to ``inner`` channels enter; the row of ``depth`` convolutions to ``hidden`` channels goes on from
    the second. Merged are both and the result of every ``step``-th of the row, from the last one back.
    """

    def __init__(self, channels: int, inner: int, hidden: int, depth: int, step: int, convolution: Convolution):
        self.around, self.enter = convolution(inner), convolution(inner)
        self.row = nn.ModuleList([convolution(hidden, 3) for _ in range(depth)])
        self.merge = convolution(channels)
        self.step = step

    def forward(self, x):
        around, y = self.around(x), self.enter(x)
        parts = [around, y]
        for at, layer in enumerate(self.row, 1):
            y = layer(y)
            if at % self.step == 0:
                parts.append(y)
        return self.merge(ops.concat(parts[::-1], axis=1))


class Reduction(nn.Module):
    """Half the size by a convolution of stride 2 and by a max pool, side by side: (N, C, H, W) to (N, 2 channels, …)."""

    def __init__(self, channels: int):
        self.pool, self.after = nn.MaxPool2d(2), convolution(channels)
        self.before, self.reduce = convolution(channels), convolution(channels, 3, 2)

    def forward(self, x):
        return ops.concat([self.reduce(self.before(x)), self.after(self.pool(x))], axis=1)


class _Pools(nn.Module):
    """The input after max pools of windows 13, 9 and 5, then itself, side by side."""

    def __init__(self):
        self.pools = nn.ModuleList([nn.MaxPool2d(k, stride=1, padding=k // 2) for k in _WINDOWS])

    def forward(self, x):
        return [x, *(pool(x) for pool in self.pools)]


class SPPCSPC(nn.Module):
    """Spatial pyramid pooling on one part of the channels, the other part around it."""

    def __init__(self, channels: int):
        self.enter = nn.Sequential(convolution(channels), convolution(channels, 3), convolution(channels))
        self.around = convolution(channels)
        self.pools = _Pools()
        self.leave = nn.Sequential(convolution(channels), convolution(channels, 3))
        self.merge = convolution(channels)

    def forward(self, x):
        y = self.leave(ops.concat(self.pools(self.enter(x)), axis=1))
        return self.merge(ops.concat([y, self.around(x)], axis=1))


class TinySPP(nn.Module):
    """As `SPPCSPC`, with one convolution before the pools and one after them."""

    def __init__(self, channels: int, convolution: Convolution):
        self.around, self.enter = convolution(channels), convolution(channels)
        self.pools = _Pools()
        self.leave, self.merge = convolution(channels), convolution(channels)

    def forward(self, x):
        y = self.leave(ops.concat(self.pools(self.enter(x))[::-1], axis=1))
        return self.merge(ops.concat([y, self.around(x)], axis=1))


class Backbone(nn.Module):
    """A stem, four stages and a pyramid: an image to maps at strides 8, 16 and 32."""

    def __init__(self, stem: nn.Module, stages: Sequence[nn.Module], pyramid: nn.Module):
        self.stem, self.stages, self.pyramid = stem, nn.ModuleList(stages), pyramid

    def forward(self, x):
        maps = [self.stem(x)]
        for stage in self.stages:
            maps.append(stage(maps[-1]))
        return maps[2], maps[3], self.pyramid(maps[4])


class PathAggregation(nn.Module):
    """Three maps, merged from the coarsest to the finest and back, to ``channels``, twice and four times as many.

    ``block(channels)`` merges, ``reduce(channels)`` halves the size of a map of so many channels.
    """

    def __init__(self, channels: int, convolution: Convolution, block: Convolution, reduce: Convolution):
        self.enlarge = nn.Upsample(scale=2.0)
        self.enter = nn.ModuleList([convolution(2 * channels), convolution(channels)])
        self.lateral = nn.ModuleList([convolution(2 * channels), convolution(channels)])
        self.down = nn.ModuleList([block(2 * channels), block(channels)])
        self.reduce = nn.ModuleList([reduce(channels), reduce(2 * channels)])
        self.up = nn.ModuleList([block(2 * channels), block(4 * channels)])

    def forward(self, fine, middle, coarse):
        merged = self.enlarge(self.enter[0](coarse))
        merged = self.down[0](ops.concat([self.lateral[0](middle), merged], axis=1))
        enlarged = self.enlarge(self.enter[1](merged))
        fine = self.down[1](ops.concat([self.lateral[1](fine), enlarged], axis=1))
        middle = self.up[0](ops.concat([self.reduce[0](fine), merged], axis=1))
        return fine, middle, self.up[1](ops.concat([self.reduce[1](middle), coarse], axis=1))


class YOLOv7(nn.Module):
    """Images (N, 3, H, W), sizes multiples of 32, to boxes and classes of each anchor in each cell of three maps.

    The outputs are those of `labdl.models.vision.yolov5.YOLOv5`: the raw maps, and in evaluation the decoded rows (N, boxes,
    5 + classes). ``channels`` are those of the finest merged map, 128 in the paper and 64 in the ``tiny`` network, of which
    all others are multiples. The large one has SiLU and ends in RepVGG blocks, the tiny one has leaky ReLUs. Raises
    ValueError for images of other sizes.
    """

    def __init__(
        self, classes: int = 80, channels: int = 128, *, tiny: bool = False, anchors: Anchors = YOLOV7_ANCHORS
    ):
        ends = [2 * channels, 4 * channels, 8 * channels]
        if tiny:
            self.backbone = _tiny_backbone(channels)
            self.neck = PathAggregation(
                channels,
                LeakyConvolution,
                lambda n: ELAN(n, n // 2, n // 2, 2, 1, LeakyConvolution),
                lambda n: LeakyConvolution(2 * n, 3, 2),
            )
            self.ends = nn.ModuleList([LeakyConvolution(n, 3) for n in ends])
        else:
            self.backbone = _backbone(channels)
            self.neck = PathAggregation(
                channels, convolution, lambda n: ELAN(n, n, n // 2, 4, 1, convolution), Reduction
            )
            self.ends = nn.ModuleList([RepVGGBlock(n, activation="silu") for n in ends])
        self.head = AnchorHead(classes, anchors)
        self.tiny = tiny

    def forward(self, x):
        check_sizes("YOLOv7", x, least=32, multiple=32)
        maps = self.neck(*self.backbone(x))
        return self.head(*(end(y) for end, y in zip(self.ends, maps, strict=True)))

    @property
    def detector_form(self) -> DetectorForm:
        """The steps before and after the model."""
        sides = self.head.sides
        settings = {"threshold": 0.25, "iou_threshold": 0.45, "max_detections": 300, "candidates": 30_000}
        return letterbox(rows_with_objectness, lambda _: YOLOv7Loss(sides), **settings)

    @property
    def public_names(self) -> public_weights.PublicNames:
        """The names of the published weights, which number all layers from the image on."""
        return public_names(tiny=self.tiny)


def _backbone(n: int) -> Backbone:
    stem = nn.Sequential(
        convolution(n // 4, 3), convolution(n // 2, 3, 2), convolution(n // 2, 3), convolution(n, 3, 2)
    )
    stages: list[nn.Module] = [ELAN(2 * n, n // 2, n // 2, 4, 2, convolution)]
    for channels, inner in ((4 * n, n), (8 * n, 2 * n), (8 * n, 2 * n)):
        before = (2 * n, 4 * n, 8 * n)[len(stages) - 1]
        stages.append(nn.Sequential(Reduction(before // 2), ELAN(channels, inner, inner, 4, 2, convolution)))
    return Backbone(stem, stages, SPPCSPC(4 * n))


def _tiny_backbone(n: int) -> Backbone:
    stem = nn.Sequential(LeakyConvolution(n // 2, 3, 2), LeakyConvolution(n, 3, 2))
    blocks = [ELAN(2 * inner, inner, inner, 2, 1, LeakyConvolution) for inner in (n // 2, n, 2 * n, 4 * n)]
    stages = [blocks[0], *(nn.Sequential(nn.MaxPool2d(2), block) for block in blocks[1:])]
    return Backbone(stem, stages, TinySPP(4 * n, LeakyConvolution))


# numbers of the layers that the published networks have in a list, by their paths here
_LARGE = {
    **{at: f"backbone/stem/{at}" for at in range(4)},
    51: "backbone/pyramid",
    **{52: "neck/enter/0", 54: "neck/lateral/0", 64: "neck/enter/1", 66: "neck/lateral/1"},
}
_LARGE_BLOCKS = {
    **{4: "backbone/stages/0", 17: "backbone/stages/1/1", 30: "backbone/stages/2/1", 43: "backbone/stages/3/1"},
    **{56: "neck/down/0", 68: "neck/down/1", 81: "neck/up/0", 94: "neck/up/1"},
}
_LARGE_REDUCTIONS = {
    **{12: "backbone/stages/1/0", 25: "backbone/stages/2/0", 38: "backbone/stages/3/0"},
    **{76: "neck/reduce/0", 89: "neck/reduce/1"},
}
_TINY = {
    **{0: "backbone/stem/0", 1: "backbone/stem/1"},
    **{29: "backbone/pyramid/around", 30: "backbone/pyramid/enter"},
    **{35: "backbone/pyramid/leave", 37: "backbone/pyramid/merge"},
    **{38: "neck/enter/0", 40: "neck/lateral/0", 48: "neck/enter/1", 50: "neck/lateral/1"},
    **{58: "neck/reduce/0", 66: "neck/reduce/1", 74: "ends/0", 75: "ends/1", 76: "ends/2"},
}
_TINY_BLOCKS = {
    **{2: "backbone/stages/0", 9: "backbone/stages/1/1", 16: "backbone/stages/2/1", 23: "backbone/stages/3/1"},
    **{42: "neck/down/0", 52: "neck/down/1", 60: "neck/up/0", 68: "neck/up/1"},
}


def _elan_numbers(first: int, ours: str, depth: int) -> dict[int, str]:
    row = {first + 2 + at: f"{ours}/row/{at}" for at in range(depth)}
    return {first: f"{ours}/around", first + 1: f"{ours}/enter", **row, first + depth + 3: f"{ours}/merge"}


def _pyramid_names(public: str, ours: str) -> list[WeightMapping]:
    parts = ("enter/0", "around", "enter/1", "enter/2", "leave/0", "leave/1", "merge")
    return [
        mapping
        for at, part in enumerate(parts, 1)
        for mapping in convolution_names(f"{public}.cv{at}", f"{ours}/{part}")
    ]


def _end_names(public: str, ours: str) -> list[WeightMapping]:
    return [
        *conv_norm_names(f"{public}.rbr_dense.0", f"{public}.rbr_dense.1", f"{ours}/dense"),
        *conv_norm_names(f"{public}.rbr_1x1.0", f"{public}.rbr_1x1.1", f"{ours}/pointwise"),
    ]


def public_names(*, tiny: bool = False) -> public_weights.PublicNames:
    """The published names of a YOLOv7."""
    layers, blocks, depth = (_TINY, _TINY_BLOCKS, 2) if tiny else (_LARGE, _LARGE_BLOCKS, 4)
    numbers = {at: path for at, path in layers.items() if path != "backbone/pyramid"}
    for first, ours in blocks.items():
        numbers |= _elan_numbers(first, ours, depth)
    special: list[list[WeightMapping]] = []
    if not tiny:
        for first, ours in _LARGE_REDUCTIONS.items():
            numbers |= {first + 1: f"{ours}/after", first + 2: f"{ours}/before", first + 3: f"{ours}/reduce"}
        special = [_pyramid_names("model.51", "backbone/pyramid")]
        special += [_end_names(f"model.{102 + at}", f"ends/{at}") for at in range(3)]
    inside = "/block" if tiny else ""
    groups = [*(convolution_names(f"model.{at}", ours + inside) for at, ours in numbers.items()), *special]
    head = "model.77" if tiny else "model.105"
    return public_weights.PublicNames(
        (*(public_weights.Group(group, needed=True) for group in groups), *anchor_head_names(head, "head")),
        ignored=rf"{head}\.anchor_grid",  # the anchors again
    )


def _small() -> tuple[YOLOv7, tuple[Spec, ...]]:
    return YOLOv7(3, 8), (Spec((None, 3, 64, 32)),)


def _small_tiny() -> tuple[YOLOv7, tuple[Spec, ...]]:
    return YOLOv7(3, 8, tiny=True, anchors=ANCHORS), (Spec((None, 3, 64, 32)),)


_register = functools.partial(zoo.register, "object detection", inputs=zoo.images(640), paper=_PAPER)


@_register(parameters=6_227_101, from_public=public_names(tiny=True).from_public, small=_small_tiny)
def yolov7_tiny(classes: int = 80) -> YOLOv7:
    """YOLOv7-tiny, a detector with anchors and leaky ReLUs (Wang et al., 2023)."""
    return YOLOv7(classes, 64, tiny=True, anchors=ANCHORS)


@_register(parameters=37_620_125, from_public=public_names().from_public, small=_small)
def yolov7(classes: int = 80) -> YOLOv7:
    """YOLOv7, a detector with anchors that ends in RepVGG blocks (Wang et al., 2023)."""
    return YOLOv7(classes)
