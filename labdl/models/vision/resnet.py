"""ResNet: residual networks for images (He et al., 2016), in the variant of torchvision (stride in the 3 x 3 convolution)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.conv_norm import ConvNorm, conv_norm_names
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1512.03385"
_RESNEXT = "https://arxiv.org/abs/1611.05431"
_WIDE = "https://arxiv.org/abs/1605.07146"
_HE = "he_normal(mode='fan_out')"


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions with a skip connection: (N, C, H, W) to (N, channels, H / stride, W / stride)."""

    expansion = 1

    def __init__(
        self,
        channels: int,
        stride: int = 1,
        *,
        project: bool = False,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        kernel_init: str = _HE,
    ):
        if groups != 1 or base_width != 64:
            raise ValueError(f"BasicBlock wants groups=1 and base_width=64, received {groups} and {base_width}")
        self.first = ConvNorm(channels, 3, stride, dilation=dilation, kernel_init=kernel_init)
        self.second = ConvNorm(channels, 3, dilation=dilation, kernel_init=kernel_init)
        self.shortcut = ConvNorm(channels, 1, stride, kernel_init=kernel_init) if project else None

    def forward(self, x):
        y = self.second(ops.relu(self.first(x)))
        return ops.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions with a skip connection, to 4 * channels.

    ``groups`` and ``base_width`` make it a block of ResNeXt (Xie et al., 2017) or of a wide ResNet.
    """

    expansion = 4

    def __init__(
        self,
        channels: int,
        stride: int = 1,
        *,
        project: bool = False,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        kernel_init: str = _HE,
    ):
        width = channels * base_width // 64 * groups
        self.first = ConvNorm(width, 1, kernel_init=kernel_init)
        self.second = ConvNorm(width, 3, stride, groups, dilation=dilation, kernel_init=kernel_init)
        self.third = ConvNorm(4 * channels, 1, kernel_init=kernel_init)
        self.shortcut = ConvNorm(4 * channels, 1, stride, kernel_init=kernel_init) if project else None

    def forward(self, x):
        y = self.third(ops.relu(self.second(ops.relu(self.first(x)))))
        return ops.relu(y + (x if self.shortcut is None else self.shortcut(x)))


def residual_stages(
    block: type[BasicBlock] | type[Bottleneck],
    depths: Sequence[int],
    *,
    channels: int = 64,
    groups: int = 1,
    base_width: int = 64,
    dilations: Sequence[tuple[int, int]] | None = None,
) -> nn.ModuleList:
    """The stages of a residual network, each with twice the channels of the one before and half of its size.

    ``dilations`` has for each stage that of its first block and that of the others; a dilated stage keeps the size.
    """
    stages, entering = nn.ModuleList(), channels
    for at, depth in enumerate(depths):
        first, rest = dilations[at] if dilations else (1, 1)
        inner, stride = channels * 2**at, 1 if at == 0 or rest > 1 else 2
        stages.append(
            nn.Sequential(
                *(
                    block(
                        inner,
                        1 if i else stride,
                        project=i == 0 and (stride != 1 or entering != inner * block.expansion),
                        groups=groups,
                        base_width=base_width,
                        dilation=rest if i else first,
                    )
                    for i in range(depth)
                )
            )
        )
        entering = inner * block.expansion
    return stages


class ResNet(nn.Module):
    """A residual network: images (N, 3, H, W) to logits (N, classes).

    ``depths`` are the numbers of blocks in the four stages. With ``classes=None`` it gives the features before the head.
    """

    public_names: ClassVar[public_weights.PublicNames]  # torchvision's

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths=(2, 2, 2, 2),
        *,
        classes: int | None = 1000,
        channels: int = 64,
        groups: int = 1,
        base_width: int = 64,
    ):
        self.stem = ConvNorm(channels, 7, 2)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.stages = residual_stages(block, depths, channels=channels, groups=groups, base_width=base_width)
        self.average = nn.GlobalAvgPool()
        self.head = None if classes is None else nn.Linear(classes)

    def forward(self, x):
        x = self.pool(ops.relu(self.stem(x)))
        for stage in self.stages:
            x = stage(x)
        x = self.average(x)
        return x if self.head is None else self.head(x)


def _stages(*parts: tuple[str, str, str], needed: bool | str) -> list[public_weights.Group]:
    """Groups of the blocks' convolutions, given as public convolution, public norm and name here."""
    return [
        public_weights.Group(
            *(
                conv_norm_names(f"layer{at + 1}.{{}}.{conv}", f"layer{at + 1}.{{}}.{norm}", f"stages/{at}/{{}}/{ours}")
                for conv, norm, ours in parts
            ),
            needed=needed,
        )
        for at in range(4)
    ]


ResNet.public_names = public_weights.PublicNames(
    (
        public_weights.Group(conv_norm_names("conv1", "bn1", "stem"), needed=True),
        *_stages(("conv1", "bn1", "first"), ("conv2", "bn2", "second"), needed=True),
        # blocks of one model are alike, so a third convolution is in each of them or in none
        *_stages(("conv3", "bn3", "third"), needed=r".*\.conv3\."),
        *(
            public_weights.Group(
                conv_norm_names(
                    f"layer{at + 1}.0.downsample.0", f"layer{at + 1}.0.downsample.1", f"stages/{at}/0/shortcut"
                ),
                needed=at > 0,
            )
            for at in range(4)
        ),
        public_weights.Group(public_weights.linear("fc", "head")),
    )
)


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's ResNet; raises StateDictError naming what is missing or unexpected."""
    return ResNet.public_names.from_public(weights)


_register = functools.partial(zoo.register, "image classification", inputs=zoo.images(), from_public=from_torchvision)


def _small() -> tuple[ResNet, tuple[Spec, ...]]:
    return ResNet(BasicBlock, (1, 1), classes=3, channels=4), (Spec((None, 3, 16, 16)),)


@_register(parameters=11_689_512, paper=_PAPER, small=_small)
def resnet18(classes: int | None = 1000) -> ResNet:
    """ResNet-18: 18 layers in residual blocks (He et al., 2016)."""
    return ResNet(BasicBlock, (2, 2, 2, 2), classes=classes)


@_register(parameters=21_797_672, paper=_PAPER)
def resnet34(classes: int | None = 1000) -> ResNet:
    """ResNet-34: 34 layers in residual blocks (He et al., 2016)."""
    return ResNet(BasicBlock, (3, 4, 6, 3), classes=classes)


@_register(parameters=25_557_032, paper=_PAPER)
def resnet50(classes: int | None = 1000) -> ResNet:
    """ResNet-50: 50 layers in residual bottlenecks (He et al., 2016)."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes=classes)


@_register(parameters=44_549_160, paper=_PAPER)
def resnet101(classes: int | None = 1000) -> ResNet:
    """ResNet-101: 101 layers in residual bottlenecks (He et al., 2016)."""
    return ResNet(Bottleneck, (3, 4, 23, 3), classes=classes)


@_register(parameters=60_192_808, paper=_PAPER)
def resnet152(classes: int | None = 1000) -> ResNet:
    """ResNet-152: 152 layers in residual bottlenecks (He et al., 2016)."""
    return ResNet(Bottleneck, (3, 8, 36, 3), classes=classes)


@_register(parameters=25_028_904, paper=_RESNEXT)
def resnext50_32x4d(classes: int | None = 1000) -> ResNet:
    """ResNeXt-50 with 32 groups of 4 channels (Xie et al., 2017)."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes=classes, groups=32, base_width=4)


@_register(parameters=44_177_704, paper=_RESNEXT)
def resnext101_32x4d(classes: int | None = 1000) -> ResNet:
    """ResNeXt-101 with 32 groups of 4 channels (Xie et al., 2017)."""
    return ResNet(Bottleneck, (3, 4, 23, 3), classes=classes, groups=32, base_width=4)


@_register(parameters=88_791_336, paper=_RESNEXT)
def resnext101_32x8d(classes: int | None = 1000) -> ResNet:
    """ResNeXt-101 with 32 groups of 8 channels (Xie et al., 2017)."""
    return ResNet(Bottleneck, (3, 4, 23, 3), classes=classes, groups=32, base_width=8)


@_register(parameters=83_455_272, paper=_RESNEXT)
def resnext101_64x4d(classes: int | None = 1000) -> ResNet:
    """ResNeXt-101 with 64 groups of 4 channels (Xie et al., 2017)."""
    return ResNet(Bottleneck, (3, 4, 23, 3), classes=classes, groups=64, base_width=4)


@_register(parameters=68_883_240, paper=_WIDE)
def wide_resnet50_2(classes: int | None = 1000) -> ResNet:
    """Wide ResNet-50-2, with twice the channels inside its blocks (Zagoruyko & Komodakis, 2016)."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes=classes, base_width=128)


@_register(parameters=126_886_696, paper=_WIDE)
def wide_resnet101_2(classes: int | None = 1000) -> ResNet:
    """Wide ResNet-101-2, with twice the channels inside its blocks (Zagoruyko & Komodakis, 2016)."""
    return ResNet(Bottleneck, (3, 4, 23, 3), classes=classes, base_width=128)
