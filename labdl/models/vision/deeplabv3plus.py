"""DeepLabv3+: DeepLabv3 with separable convolutions and a decoder (Chen et al., 2018), as in segmentation-models-pytorch."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.aspp import ASPP, SeparableConvNorm
from labdl.models.vision.conv_norm import ConvNorm, conv_norm_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.models.vision.resnet_encoder import SIZES, ResNetEncoder, encoder_names
from labdl.spec import Spec

_INIT = "he_uniform"  # of the decoder; the encoder is that of ResNet


class DeepLabV3Plus(nn.Module):
    """DeepLabv3+ with a residual encoder of stride 16: images (N, 3, H, W) to logits (N, classes, H, W).

    The decoder enlarges by four, appends the map of the first stage with ``low_level`` channels, and enlarges by four again;
    height and width are multiples of 16. ``dilations`` and ``channels`` are those of the spatial pyramid pooling.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        *,
        classes: int = 21,
        width: int = 64,
        dilations: Sequence[int] = (12, 24, 36),
        channels: int = 256,
        low_level: int = 48,
    ):
        self.encoder = ResNetEncoder(block, depths, channels=width, dilations=((1, 1), (1, 1), (1, 1), (2, 2)))
        self.aspp = ASPP(dilations, channels, separable=True, kernel_init=_INIT)
        self.convolution = SeparableConvNorm(channels)
        self.up = nn.Upsample(4.0, mode="bilinear", align_corners=True)
        self.low_level = ConvNorm(low_level, 1, kernel_init=_INIT)
        self.fusion = SeparableConvNorm(channels)
        self.head = nn.Conv2d(classes, kernel_size=1, kernel_init="glorot_uniform")

    def forward(self, x):
        check_sizes("DeepLabV3Plus", x, multiple=16)
        maps = self.encoder(x)
        y = self.up(ops.relu(self.convolution(self.aspp(maps[-1]))))
        y = ops.concat([y, ops.relu(self.low_level(maps[1]))], axis=1)
        return self.up(self.head(ops.relu(self.fusion(y))))


def _separable(depthwise: str, pointwise: str, norm: str, ours: str) -> list[public_weights.WeightMapping]:
    return [
        *public_weights.convolution(depthwise, f"{ours}/depthwise", use_bias=False),
        *conv_norm_names(pointwise, norm, f"{ours}/pointwise"),
    ]


_ASPP = "decoder.aspp.0"
DeepLabV3Plus.public_names = public_weights.PublicNames(
    (
        *encoder_names("encoder", "encoder"),
        public_weights.Group(
            conv_norm_names(f"{_ASPP}.convs.0.0", f"{_ASPP}.convs.0.1", "aspp/point"),
            *(
                _separable(
                    f"{_ASPP}.convs.{n + 1}.0.0",
                    f"{_ASPP}.convs.{n + 1}.0.1",
                    f"{_ASPP}.convs.{n + 1}.1",
                    f"aspp/dilated/{n}",
                )
                for n in range(3)
            ),
            conv_norm_names(f"{_ASPP}.convs.4.1", f"{_ASPP}.convs.4.2", "aspp/pooling/convolution"),
            conv_norm_names(f"{_ASPP}.project.0", f"{_ASPP}.project.1", "aspp/projection"),
            _separable("decoder.aspp.1.0", "decoder.aspp.1.1", "decoder.aspp.2", "convolution"),
            conv_norm_names("decoder.block1.0", "decoder.block1.1", "low_level"),
            _separable("decoder.block2.0.0", "decoder.block2.0.1", "decoder.block2.1", "fusion"),
            public_weights.convolution("segmentation_head.0", "head"),
            needed=True,
        ),
    )
)


def from_smp(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of segmentation-models-pytorch's DeepLabV3Plus with a ResNet encoder.

    Raises StateDictError naming what is missing or unexpected.
    """
    return DeepLabV3Plus.public_names.from_public(weights)


def _small() -> tuple[DeepLabV3Plus, tuple[Spec, ...]]:
    model = DeepLabV3Plus(BasicBlock, (1, 1, 1, 1), classes=3, width=4, dilations=(1, 2, 3), channels=8, low_level=4)
    return model, (Spec((None, 3, 16, 32)),)


_register = functools.partial(
    zoo.register,
    "image segmentation",
    inputs=zoo.images(512),
    paper="https://arxiv.org/abs/1802.02611",
    from_public=from_smp,
)


@_register(parameters=12_334_437, small=_small)
def deeplabv3plus_resnet18(classes: int = 21) -> DeepLabV3Plus:
    """DeepLabv3+ with ResNet-18 as its encoder (Chen et al., 2018)."""
    return DeepLabV3Plus(*SIZES[18], classes=classes)


@_register(parameters=22_442_597)
def deeplabv3plus_resnet34(classes: int = 21) -> DeepLabV3Plus:
    """DeepLabv3+ with ResNet-34 as its encoder (Chen et al., 2018)."""
    return DeepLabV3Plus(*SIZES[34], classes=classes)


@_register(parameters=26_682_725)
def deeplabv3plus_resnet50(classes: int = 21) -> DeepLabV3Plus:
    """DeepLabv3+ with ResNet-50 as its encoder (Chen et al., 2018)."""
    return DeepLabV3Plus(*SIZES[50], classes=classes)


@_register(parameters=45_674_853)
def deeplabv3plus_resnet101(classes: int = 21) -> DeepLabV3Plus:
    """DeepLabv3+ with ResNet-101 as its encoder (Chen et al., 2018)."""
    return DeepLabV3Plus(*SIZES[101], classes=classes)
