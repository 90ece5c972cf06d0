"""U-Net: an encoder and a decoder with skip connections for segmentation (Ronneberger et al., 2015)."""

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
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1505.04597"


class DoubleConv(nn.Module):
    """Two 3 x 3 convolutions with ReLU, to ``inner`` and to ``channels``.

    With ``norm`` they are normalized and have no bias, as in later implementations; ``padding`` 0 loses two rows each.
    """

    def __init__(self, channels: int, inner: int, *, norm: bool = True, padding: int = 1):
        self.first = self._convolution(inner, norm, padding)
        self.second = self._convolution(channels, norm, padding)

    @staticmethod
    def _convolution(channels: int, norm: bool, padding: int) -> nn.Module:
        if norm:
            return ConvNorm(channels, 3, padding=padding, kernel_init="fan_in_uniform")
        return nn.Conv2d(channels, kernel_size=3, padding=padding, kernel_init="he_normal")

    def forward(self, x):
        return ops.relu(self.second(ops.relu(self.first(x))))


class Up(nn.Module):
    """A step of the decoder: doubles the size, appends to the skip connection, and applies a `DoubleConv`.

    Where sizes differ, the enlarged map is padded to the skip connection; without ``padding`` the skip connection is cropped.
    """

    def __init__(self, channels: int, inner: int, *, bilinear: bool = False, norm: bool = True, padding: int = 1):
        self.up = (
            nn.Upsample(2.0, mode="bilinear", align_corners=True)
            if bilinear
            else nn.ConvTranspose2d(inner, kernel_size=2, stride=2)
        )
        self.conv = DoubleConv(channels, inner, norm=norm, padding=padding)
        self.padding = padding

    def forward(self, x, skip):
        x = self.up(x)
        if self.padding:
            x = ops.crop_or_pad_like(x, skip)
        else:
            skip = ops.crop_or_pad_like(skip, x)
        return self.conv(ops.concat([skip, x], axis=1))


class UNet(nn.Module):
    """A U-Net: images (N, C, H, W) to logits (N, classes, H, W).

    ``channels`` are those of the levels, each half as large as the one before. The decoder enlarges with a transposed
    convolution, or with ``bilinear`` by interpolation, which has half the parameters. ``norm`` normalizes each
    convolution. With ``padding`` 0 as in the paper, an image of 572 x 572 gives logits of 388 x 388.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        classes: int = 2,
        channels: Sequence[int] = (64, 128, 256, 512, 1024),
        *,
        bilinear: bool = False,
        norm: bool = True,
        padding: int = 1,
    ):
        widths = [*channels[:-1], channels[-1] // 2 if bilinear else channels[-1]]
        self.encoder = nn.ModuleList([DoubleConv(width, width, norm=norm, padding=padding) for width in widths])
        self.pool = nn.MaxPool2d(2)
        self.decoder = nn.ModuleList(
            [
                Up(
                    channels[at] // 2 if bilinear and at else channels[at],
                    channels[at],
                    bilinear=bilinear,
                    norm=norm,
                    padding=padding,
                )
                for at in reversed(range(len(channels) - 1))
            ]
        )
        self.head = nn.Conv2d(classes, kernel_size=1)
        self.levels = len(channels)
        self.padding = padding

    @property
    def least_size(self) -> int:
        """The smallest height and width of an image."""
        if self.padding:
            return 2 ** (self.levels - 1)
        smallest = (5, 7, 8)[min(self.levels - 1, 2)]  # of the lowest level, so that the convolutions after it fit
        for _ in range(self.levels - 1):
            smallest = 2 * smallest + 4
        return smallest

    def forward(self, x):
        check_sizes("UNet", x, least=self.least_size)
        skips = []
        for at, block in enumerate(self.encoder):
            x = block(x if at == 0 else self.pool(x))
            skips.append(x)
        for up, skip in zip(self.decoder, reversed(skips[:-1]), strict=True):
            x = up(x, skip)
        return self.head(x)


def _double(public: str, ours: str) -> list[public_weights.WeightMapping]:
    return [
        *conv_norm_names(f"{public}.double_conv.0", f"{public}.double_conv.1", f"{ours}/first"),
        *conv_norm_names(f"{public}.double_conv.3", f"{public}.double_conv.4", f"{ours}/second"),
    ]


UNet.public_names = public_weights.PublicNames(
    (
        public_weights.Group(_double("inc", "encoder/0"), public_weights.convolution("outc.conv", "head"), needed=True),
        *(
            public_weights.Group(_double(f"down{at}.maxpool_conv.1", f"encoder/{at}"), needed=at == 1)
            for at in range(1, 9)
        ),
        *(public_weights.Group(_double(f"up{at + 1}.conv", f"decoder/{at}/conv"), needed=at == 0) for at in range(8)),
        *(
            public_weights.Group(public_weights.transposed_convolution(f"up{at + 1}.up", f"decoder/{at}/up"))
            for at in range(8)
        ),
    )
)


def from_milesial(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of the common PyTorch U-Net (milesial/Pytorch-UNet).

    Raises StateDictError naming what is missing or unexpected.
    """
    return UNet.public_names.from_public(weights)


def _small() -> tuple[UNet, tuple[Spec, ...]]:
    return UNet(2, (4, 8), bilinear=True), (Spec((None, 3, 9, 10)),)


_register = functools.partial(zoo.register, "image segmentation", paper=_PAPER)


@_register(inputs=zoo.images(512), parameters=31_037_698, from_public=from_milesial, small=_small)
def unet(classes: int = 2, bilinear: bool = False) -> UNet:
    """U-Net with padding and batch normalization, the common form of Ronneberger et al. (2015)."""
    return UNet(classes, bilinear=bilinear)


@_register(inputs=zoo.images(572, channels=1), parameters=31_030_658)
def unet_paper(classes: int = 2) -> UNet:
    """U-Net as in the paper: no padding, no normalization, 572 x 572 gray images to 388 x 388 (Ronneberger et al., 2015)."""
    return UNet(classes, norm=False, padding=0)
