"""RetinaNet: a subnet for boxes and one for classes over the maps of a pyramid (Lin et al., 2017)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.anchor_boxes import AnchorBoxes, cell_anchors, rows_of_anchors
from labdl.models.vision.cells import only_raw
from labdl.models.vision.detection_losses import RetinaNetLoss
from labdl.models.vision.detector_form import DetectorForm, last_two, on_pyramid
from labdl.models.vision.feature_pyramid import ResNetPyramid, pyramid_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.models.vision.resnet_encoder import SIZES
from labdl.nn.parameter import Parameter
from labdl.spec import Spec

_INIT = "normal(std=0.01)"
_PRIOR = -4.59511985013459  # log(0.01 / 0.99): at first one anchor of a hundred is an object
SIDES = (32, 64, 128, 256, 512)  # of the smallest anchors of each map


class Subnet(nn.Module):
    """Four 3 x 3 convolutions with ReLU and one to ``outputs`` channels: (N, C, H, W) to (N, outputs, H, W)."""

    def __init__(self, channels: int, outputs: int, bias: float = 0.0):
        self.layers = nn.ModuleList(nn.Conv2d(channels, kernel_size=3, padding=1, kernel_init=_INIT) for _ in range(4))
        self.last = nn.Conv2d(outputs, kernel_size=3, padding=1, use_bias=False, kernel_init=_INIT)
        self.bias = Parameter((outputs,), f"constant({bias})")

    def forward(self, x):
        for layer in self.layers:
            x = ops.relu(layer(x))
        return self.last(x) + ops.reshape(self.bias, (1, -1, 1, 1))


class RetinaNet(nn.Module):
    """Images (N, 3, H, W), sizes multiples of 32, to boxes and classes of nine anchors in each cell of five maps.

    In training it gives offsets (N, anchors, 4), logits (N, anchors, classes), each class for itself, and the anchors (N,
    anchors, 4) as corners in pixels. In evaluation, and in its graph, two more outputs follow: the boxes (N, anchors, 4) as
    corners in pixels, and probabilities (N, anchors, classes)::

        model = labdl.models.create("retinanet_resnet50_fpn", classes=3).build().eval()
        offsets, logits, anchors, boxes, probabilities = model(images)

    ``block``, ``depths`` and ``width`` are those of the `ResNet`, ``channels`` those of the pyramid, ``sides`` the sides of the
    smallest anchors of the maps. Raises ValueError for images of other sizes.
    """

    public_names: ClassVar[public_weights.PublicNames]
    # torchvision takes the best 1000 candidates of each map, this the best 5000 of all
    detector_form: ClassVar[DetectorForm] = on_pyramid(
        last_two, lambda _: RetinaNetLoss(), takes_sizes=False, clip_first=True, max_detections=300, candidates=5000
    )

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        classes: int = 91,
        *,
        width: int = 64,
        channels: int = 256,
        sides: Sequence[int] = SIDES,
    ):
        self.backbone = ResNetPyramid(block, depths, width=width, channels=channels, skip=1, coarser=True)
        self.anchors = AnchorBoxes([cell_anchors([int(side * 2 ** (n / 3)) for n in range(3)]) for side in sides])
        count = self.anchors.counts[0]
        self.columns = classes
        self.offsets = Subnet(channels, 4 * count)
        self.classes = Subnet(channels, classes * count, _PRIOR)

    def forward(self, x):
        check_sizes("RetinaNet", x, least=32, multiple=32)
        maps = self.backbone(x)
        offsets, logits = (
            ops.concat([rows_of_anchors(subnet(y), n) for y in maps], axis=1)
            for subnet, n in ((self.offsets, 4), (self.classes, self.columns))
        )
        anchors = ops.zeros_like(offsets) + self.anchors(x, *maps)
        if only_raw(self, x):
            return offsets, logits, anchors
        return offsets, logits, anchors, ops.box_decode(offsets, anchors), ops.sigmoid(logits)


def _last_names(public: str, ours: str) -> list[public_weights.WeightMapping]:
    kernel = public_weights.convolution(public, f"{ours}/last", use_bias=False)
    return [*kernel, *public_weights.plain(f"{public}.bias", f"{ours}/bias:0")]


RetinaNet.public_names = public_weights.PublicNames(
    (
        *pyramid_names("backbone", "backbone"),
        public_weights.Group(
            public_weights.convolution("head.classification_head.conv.{}.0", "classes/layers/{}"), needed=True
        ),
        public_weights.Group(
            public_weights.convolution("head.regression_head.conv.{}.0", "offsets/layers/{}"), needed=True
        ),
        public_weights.Group(
            _last_names("head.classification_head.cls_logits", "classes"),
            _last_names("head.regression_head.bbox_reg", "offsets"),
            needed=True,
        ),
    )
)


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's RetinaNet; raises StateDictError naming what is missing or unexpected."""
    return RetinaNet.public_names.from_public(weights)


def _small() -> tuple[RetinaNet, tuple[Spec, ...]]:
    model = RetinaNet(BasicBlock, (1, 1, 1, 1), 3, width=4, channels=8)
    return model, (Spec((None, 3, 64, 32)),)


_register = functools.partial(
    zoo.register,
    "object detection",
    inputs=zoo.images(800),
    paper="https://arxiv.org/abs/1708.02002",
    from_public=from_torchvision,
)


@_register(parameters=21_038_871, small=_small)
def retinanet_resnet18_fpn(classes: int = 91) -> RetinaNet:
    """RetinaNet on ResNet-18 with a feature pyramid; class 0 is not used, as published (Lin et al., 2017)."""
    return RetinaNet(*SIZES[18], classes)


@_register(parameters=34_014_999)
def retinanet_resnet50_fpn(classes: int = 91) -> RetinaNet:
    """RetinaNet on ResNet-50 with a feature pyramid; class 0 is not used, as published (Lin et al., 2017)."""
    return RetinaNet(*SIZES[50], classes)
