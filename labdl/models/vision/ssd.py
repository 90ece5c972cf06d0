"""SSD: boxes of several maps of a network in one pass, from default boxes (Liu et al., 2016), on VGG-16 as in torchvision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.anchor_boxes import WEIGHTS, AnchorBoxes, Corners, rows_of_anchors
from labdl.models.vision.cells import only_raw
from labdl.models.vision.detector_form import DetectorForm, single_shot
from labdl.models.vision.image_size import check_sizes
from labdl.nn.parameter import Parameter
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1512.02325"
_HE, _GLOROT = "he_normal(mode='fan_out')", "glorot_uniform"


def default_boxes(
    ratios: Sequence[Sequence[float]], scales: Sequence[float], strides: Sequence[float], size: int
) -> list[Corners]:
    """The default boxes of the first cell of each map, as corners in pixels of an image of that size.

    ``scales`` are shares of the image, one more than there are maps: each map has a square of its scale, one between it and
    the next, and for each of its ``ratios`` a wide and a tall box. None is larger than the image.
    """
    cells = []
    for at, (of_map, stride) in enumerate(zip(ratios, strides, strict=True)):
        scale = scales[at]
        between = math.sqrt(scale * scales[at + 1])
        sizes = [(scale, scale), (between, between)]
        for ratio in of_map:
            long, short = scale * math.sqrt(ratio), scale / math.sqrt(ratio)
            sizes += [(long, short), (short, long)]
        halves = [(min(w, 1.0) * size / 2, min(h, 1.0) * size / 2) for w, h in sizes]
        cells.append([(stride / 2 - w, stride / 2 - h, stride / 2 + w, stride / 2 + h) for w, h in halves])
    return cells


class L2Normalize(nn.Module):
    """Divides each position of (N, C, H, W) by its norm over the channels and scales them (Liu et al., 2015)."""

    def __init__(self, channels: int):
        self.scale = Parameter((channels,), "constant(20.0)")

    def forward(self, x):
        return ops.normalize(x, axis=1) * ops.reshape(self.scale, (1, -1, 1, 1))


def _convolution(channels: int, kernel_size: int = 3, stride: int = 1, *, padding: int = 1, init: str = _GLOROT):
    return nn.Conv2d(channels, kernel_size=kernel_size, stride=stride, padding=padding, kernel_init=init)


class VGGFeatures(nn.Module):
    """VGG-16 with more layers at its end: images (N, 3, H, W) to maps from stride 8 on, the first one normalized.

    ``widths`` are the channels of the five stages, ``hidden`` those of the two convolutions that replace its linear layers,
    and ``extras`` the channels, the channels after and the stride of each further pair; stride 1 takes a border away.
    """

    def __init__(
        self,
        widths: Sequence[int] = (64, 128, 256, 512, 512),
        hidden: int = 1024,
        extras: Sequence[tuple[int, int, int]] = ((256, 512, 2), (128, 256, 2), (128, 256, 1), (128, 256, 1)),
    ):
        self.stages = nn.ModuleList(
            nn.ModuleList(_convolution(width, init=_HE) for _ in range(depth))
            for width, depth in zip(widths, (2, 2, 3, 3, 3), strict=True)
        )
        self.norm = L2Normalize(widths[3])
        self.pool, self.pool_up = nn.MaxPool2d(2), nn.MaxPool2d(2, ceil_mode=True)
        self.pool_last = nn.MaxPool2d(3, stride=1, padding=1)
        self.hidden = nn.ModuleList(
            [
                nn.Conv2d(hidden, kernel_size=3, padding=6, dilation=6, kernel_init=_GLOROT),
                _convolution(hidden, 1, padding=0),
            ]
        )
        self.extras = nn.ModuleList(
            nn.ModuleList([_convolution(inner, 1, padding=0), _convolution(outer, 3, stride, padding=stride - 1)])
            for inner, outer, stride in extras
        )

    def forward(self, x):
        maps = []
        for at, stage in enumerate(self.stages):
            if at:  # the third pooling keeps the last row of an odd size
                x = (self.pool_up if at == 3 else self.pool)(x)
            x = _activate(stage, x)
            if at == 3:
                maps.append(self.norm(x))
        maps.append(_activate(self.hidden, self.pool_last(x)))
        for pair in self.extras:
            maps.append(_activate(pair, maps[-1]))
        return tuple(maps)


def _activate(layers, x):
    for layer in cast(nn.ModuleList, layers):
        x = ops.relu(layer(x))
    return x


def _form(size: int) -> DetectorForm:
    """Values are those of bytes, less the mean of ImageNet, as VGG-16 was trained by its authors."""
    settings = {"threshold": 0.01, "iou_threshold": 0.45, "max_detections": 200, "candidates_per_class": 400}
    return single_shot(size, mean=(0.48235, 0.45882, 0.40784), deviation=1 / 255, **settings)


class SSD(nn.Module):
    """Images (N, 3, size, size) to boxes and classes of all default boxes of the maps of a backbone.

    In training it gives offsets (N, boxes, 4), logits (N, boxes, classes), class 0 being the background, and the default
    boxes (N, boxes, 4) as corners in pixels. In evaluation, and in its graph, two more outputs follow: the boxes (N, boxes,
    4) as corners in pixels, and probabilities (N, boxes, classes)::

        model = labdl.models.create("ssd300_vgg16", classes=3).build().eval()
        offsets, logits, default, boxes, probabilities = model(images)

    ``ratios``, ``scales`` and ``strides`` are those of `default_boxes`; ``predict`` makes the layer of a map that gives so many
    channels, ``form`` the steps before and after the model. Raises ValueError for images of another size.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        backbone: nn.Module,
        classes: int,
        ratios: Sequence[Sequence[float]],
        scales: Sequence[float],
        strides: Sequence[float],
        size: int = 300,
        predict: Callable[[int], nn.Module] = _convolution,
        form: Callable[[int], DetectorForm] = _form,
    ):
        self.backbone, self.detector_form = backbone, form(size)
        self.size, self.columns = size, classes
        self.anchors = AnchorBoxes(default_boxes(ratios, scales, strides, size), strides)
        self.offsets = nn.ModuleList(predict(4 * count) for count in self.anchors.counts)
        self.classes = nn.ModuleList(predict(classes * count) for count in self.anchors.counts)

    def forward(self, x):
        check_sizes("SSD", x, least=self.size, most=self.size)
        maps = self.backbone(x)
        offsets, logits = (
            ops.concat([rows_of_anchors(layer(y), n) for layer, y in zip(layers, maps, strict=True)], axis=1)
            for layers, n in ((self.offsets, 4), (self.classes, self.columns))
        )
        anchors = ops.zeros_like(offsets) + self.anchors(x, *maps)
        if only_raw(self, x):
            return offsets, logits, anchors
        boxes = ops.box_decode(offsets, anchors, WEIGHTS)
        return offsets, logits, anchors, boxes, ops.softmax(logits, axis=-1)


def _vgg_names() -> public_weights.PublicNames:
    layers = {}
    for stage, numbers in enumerate(((0, 2), (5, 7), (10, 12, 14), (17, 19, 21))):
        layers |= {f"features.{n}": f"stages/{stage}/{at}" for at, n in enumerate(numbers)}
    layers |= {f"extra.0.{n}": f"stages/4/{at}" for at, n in enumerate((1, 3, 5))}
    layers |= {"extra.0.7.1": "hidden/0", "extra.0.7.3": "hidden/1"}
    for at in range(4):
        layers |= {f"extra.{at + 1}.0": f"extras/{at}/0", f"extra.{at + 1}.2": f"extras/{at}/1"}
    heads = {"regression_head": "offsets", "classification_head": "classes"}
    return public_weights.PublicNames(
        (
            public_weights.Group(
                public_weights.plain("backbone.scale_weight", "backbone/norm/scale:0"),
                *(
                    public_weights.convolution(f"backbone.{there}", f"backbone/{ours}")
                    for there, ours in layers.items()
                ),
                needed=True,
            ),
            public_weights.Group(
                *(
                    public_weights.convolution(f"head.{there}.module_list.{{}}", f"{ours}/{{}}")
                    for there, ours in heads.items()
                ),
                needed=True,
            ),
        )
    )


SSD.public_names = _vgg_names()


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's SSD300; raises StateDictError naming what is missing or unexpected."""
    return SSD.public_names.from_public(weights)


def _small() -> tuple[SSD, tuple[Spec, ...]]:
    backbone = VGGFeatures((4, 4, 8, 8, 8), 16, ((16, 16, 2),))
    model = SSD(backbone, 4, ((2,), (2, 3), ()), (0.2, 0.4, 0.7, 1.0), (8, 16, 32), 64)
    return model, (Spec((None, 3, 64, 64)),)


@zoo.register(
    "object detection",
    inputs=zoo.images(300),
    parameters=35_641_826,
    paper=_PAPER,
    from_public=from_torchvision,
    small=_small,
)
def ssd300_vgg16(classes: int = 91) -> SSD:
    """SSD for images of 300 x 300 pixels, on VGG-16; class 0 is the background (Liu et al., 2016)."""
    return SSD(
        VGGFeatures(),
        classes,
        ((2,), (2, 3), (2, 3), (2, 3), (2,), (2,)),
        (0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05),
        (8, 16, 32, 64, 100, 300),
    )
