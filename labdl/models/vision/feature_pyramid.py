"""Feature pyramid network: maps of one width at several scales, from a residual network (Lin et al., 2017)."""

from __future__ import annotations

from collections.abc import Sequence

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models.vision.conv_norm import ConvNorm
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.models.vision.resnet_encoder import ResNetEncoder, encoder_names

_INIT = "variance_scaling(distribution='uniform')"  # He's for a layer without an activation after it


class FeaturePyramid(nn.Module):
    """Maps of ``channels`` channels from maps of any, each twice as large as the next: the finest first, as those given.

    Each is a 1 x 1 convolution of its map, plus the doubled one of the coarser map, and a 3 x 3 convolution of the sum.
    """

    def __init__(self, levels: int, channels: int = 256):
        self.lateral = nn.ModuleList(nn.Conv2d(channels, kernel_size=1, kernel_init=_INIT) for _ in range(levels))
        self.smooth = nn.ModuleList(
            nn.Conv2d(channels, kernel_size=3, padding=1, kernel_init=_INIT) for _ in range(levels)
        )
        self.double = nn.Upsample(2.0)

    def forward(self, *maps):
        sums = []
        for layer, x in zip(reversed(self.lateral), reversed(maps), strict=True):
            sums.append(layer(x) + self.double(sums[-1]) if sums else layer(x))
        return tuple(layer(x) for layer, x in zip(self.smooth, reversed(sums), strict=True))


class ResNetPyramid(nn.Module):
    """A residual network with frozen normalizations and the pyramid of its last maps: images (N, 3, H, W) to maps.

    ``skip`` leaves out the finest stages; ``coarser`` are two more maps by convolutions, of strides 64 and 128,
    or else one map, every second element of the last. H and W are multiples of 32.
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        *,
        width: int = 64,
        channels: int = 256,
        skip: int = 0,
        coarser: bool = False,
    ):
        self.body = ResNetEncoder(block, depths, channels=width)
        for part in self.body.modules():
            if isinstance(part, ConvNorm):
                part.norm = nn.FrozenBatchNorm()
        self.pyramid = FeaturePyramid(len(depths) - skip, channels)
        self.coarser = nn.ModuleList(
            nn.Conv2d(channels, kernel_size=3, stride=2, padding=1, kernel_init=_INIT) for _ in range(2 * coarser)
        )
        self.skip = 1 + skip  # the stem's map, too

    def forward(self, x):
        maps = [*self.pyramid(*self.body(x)[self.skip :])]
        if not len(self.coarser):
            return *maps, ops.max_pool2d(maps[-1], 1, stride=2)
        maps.append(self.coarser[0](maps[-1]))
        return *maps, self.coarser[1](ops.relu(maps[-1]))


def pyramid_names(public: str, ours: str) -> list[public_weights.Group]:
    """The groups of public names of a `ResNetPyramid` at ``ours``, torchvision's names below ``public``."""
    parts = {"inner_blocks.{}.0": "pyramid/lateral/{}", "layer_blocks.{}.0": "pyramid/smooth/{}"}
    further = {"p6": "coarser/0", "p7": "coarser/1"}
    return [
        *encoder_names(f"{public}.body", f"{ours}/body"),
        public_weights.Group(
            *(public_weights.convolution(f"{public}.fpn.{there}", f"{ours}/{here}") for there, here in parts.items()),
            needed=True,
        ),
        public_weights.Group(
            *(
                public_weights.convolution(f"{public}.fpn.extra_blocks.{there}", f"{ours}/{here}")
                for there, here in further.items()
            )
        ),
    ]
