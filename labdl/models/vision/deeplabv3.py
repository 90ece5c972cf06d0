"""DeepLabv3: segmentation with dilated convolutions and spatial pyramid pooling (Chen et al., 2017), as in torchvision."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.aspp import ASPP
from labdl.models.vision.conv_norm import ConvNorm, conv_norm_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.models.vision.resnet_encoder import SIZES, ResNetEncoder, encoder_names
from labdl.spec import Spec

_INIT = "fan_in_uniform"  # of the heads; the encoder is that of ResNet


class FCNHead(nn.Module):
    """The auxiliary head, a small fully convolutional network (Long et al., 2015): a map to logits of its size."""

    def __init__(self, channels: int, classes: int):
        self.convolution = ConvNorm(channels, 3, kernel_init=_INIT)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Conv2d(classes, kernel_size=1)

    def forward(self, x):
        return self.head(self.dropout(ops.relu(self.convolution(x))))


class DeepLabV3(nn.Module):
    """DeepLabv3 with a residual encoder of stride 8: images (N, 3, H, W) to logits (N, classes, H, W).

    With ``auxiliary`` it also gives the logits of a head on the last but one stage, whose loss is added to the first with a
    smaller weight. ``dilations`` and ``channels`` are those of the spatial pyramid pooling, ``width`` the channels of the stem.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        *,
        classes: int = 21,
        auxiliary: bool = False,
        width: int = 64,
        dilations: Sequence[int] = (12, 24, 36),
        channels: int = 256,
    ):
        self.encoder = ResNetEncoder(block, depths, channels=width, dilations=((1, 1), (1, 1), (1, 2), (2, 4)))
        self.aspp = ASPP(dilations, channels, separable=False, kernel_init=_INIT)
        self.convolution = ConvNorm(channels, 3, kernel_init=_INIT)
        self.head = nn.Conv2d(classes, kernel_size=1)
        self.auxiliary = FCNHead(width * block.expansion, classes) if auxiliary else None

    def forward(self, x):
        check_sizes("DeepLabV3", x)
        maps = self.encoder(x)
        y = self.head(ops.relu(self.convolution(self.aspp(maps[-1]))))
        y = ops.interpolate_like(y, x, mode="bilinear")
        if self.auxiliary is None:
            return y
        return y, ops.interpolate_like(self.auxiliary(maps[-2]), x, mode="bilinear")


DeepLabV3.public_names = public_weights.PublicNames(
    (
        *encoder_names("backbone", "encoder"),
        public_weights.Group(
            conv_norm_names("classifier.0.convs.0.0", "classifier.0.convs.0.1", "aspp/point"),
            *(
                conv_norm_names(f"classifier.0.convs.{n + 1}.0", f"classifier.0.convs.{n + 1}.1", f"aspp/dilated/{n}")
                for n in range(3)
            ),
            conv_norm_names("classifier.0.convs.4.1", "classifier.0.convs.4.2", "aspp/pooling/convolution"),
            conv_norm_names("classifier.0.project.0", "classifier.0.project.1", "aspp/projection"),
            conv_norm_names("classifier.1", "classifier.2", "convolution"),
            public_weights.convolution("classifier.4", "head"),
            needed=True,
        ),
        public_weights.Group(
            conv_norm_names("aux_classifier.0", "aux_classifier.1", "auxiliary/convolution"),
            public_weights.convolution("aux_classifier.4", "auxiliary/head"),
        ),
    )
)


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's DeepLabV3; raises StateDictError naming what is missing or unexpected."""
    return DeepLabV3.public_names.from_public(weights)


def _small() -> tuple[DeepLabV3, tuple[Spec, ...]]:
    model = DeepLabV3(BasicBlock, (1, 1, 1, 1), classes=3, auxiliary=True, width=4, dilations=(1, 2, 3), channels=8)
    return model, (Spec((None, 3, 20, 27)),)


_register = functools.partial(
    zoo.register,
    "image segmentation",
    inputs=zoo.images(520),
    paper="https://arxiv.org/abs/1706.05587",
    from_public=from_torchvision,
)


@_register(parameters=39_638_869, small=_small)
def deeplabv3_resnet50(classes: int = 21, auxiliary: bool = False) -> DeepLabV3:
    """DeepLabv3 with ResNet-50 as its encoder (Chen et al., 2017)."""
    return DeepLabV3(*SIZES[50], classes=classes, auxiliary=auxiliary)


@_register(parameters=58_630_997)
def deeplabv3_resnet101(classes: int = 21, auxiliary: bool = False) -> DeepLabV3:
    """DeepLabv3 with ResNet-101 as its encoder (Chen et al., 2017)."""
    return DeepLabV3(*SIZES[101], classes=classes, auxiliary=auxiliary)
