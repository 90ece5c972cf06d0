"""YOLOv6: a detector without anchors, of RepVGG blocks that become single convolutions in deployment (Li et al., 2023)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.cells import STRIDES, Cells, boxes_from_distances, only_raw
from labdl.models.vision.csp import convolution, convolution_names
from labdl.models.vision.detection_losses import YOLOv6Loss
from labdl.models.vision.detector_form import DetectorForm, columns_as_rows, letterbox
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.rep_vgg import RepVGGBlock
from labdl.spec import Spec

_relu = functools.partial(convolution, activation="relu")


class RepBlock(nn.Module):
    """``depth`` RepVGG blocks in a row, which keep the shape."""

    def __init__(self, channels: int, depth: int):
        self.first = RepVGGBlock(channels, identity=True)
        self.rest = nn.ModuleList(RepVGGBlock(channels, identity=True) for _ in range(depth - 1))

    def forward(self, x):
        x = self.first(x)
        for block in self.rest:
            x = block(x)
        return x


class CSPSPPF(nn.Module):
    """Three max pools of one window in a row on one branch of convolutions, merged with another: (N, C, H, W) to itself."""

    def __init__(self, channels: int):
        half = channels // 2
        self.enter = nn.Sequential(_relu(half), _relu(half, 3), _relu(half))
        self.around = _relu(half)
        self.pool = nn.MaxPool2d(5, stride=1, padding=2)
        self.leave = nn.Sequential(_relu(half), _relu(half, 3))
        self.merge = _relu(channels)

    def forward(self, x):
        parts = [self.enter(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.merge(ops.concat([self.around(x), self.leave(ops.concat(parts, axis=1))], axis=1))


class Backbone(nn.Module):
    """RepVGG blocks of stride 2, each with more blocks after it: an image to maps at strides 4, 8, 16 and 32."""

    def __init__(self, channels: Sequence[int], depths: Sequence[int]):
        self.stem = RepVGGBlock(channels[0], stride=2)
        self.stages = nn.ModuleList(
            nn.Sequential(RepVGGBlock(width, stride=2), RepBlock(width, depth))
            for width, depth in zip(channels[1:], depths, strict=True)
        )
        self.pyramid = CSPSPPF(channels[-1])

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return *maps[:-1], self.pyramid(maps[-1])


class BiFusion(nn.Module):
    """Merges a coarse, an own and a fine map to one of the size of the own one, with so many channels."""

    def __init__(self, channels: int):
        self.double = nn.ConvTranspose2d(channels, kernel_size=2, stride=2)
        self.own = _relu(channels)
        self.fine = nn.Sequential(_relu(channels), _relu(channels, 3, 2))
        self.merge = _relu(channels)

    def forward(self, coarse, own, fine):
        return self.merge(ops.concat([self.double(coarse), self.own(own), self.fine(fine)], axis=1))


class RepBiPAN(nn.Module):
    """Four maps, merged from the coarsest to the finest and back, to three at strides 8, 16 and 32.

    ``channels`` are those of the maps after the two mergings down, the coarser first; the results have the second, twice the
    second, and twice the first.
    """

    def __init__(self, channels: tuple[int, int], depth: int):
        coarse, fine = channels
        self.lateral = nn.ModuleList([_relu(coarse), _relu(fine)])
        self.fusions = nn.ModuleList([BiFusion(coarse), BiFusion(fine)])
        self.down = nn.ModuleList([RepBlock(coarse, depth), RepBlock(fine, depth)])
        self.reduce = nn.ModuleList([_relu(fine, 3, 2), _relu(coarse, 3, 2)])
        self.up = nn.ModuleList([RepBlock(2 * fine, depth), RepBlock(2 * coarse, depth)])

    def forward(self, *maps):
        second, third, fourth, x = maps
        first = self.lateral[0](x)
        middle = self.lateral[1](self.down[0](self.fusions[0](first, fourth, third)))
        fine = self.down[1](self.fusions[1](middle, third, second))
        joint = self.up[0](ops.concat([self.reduce[0](fine), middle], axis=1))
        return fine, joint, self.up[1](ops.concat([self.reduce[1](joint), first], axis=1))


class Head(nn.Module):
    """Distances to the four sides and logits of the classes of each cell of three maps, by two branches of convolutions."""

    def __init__(self, classes: int, channels: Sequence[int], strides: Sequence[int] = STRIDES):
        self.stems = nn.ModuleList(convolution(n) for n in channels)
        self.distances = nn.ModuleList(nn.Sequential(convolution(n, 3), nn.Conv2d(4, kernel_size=1)) for n in channels)
        self.classes = nn.ModuleList(
            nn.Sequential(convolution(n, 3), nn.Conv2d(classes, kernel_size=1)) for n in channels
        )
        self.cells = Cells(strides)

    def forward(self, *maps):
        inner = [stem(x) for stem, x in zip(self.stems, maps, strict=True)]
        distances, logits = (
            ops.concat([ops.flatten(branch(x), 2) for branch, x in zip(branches, inner, strict=True)], axis=2)
            for branches in (self.distances, self.classes)
        )
        if only_raw(self, maps[0]):
            return distances, logits
        return distances, logits, boxes_from_distances(distances, *self.cells(*maps)), ops.sigmoid(logits)

    def initial_biases(self) -> dict[str, np.ndarray]:
        """Biases before a training, by name: one cell of a hundred has an object, and first distances are one cell."""
        values = {}
        for at in range(len(self.cells.strides)):
            branch: Any = self.classes[at]
            count = branch[1].bias.shape[0]
            values[f"classes/{at}/1/bias:0"] = np.full(count, -np.log(99), "float32")
            values[f"distances/{at}/1/bias:0"] = np.ones(4, "float32")
        return values


class YOLOv6(nn.Module):
    """Images (N, 3, H, W), sizes multiples of 32, to boxes and classes of (H / 8)(W / 8) + (H / 16)(W / 16) + … cells.

    In training it gives the raw heads: distances to the four sides (N, 4, cells) in cells, and logits of the classes (N,
    classes, cells). In evaluation, and in its graph, two more outputs follow: boxes (N, 4, cells) as center and size in
    pixels, and probabilities (N, classes, cells). ``channels`` are those of the stem and the four stages, ``depths`` the blocks
    of the stages, ``neck`` those of each merging, of which ``neck_channels`` are the `RepBiPAN`'s. Raises ValueError for
    images of other sizes.
    """

    public_names: ClassVar[public_weights.PublicNames]
    detector_form: ClassVar[DetectorForm] = letterbox(
        columns_as_rows, YOLOv6Loss, threshold=0.4, iou_threshold=0.45, max_detections=1000, candidates=30_000
    )

    def __init__(
        self,
        classes: int = 80,
        channels: Sequence[int] = (16, 32, 64, 128, 256),
        depths: Sequence[int] = (2, 4, 6, 2),
        neck: int = 4,
        neck_channels: tuple[int, int] = (64, 32),
    ):
        coarse, fine = neck_channels
        self.backbone = Backbone(channels, depths)
        self.neck = RepBiPAN(neck_channels, neck)
        self.head = Head(classes, (fine, 2 * fine, 2 * coarse))

    def forward(self, x):
        check_sizes("YOLOv6", x, least=32, multiple=32)
        return self.head(*self.neck(*self.backbone(x)))

    def published_outputs(self, x):
        """Rows of box, 1 and classes (N, cells, 5 + classes), and the maps of the neck, which the authors' program gives."""
        maps = self.neck(*self.backbone(x))
        _, _, boxes, probabilities = self.head(*maps)
        rows = ops.concat([boxes, ops.ones_like(boxes[:, :1]), probabilities], axis=1)
        return ops.permute_dims(rows, (0, 2, 1)), *maps


def _repvgg_names(public: str, ours: str, *, identity: bool = True) -> list[public_weights.WeightMapping]:
    return [
        *convolution_names(f"{public}.rbr_dense", f"{ours}/dense"),
        *convolution_names(f"{public}.rbr_1x1", f"{ours}/pointwise"),
        *(public_weights.batch_norm(f"{public}.rbr_identity", f"{ours}/identity") if identity else ()),
    ]


def _names() -> public_weights.PublicNames:
    stages = [(f"backbone.ERBlock_{at + 2}", f"backbone/stages/{at}") for at in range(4)]
    entries = [("backbone.stem", "backbone/stem"), *((f"{there}.0", f"{ours}/0") for there, ours in stages)]
    rows = {f"{there}.1": f"{ours}/1" for there, ours in stages}
    rows |= {"neck.Rep_p4": "neck/down/0", "neck.Rep_p3": "neck/down/1"}
    rows |= {"neck.Rep_n3": "neck/up/0", "neck.Rep_n4": "neck/up/1"}
    pyramid = ("enter/0", "around", "enter/1", "enter/2", "leave/0", "leave/1", "merge")
    single = {f"backbone.ERBlock_5.2.cspsppf.cv{n}": f"backbone/pyramid/{part}" for n, part in enumerate(pyramid, 1)}
    fusions = {"cv1": "own", "cv2": "fine/0", "downsample": "fine/1", "cv3": "merge"}
    for at in range(2):
        single |= {f"neck.reduce_layer{at}": f"neck/lateral/{at}", f"neck.downsample{2 - at}": f"neck/reduce/{at}"}
        single |= {f"neck.Bifusion{at}.{there}": f"neck/fusions/{at}/{ours}" for there, ours in fusions.items()}
    branches = {"cls": "classes", "reg": "distances"}
    groups = [
        *(public_weights.Group(_repvgg_names(*pair, identity=False), needed=True) for pair in entries),
        *(
            public_weights.Group(_repvgg_names(f"{there}.conv1", f"{ours}/first"), needed=True)
            for there, ours in rows.items()
        ),
        *(
            public_weights.Group(_repvgg_names(f"{there}.block.{{}}", f"{ours}/rest/{{}}"))
            for there, ours in rows.items()
        ),
        public_weights.Group(
            *(convolution_names(f"{there}.block", ours) for there, ours in single.items()),
            *(
                public_weights.transposed_convolution(
                    f"neck.Bifusion{at}.upsample.upsample_transpose", f"neck/fusions/{at}/double"
                )
                for at in range(2)
            ),
            needed=True,
        ),
        public_weights.Group(
            convolution_names("detect.stems.{}.block", "head/stems/{}"),
            *(
                convolution_names(f"detect.{there}_convs.{{}}.block", f"head/{ours}/{{}}/0")
                for there, ours in branches.items()
            ),
            *(
                public_weights.convolution(f"detect.{there}_preds.{{}}", f"head/{ours}/{{}}/1")
                for there, ours in branches.items()
            ),
            needed=True,
        ),
    ]
    # the bins of sizes that predict distributions, which n and s do not
    return public_weights.PublicNames(tuple(groups), ignored=r"detect\.proj(_conv\.weight)?")


YOLOv6.public_names = _names()


def _small() -> tuple[YOLOv6, tuple[Spec, ...]]:
    return YOLOv6(3, (4, 8, 8, 8, 16), (1, 2, 1, 1), 1, (8, 4)), (Spec((None, 3, 64, 32)),)


_register = functools.partial(
    zoo.register,
    "object detection",
    inputs=zoo.images(640),
    paper="https://arxiv.org/abs/2301.05586",
    from_public=YOLOv6.public_names.from_public,
)


# published counts are 34 higher, by the bins that are not used
@_register(parameters=5_058_236, small=_small)
def yolov6n(classes: int = 80) -> YOLOv6:
    """YOLOv6 nano, a detector without anchors, with the branches of its training (Li et al., 2023)."""
    return YOLOv6(classes)


@_register(parameters=20_147_324)
def yolov6s(classes: int = 80) -> YOLOv6:
    """YOLOv6 small, a detector without anchors, with the branches of its training (Li et al., 2023)."""
    return YOLOv6(classes, (32, 64, 128, 256, 512), neck_channels=(128, 64))
