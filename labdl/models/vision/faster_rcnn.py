"""Faster R-CNN: proposals of a network, then a class and a better box for each, on a feature pyramid (Ren et al., 2015)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.anchor_boxes import WEIGHTS
from labdl.models.vision.cells import only_raw
from labdl.models.vision.detection_losses import FasterRCNNLoss
from labdl.models.vision.detection_losses.sampling import sample_regions
from labdl.models.vision.detector_form import DetectorForm, boxes_of_classes, on_pyramid
from labdl.models.vision.feature_pyramid import ResNetPyramid, pyramid_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.region_proposals import RegionProposals, clip_to_images, proposal_names
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.models.vision.resnet_encoder import SIZES
from labdl.spec import Spec

REGION_SHARE, REGION_OVERLAP = 0.25, 0.5  # of sampled regions with an object, and their overlap with it
SIDES = (32, 64, 128, 256, 512)  # of the anchors of each map
_SCALES = (1 / 4, 1 / 8, 1 / 16, 1 / 32)
_INIT = "variance_scaling(scale=0.3333333333333333, distribution='uniform')"  # torch.nn.Linear's


class BoxHead(nn.Module):
    """Logits (K, classes) and offsets (K, 4 * classes) of regions, from their features (K, C, 7, 7)."""

    def __init__(self, classes: int, hidden: int):
        self.hidden = nn.ModuleList(nn.Linear(hidden, kernel_init=_INIT) for _ in range(2))
        self.classes = nn.Linear(classes, kernel_init=_INIT)
        self.offsets = nn.Linear(4 * classes, kernel_init=_INIT)

    def forward(self, features):
        x = ops.flatten(features, 1)
        for layer in self.hidden:
            x = ops.relu(layer(x))
        return self.classes(x), self.offsets(x)


class FasterRCNN(nn.Module):
    """Images (N, 3, H, W), sizes multiples of 32, to a box and probability for each proposal and class.

    In training it gives, of all anchors, objectness (N, anchors), offsets (N, anchors, 4) and the anchors (N, anchors, 4), then
    the proposals (N, most, 4), their logits (N, most, classes), class 0 being the background, and offsets (N, most, classes,
    4). In evaluation, and in its graph, two more outputs follow: boxes (N, most, classes, 4), and probabilities (N, most,
    classes), which are 0 where there are fewer proposals. All boxes are corners in pixels::

        model = labdl.models.create("fasterrcnn_resnet50_fpn", classes=3).build().eval()
        *_, boxes, probabilities = model(images)

    ``sizes`` (N, 2), heights and widths, say which part of padded images is image; boxes are clipped to it. ``proposals`` are
    the candidates of each map and the proposals of an image. With the ``objects`` (N, objects, 5) of images in training, the
    regions are ``regions`` random ones of the proposals and of the objects, at most a quarter of them with an object, and
    these first, as in torchvision. Raises ValueError for images of other sizes.
    """

    public_names: ClassVar[public_weights.PublicNames]
    detector_form: ClassVar[DetectorForm] = on_pyramid(
        boxes_of_classes,
        lambda _: FasterRCNNLoss(),
        takes_sizes=True,
        first_class=1,
        clip_first=True,
        candidates=10**9,
        max_detections=100,
        least_side=0.01,
    )

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        classes: int = 91,
        *,
        width: int = 64,
        channels: int = 256,
        hidden: int = 1024,
        proposals: tuple[int, int] = (1000, 1000),
        regions: int = 512,
    ):
        candidates, most = proposals
        self.backbone = ResNetPyramid(block, depths, width=width, channels=channels)
        self.proposals = RegionProposals(channels, SIDES, candidates=candidates, most=most)
        self.box_head = BoxHead(classes, hidden)
        self.columns, self.regions = classes, regions

    def forward(self, x, sizes=None, objects=None):
        check_sizes(type(self).__name__, x, least=32, multiple=32)
        return self.maps_and_outputs(x, sizes, objects)[1]

    def maps_and_outputs(self, x, sizes=None, objects=None) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The maps of the pyramid, and the outputs of the model."""
        maps = self.backbone(x)
        sizes = image_sizes(x) if sizes is None else sizes
        objectness, offsets, anchors, proposals, exist = self.proposals(x, sizes, *maps)
        if objects is not None and only_raw(self, x):
            proposals = sample_regions(
                type(self).__name__, proposals, objects, size=self.regions, share=REGION_SHARE, threshold=REGION_OVERLAP
            )
        raw = objectness, offsets, ops.zeros_like(offsets) + anchors, proposals
        logits, changes = self.box_head(self.pool(maps, proposals, 7))
        logits = ops.reshape_with([logits, proposals], ((1, 0), (1, 1), self.columns))
        changes = ops.reshape_with([changes, proposals], ((1, 0), (1, 1), self.columns, 4))
        if only_raw(self, x):
            return maps, (*raw, logits, changes)
        boxes = ops.box_decode(changes, ops.expand_dims(proposals, 2), WEIGHTS)
        boxes = ops.reshape_with([clip_to_images(ops.flatten(boxes, 1, 2), sizes), logits], ((1, 0), (1, 1), (1, 2), 4))
        probabilities = ops.where(ops.expand_dims(exist, -1), ops.softmax(logits, axis=-1), 0.0)
        return maps, (*raw, logits, changes, boxes, probabilities)

    def pool(self, maps, boxes, size: int):
        """Features (N * K, C, size, size) of boxes (N, K, 4) of each image."""
        one = ops.ones_like(boxes[:, :, 0])
        images = ops.flatten(ops.astype(ops.cumulative_sum(one, axis=0) - 1.0, "int64"), 0)
        return ops.pyramid_roi_align([*maps[:-1]], ops.flatten(boxes, 0, 1), images, size, _SCALES)

    def region_outputs(self, x, boxes) -> tuple[Any, ...]:
        """All numbers before a selection, for boxes (N, K, 4) in place of proposals: for comparison with other programs.

        The maps of the pyramid, objectness and offsets of each map, anchors, features, logits and offsets of the boxes.
        """
        maps = self.backbone(x)
        heads = [self.proposals.head(y) for y in maps]
        features = self.pool(maps, boxes, 7)
        anchors = self.proposals.anchors(x, *maps)
        first = [*maps, *(score for score, _ in heads), *(offset for _, offset in heads), anchors]
        return *first, features, *self.box_head(features)


def image_sizes(x):
    """Heights and widths (N, 2) of images (N, C, H, W)."""
    sides = [ops.sum(ops.ones_like(line), axis=-1, keepdims=True) for line in (x[:, 0, :, 0], x[:, 0, 0])]
    return ops.concat(sides, axis=1)


def region_names() -> list[public_weights.Group]:
    """The groups of torchvision's names of a `FasterRCNN`."""
    parts = {"box_head.fc6": "hidden/0", "box_head.fc7": "hidden/1"}
    parts |= {"box_predictor.cls_score": "classes", "box_predictor.bbox_pred": "offsets"}
    return [
        *pyramid_names("backbone", "backbone"),
        *proposal_names("rpn", "proposals"),
        public_weights.Group(
            *(public_weights.linear(f"roi_heads.{there}", f"box_head/{here}") for there, here in parts.items()),
            needed=True,
        ),
    ]


FasterRCNN.public_names = public_weights.PublicNames(tuple(region_names()))


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's Faster R-CNN; raises StateDictError naming what is missing or unexpected."""
    return FasterRCNN.public_names.from_public(weights)


def _small() -> tuple[FasterRCNN, tuple[Spec, ...]]:
    model = FasterRCNN(BasicBlock, (1, 1, 1, 1), 3, width=4, channels=8, hidden=16, proposals=(20, 10))
    return model, (Spec((None, 3, 64, 32)),)


_register = functools.partial(
    zoo.register,
    "object detection",
    inputs=zoo.images(800),
    paper="https://arxiv.org/abs/1506.01497",
    from_public=from_torchvision,
)


@_register(parameters=28_730_006, small=_small)
def fasterrcnn_resnet18_fpn(classes: int = 91) -> FasterRCNN:
    """Faster R-CNN on ResNet-18 with a feature pyramid; class 0 is the background (Ren et al., 2015)."""
    return FasterRCNN(*SIZES[18], classes)


@_register(parameters=41_755_286)
def fasterrcnn_resnet50_fpn(classes: int = 91) -> FasterRCNN:
    """Faster R-CNN on ResNet-50 with a feature pyramid; class 0 is the background (Ren et al., 2015)."""
    return FasterRCNN(*SIZES[50], classes)
