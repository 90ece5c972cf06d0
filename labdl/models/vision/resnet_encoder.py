"""The part of a ResNet that gives maps of features, for segmentation and detection (He et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models.vision.conv_norm import ConvNorm
from labdl.models.vision.resnet import BasicBlock, Bottleneck, ResNet, residual_stages

# blocks and depths of the published sizes
SIZES: dict[int, tuple[type[BasicBlock] | type[Bottleneck], tuple[int, ...]]] = {
    18: (BasicBlock, (2, 2, 2, 2)),
    34: (BasicBlock, (3, 4, 6, 3)),
    50: (Bottleneck, (3, 4, 6, 3)),
    101: (Bottleneck, (3, 4, 23, 3)),
}


class ResNetEncoder(nn.Module):
    """Stem and stages of a `ResNet`: images (N, 3, H, W) to the map of the stem and one of each stage, from large to small.

    ``dilations`` are those of `residual_stages`, which keep the size of later maps.
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        *,
        channels: int = 64,
        dilations: Sequence[tuple[int, int]] | None = None,
    ):
        self.stem = ConvNorm(channels, 7, 2)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.stages = residual_stages(block, depths, channels=channels, dilations=dilations)

    def forward(self, x):
        maps = [ops.relu(self.stem(x))]
        for at, stage in enumerate(self.stages):
            maps.append(stage(self.pool(maps[0]) if at == 0 else maps[-1]))
        return tuple(maps)


def encoder_names(public: str, ours: str) -> list[public_weights.Group]:
    """The groups of public names of a `ResNetEncoder` at ``ours``, torchvision's names below ``public``."""
    groups = [g for g in ResNet.public_names.groups if not any("head/" in own for m in g.mappings for own in m.own)]
    return public_weights.inside(groups, f"{public}.", f"{ours}/")
