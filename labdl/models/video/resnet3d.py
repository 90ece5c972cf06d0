"""3D ResNet: residual networks with 3-d convolutions for clips (Hara et al., 2018), as in 3D-ResNets-PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.video.conv_norm import ConvNorm3d, conv_norm_names
from labdl.models.vision.image_size import check_sizes
from labdl.spec import Spec


class BasicBlock3d(nn.Module):
    """Two 3 x 3 x 3 convolutions with a skip connection: (N, C, T, H, W) to channels at 1 / stride of each size."""

    expansion = 1

    def __init__(self, channels: int, stride: int = 1, *, project: bool = False):
        self.first = ConvNorm3d(channels, (3, 3, 3), (stride, stride, stride))
        self.second = ConvNorm3d(channels, (3, 3, 3))
        self.shortcut = ConvNorm3d(channels, (1, 1, 1), (stride, stride, stride)) if project else None

    def forward(self, x):
        y = self.second(ops.relu(self.first(x)))
        return ops.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Bottleneck3d(nn.Module):
    """Convolutions of 1, 3 x 3 x 3 and 1 with a skip connection, to 4 * channels at 1 / stride of each size."""

    expansion = 4

    def __init__(self, channels: int, stride: int = 1, *, project: bool = False):
        self.first = ConvNorm3d(channels, (1, 1, 1))
        self.second = ConvNorm3d(channels, (3, 3, 3), (stride, stride, stride))
        self.third = ConvNorm3d(4 * channels, (1, 1, 1))
        self.shortcut = ConvNorm3d(4 * channels, (1, 1, 1), (stride, stride, stride)) if project else None

    def forward(self, x):
        y = self.third(ops.relu(self.second(ops.relu(self.first(x)))))
        return ops.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet3D(nn.Module):
    """A residual network of 3-d convolutions: clips (N, 3, frames, H, W) to logits (N, classes).

    ``depths`` are the numbers of blocks in the stages. With ``classes=None`` it gives the features before the head.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        block: type[BasicBlock3d] | type[Bottleneck3d],
        depths: Sequence[int] = (2, 2, 2, 2),
        *,
        classes: int | None = 400,
        channels: int = 64,
    ):
        self.stem = ConvNorm3d(channels, (7, 7, 7), (1, 2, 2))
        self.pool = nn.MaxPool3d(3, stride=2, padding=1)
        self.stages = nn.ModuleList()
        entering = channels
        for at, depth in enumerate(depths):
            inner, stride = channels * 2**at, 1 if at == 0 else 2
            project = stride != 1 or entering != inner * block.expansion
            blocks = [block(inner, 1 if i else stride, project=project and i == 0) for i in range(depth)]
            self.stages.append(nn.Sequential(*blocks))
            entering = inner * block.expansion
        self.average = nn.GlobalAvgPool()
        self.head = None if classes is None else nn.Linear(classes)

    def forward(self, x):
        check_sizes("ResNet3D", x, axes="T, H, W")
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


ResNet3D.public_names = public_weights.PublicNames(
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


def from_kenshohara(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of the ResNet of 3D-ResNets-PyTorch; raises StateDictError for missing or unexpected ones."""
    return ResNet3D.public_names.from_public(weights)


def _small() -> tuple[ResNet3D, tuple[Spec, ...]]:
    return ResNet3D(Bottleneck3d, (1, 1), classes=3, channels=4), (Spec((None, 3, 4, 12, 12)),)


_register = functools.partial(
    zoo.register,
    "video classification",
    inputs=zoo.clips(16, 112),
    paper="https://arxiv.org/abs/1711.09577",
    from_public=from_kenshohara,
)


@_register(parameters=33_409_104)
def resnet3d_18(classes: int | None = 400) -> ResNet3D:
    """3D ResNet-18: 18 layers of 3-d convolutions with pooling after the first (Hara et al., 2018)."""
    return ResNet3D(BasicBlock3d, (2, 2, 2, 2), classes=classes)


@_register(parameters=47_018_576, small=_small)
def resnet3d_50(classes: int | None = 400) -> ResNet3D:
    """3D ResNet-50: 50 layers in bottlenecks of 3-d convolutions (Hara et al., 2018)."""
    return ResNet3D(Bottleneck3d, (3, 4, 6, 3), classes=classes)
