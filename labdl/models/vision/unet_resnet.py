"""U-Net with a ResNet as its encoder, in the form of segmentation-models-pytorch (Ronneberger et al., 2015)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.conv_norm import ConvNorm, conv_norm_names
from labdl.models.vision.image_size import check_sizes
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.models.vision.resnet_encoder import SIZES, ResNetEncoder, encoder_names
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1505.04597"
_INIT = "he_uniform"  # of the decoder; the encoder is that of ResNet


class DecoderBlock(nn.Module):
    """Doubles the size by repeating elements, appends the skip connection if there is one, and convolves twice."""

    def __init__(self, channels: int):
        self.up = nn.Upsample(2.0)
        self.first = ConvNorm(channels, 3, kernel_init=_INIT)
        self.second = ConvNorm(channels, 3, kernel_init=_INIT)

    def forward(self, x, skip=None):
        x = self.up(x)
        if skip is not None:
            x = ops.concat([x, skip], axis=1)
        return ops.relu(self.second(ops.relu(self.first(x))))


class ResNetUNet(nn.Module):
    """A U-Net with a residual encoder: images (N, 3, H, W) to logits (N, classes, H, W).

    ``channels`` are those of the blocks of the decoder, one more than there are stages; height and width are multiples
    of 32 for four stages.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        *,
        classes: int = 1,
        width: int = 64,
        channels: Sequence[int] = (256, 128, 64, 32, 16),
    ):
        if len(channels) != len(depths) + 1:
            raise ValueError(
                f"ResNetUNet wants {len(depths) + 1} channels for {len(depths)} stages, received {channels}"
            )
        self.encoder = ResNetEncoder(block, depths, channels=width)
        self.decoder = nn.ModuleList([DecoderBlock(n) for n in channels])
        self.head = nn.Conv2d(classes, kernel_size=3, padding=1, kernel_init="glorot_uniform")
        self.multiple = 2 ** len(channels)

    def forward(self, x):
        check_sizes("ResNetUNet", x, multiple=self.multiple)
        maps = self.encoder(x)
        x, *skips = reversed(maps)
        for at, block in enumerate(self.decoder):
            x = block(x, skips[at]) if at < len(skips) else block(x)
        return self.head(x)


ResNetUNet.public_names = public_weights.PublicNames(
    (
        *encoder_names("encoder", "encoder"),
        public_weights.Group(
            conv_norm_names("decoder.blocks.{}.conv1.0", "decoder.blocks.{}.conv1.1", "decoder/{}/first"),
            conv_norm_names("decoder.blocks.{}.conv2.0", "decoder.blocks.{}.conv2.1", "decoder/{}/second"),
            needed=True,
        ),
        public_weights.Group(public_weights.convolution("segmentation_head.0", "head"), needed=True),
    )
)


def from_smp(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of segmentation-models-pytorch's Unet with a ResNet encoder.

    Raises StateDictError naming what is missing or unexpected.
    """
    return ResNetUNet.public_names.from_public(weights)


def _small() -> tuple[ResNetUNet, tuple[Spec, ...]]:
    return ResNetUNet(BasicBlock, (1, 1), classes=2, width=4, channels=(8, 4, 4)), (Spec((None, 3, 16, 24)),)


_register = functools.partial(
    zoo.register, "image segmentation", inputs=zoo.images(512), paper=_PAPER, from_public=from_smp
)


@_register(parameters=14_328_209, small=_small)
def unet_resnet18(classes: int = 1) -> ResNetUNet:
    """U-Net with ResNet-18 as its encoder."""
    return ResNetUNet(*SIZES[18], classes=classes)


@_register(parameters=24_436_369)
def unet_resnet34(classes: int = 1) -> ResNetUNet:
    """U-Net with ResNet-34 as its encoder."""
    return ResNetUNet(*SIZES[34], classes=classes)


@_register(parameters=32_521_105)
def unet_resnet50(classes: int = 1) -> ResNetUNet:
    """U-Net with ResNet-50 as its encoder."""
    return ResNetUNet(*SIZES[50], classes=classes)
