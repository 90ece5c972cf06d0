"""The pathway of bottlenecks that SlowFast and its slow half share (Feichtenhofer et al., 2019), as in pytorchvideo."""

from __future__ import annotations

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models.video.conv_norm import ConvNorm3d, conv_norm_names

DEPTHS: dict[int, tuple[int, ...]] = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}
SLOW_FRAMES = (1, 1, 3, 3)  # frames of the first convolution in a block, by stage
FAST_FRAMES = (3, 3, 3, 3)


class PathwayStem(nn.Module):
    """A convolution of ``frames`` x 7 x 7, which halves height and width, and a pooling that halves them again."""

    def __init__(self, channels: int, frames: int):
        self.convolution = ConvNorm3d(channels, (frames, 7, 7), (1, 2, 2))
        self.pool = nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1))

    def forward(self, x):
        return self.pool(ops.relu(self.convolution(x)))


class PathwayBlock(nn.Module):
    """Convolutions over ``frames``, over space and of 1, with a skip connection, to 4 * channels; no stride in time."""

    def __init__(self, channels: int, frames: int, stride: int = 1, *, project: bool = False):
        self.first = ConvNorm3d(channels, (frames, 1, 1))
        self.second = ConvNorm3d(channels, (1, 3, 3), (1, stride, stride))
        self.third = ConvNorm3d(4 * channels, (1, 1, 1))
        self.shortcut = ConvNorm3d(4 * channels, (1, 1, 1), (1, stride, stride)) if project else None

    def forward(self, x):
        y = self.third(ops.relu(self.second(ops.relu(self.first(x)))))
        return ops.relu(y + (x if self.shortcut is None else self.shortcut(x)))


def stage(at: int, depth: int, channels: int, frames: int) -> nn.Sequential:
    """The blocks of a stage, of which the first projects, and halves height and width after the first stage."""
    return nn.Sequential(
        *(PathwayBlock(channels, frames, 2 if at and not i else 1, project=i == 0) for i in range(depth))
    )


def stem_names(public: str, ours: str) -> list[public_weights.WeightMapping]:
    """pytorchvideo's names of a `PathwayStem`."""
    return conv_norm_names(f"{public}.conv", f"{public}.norm", f"{ours}/convolution")


def stage_names(public: str, ours: str) -> list[public_weights.Group]:
    """pytorchvideo's names of a `stage`."""
    block, own = f"{public}.res_blocks.{{}}.branch2", f"{ours}/{{}}"
    parts = (("a", "first"), ("b", "second"), ("c", "third"))
    first = f"{public}.res_blocks.0"
    return [
        public_weights.Group(
            *(
                conv_norm_names(f"{block}.conv_{letter}", f"{block}.norm_{letter}", f"{own}/{name}")
                for letter, name in parts
            ),
            needed=True,
        ),
        public_weights.Group(
            conv_norm_names(f"{first}.branch1_conv", f"{first}.branch1_norm", f"{ours}/0/shortcut"), needed=True
        ),
    ]
