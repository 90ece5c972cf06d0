"""Mask R-CNN: Faster R-CNN with a mask for each object that it detects (He et al., 2017)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.cells import only_raw
from labdl.models.vision.detection_losses import MaskRCNNLoss
from labdl.models.vision.detector_form import DetectorForm, detections_with_masks, on_pyramid
from labdl.models.vision.faster_rcnn import REGION_SHARE, FasterRCNN, region_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.models.vision.resnet_encoder import SIZES
from labdl.spec import Spec

_INIT = "he_normal(mode='fan_out')"
_LEAST = 1e-2  # pixels of the sides of a box


class MaskHead(nn.Module):
    """Logits of masks (K, classes, 28, 28) of regions, from their features (K, C, 14, 14)."""

    def __init__(self, classes: int, channels: int):
        self.layers = nn.ModuleList(nn.Conv2d(channels, kernel_size=3, padding=1, kernel_init=_INIT) for _ in range(4))
        self.double = nn.ConvTranspose2d(channels, kernel_size=2, stride=2, kernel_init=_INIT)
        self.masks = nn.Conv2d(classes, kernel_size=1, kernel_init=_INIT)

    def forward(self, x):
        for layer in self.layers:
            x = ops.relu(layer(x))
        return self.masks(ops.relu(self.double(x)))


class MaskRCNN(nn.Module):
    """Images (N, 3, H, W), sizes multiples of 32, to boxes, classes and masks of the objects in them.

    In training it gives what `FasterRCNN` gives, and logits of the masks of all proposals (N, most, classes, 28, 28), or with
    ``objects`` those of the regions that may have an object, the first quarter. In evaluation the outputs of Faster R-CNN
    are followed by those of a selection: boxes (N, detections, 4) as corners in pixels, scores (N, detections), which are 0
    of what is no detection, classes (N, detections), and masks of these classes (N, detections, 28, 28)::

        model = labdl.models.create("maskrcnn_resnet50_fpn", classes=3).build().eval()
        *_, boxes, scores, classes, masks = model(images)

    A mask has probabilities over its box. ``threshold``, ``iou_threshold`` and ``detections`` select as in torchvision, among
    the best ``candidates`` pairs of a box and a class.
    """

    public_names: ClassVar[public_weights.PublicNames]
    detector_form: ClassVar[DetectorForm] = on_pyramid(
        detections_with_masks,
        lambda _: MaskRCNNLoss(),
        takes_sizes=True,
        postprocess="instance_segmentation",
        first_class=1,
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
        threshold: float = 0.05,
        iou_threshold: float = 0.5,
        detections: int = 100,
        candidates: int = 1000,
    ):
        self.detector = FasterRCNN(
            block,
            depths,
            classes,
            width=width,
            channels=channels,
            hidden=hidden,
            proposals=proposals,
            regions=regions,
        )
        self.mask_head = MaskHead(classes, channels)
        self.threshold, self.iou_threshold = threshold, iou_threshold
        self.detections, self.candidates, self.columns = detections, candidates, classes

    def forward(self, x, sizes=None, objects=None):
        check_sizes("MaskRCNN", x, least=32, multiple=32)
        maps, outputs = self.detector.maps_and_outputs(x, sizes, objects)
        if only_raw(self, x):
            proposals = outputs[3]
            if objects is not None:  # regions with an object are the first
                proposals = proposals[:, : int(REGION_SHARE * self.detector.regions)]
            logits = self.mask_head(self.detector.pool(maps, proposals, 14))
            return *outputs, ops.reshape_with([logits, proposals], ((1, 0), (1, 1), self.columns, 28, 28))
        boxes, scores, classes = self._select(*outputs[-2:])
        logits = self.mask_head(self.detector.pool(maps, boxes, 14))
        own = ops.one_hot(ops.flatten(classes, 0), self.columns)
        masks = ops.sum(ops.sigmoid(logits) * ops.reshape(own, (-1, self.columns, 1, 1)), axis=1)
        return *outputs, boxes, scores, classes, ops.reshape_with([masks, boxes], ((1, 0), (1, 1), 28, 28))

    def _select(self, boxes, probabilities):
        """Boxes (N, K, 4), scores (N, K) and classes (N, K) of the detections among boxes (N, P, classes, 4)."""
        scores = ops.flatten(ops.stop_gradient(probabilities)[:, :, 1:], 1)
        boxes = ops.flatten(ops.stop_gradient(boxes)[:, :, 1:], 1, 2)
        numbers = ops.tensor_like(scores, np.arange(1, self.columns), "float32")
        classes = ops.flatten(ops.zeros_like(probabilities[:, :, 1:]) + numbers, 1)
        shortest = ops.min(boxes[:, :, 2:] - boxes[:, :, :2], axis=-1)
        valid = ops.logical_and(ops.greater(scores, self.threshold), ops.greater_equal(shortest, _LEAST))
        # a picture may have fewer pairs than there are candidates
        none = ops.tile(ops.zeros_like(scores[:, :1]), (1, self.candidates))
        scores, order = ops.topk(ops.concat([ops.where(valid, scores, 0.0), none], axis=1), self.candidates, axis=1)
        boxes = ops.concat([boxes, ops.tile(ops.expand_dims(none, -1), (1, 1, 4))], axis=1)
        boxes = ops.take_along_axis(boxes, ops.expand_dims(order, -1), axis=1)
        classes = ops.astype(ops.take_along_axis(ops.concat([classes, none], axis=1), order, axis=1), "int64")
        scores = ops.where(ops.nms_mask(boxes, scores, self.iou_threshold, classes), scores, 0.0)
        scores, order = ops.topk(scores, self.detections, axis=1)
        boxes = ops.take_along_axis(boxes, ops.expand_dims(order, -1), axis=1)
        return boxes, scores, ops.take_along_axis(classes, order, axis=1)

    def region_outputs(self, x, boxes) -> tuple[Any, ...]:
        """As `FasterRCNN.region_outputs`, then logits of masks (N * K, classes, 28, 28)."""
        maps = self.detector.backbone(x)
        masks = self.mask_head(self.detector.pool(maps, boxes, 14))
        return *self.detector.region_outputs(x, boxes), masks


def _names() -> public_weights.PublicNames:
    predictor = "roi_heads.mask_predictor"
    return public_weights.PublicNames(
        (
            *public_weights.inside(region_names(), "", "detector/"),
            public_weights.Group(
                public_weights.convolution("roi_heads.mask_head.{}.0", "mask_head/layers/{}"), needed=True
            ),
            public_weights.Group(
                public_weights.transposed_convolution(f"{predictor}.conv5_mask", "mask_head/double"),
                public_weights.convolution(f"{predictor}.mask_fcn_logits", "mask_head/masks"),
                needed=True,
            ),
        )
    )


MaskRCNN.public_names = _names()


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's Mask R-CNN; raises StateDictError naming what is missing or unexpected."""
    return MaskRCNN.public_names.from_public(weights)


def _small() -> tuple[MaskRCNN, tuple[Spec, ...]]:
    model = MaskRCNN(
        BasicBlock,
        (1, 1, 1, 1),
        3,
        width=4,
        channels=8,
        hidden=16,
        proposals=(20, 10),
        detections=5,
        candidates=20,
    )
    return model, (Spec((None, 3, 64, 32)),)


_register = functools.partial(
    zoo.register,
    "instance segmentation",
    inputs=zoo.images(800),
    paper="https://arxiv.org/abs/1703.06870",
    from_public=from_torchvision,
)


@_register(parameters=31_376_113, small=_small)
def maskrcnn_resnet18_fpn(classes: int = 91) -> MaskRCNN:
    """Mask R-CNN on ResNet-18 with a feature pyramid; class 0 is the background (He et al., 2017)."""
    return MaskRCNN(*SIZES[18], classes)


@_register(parameters=44_401_393)
def maskrcnn_resnet50_fpn(classes: int = 91) -> MaskRCNN:
    """Mask R-CNN on ResNet-50 with a feature pyramid; class 0 is the background (He et al., 2017)."""
    return MaskRCNN(*SIZES[50], classes)
