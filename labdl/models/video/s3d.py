"""S3D: inception blocks whose convolutions are separate over space and time (Xie et al., 2018), as in torchvision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.video.conv_norm import ConvNorm3d, Window, conv_norm_names
from labdl.models.vision.image_size import check_sizes
from labdl.spec import Spec

# of each inception block: the 1 x 1 x 1 branch, two pairs (before and of the separable convolution), and after the pooling
Widths = tuple[int, tuple[int, int], tuple[int, int], int]
INCEPTION: tuple[tuple[Widths, ...], ...] = (
    ((64, (96, 128), (16, 32), 32), (128, (128, 192), (32, 96), 64)),
    (
        (192, (96, 208), (16, 48), 64),
        (160, (112, 224), (24, 64), 64),
        (128, (128, 256), (24, 64), 64),
        (112, (144, 288), (32, 64), 64),
        (256, (160, 320), (32, 128), 128),
    ),
    ((256, (160, 320), (32, 128), 128), (384, (192, 384), (48, 128), 128)),
)


def _convolution(channels: int, kernel_size: Window = (1, 1, 1), stride: Window = (1, 1, 1)) -> ConvNorm3d:
    return ConvNorm3d(channels, kernel_size, stride, epsilon=1e-3, momentum=1e-3, kernel_init="fan_in_uniform")


class SeparableConv(nn.Module):
    """A convolution over space, then one over time, each normalized and with ReLU."""

    def __init__(self, channels: int, size: int = 3, stride: int = 1):
        self.space = _convolution(channels, (1, size, size), (1, stride, stride))
        self.time = _convolution(channels, (size, 1, 1), (stride, 1, 1))

    def forward(self, x):
        return ops.relu(self.time(ops.relu(self.space(x))))


class Inception(nn.Module):
    """Four branches side by side, of equal size: 1 x 1 x 1, two separable convolutions, and pooling."""

    def __init__(self, widths: Widths):
        point, first, second, pooled = widths
        self.point = _convolution(point)
        self.first_reduction = _convolution(first[0])
        self.first = SeparableConv(first[1])
        self.second_reduction = _convolution(second[0])
        self.second = SeparableConv(second[1])
        self.pool = nn.MaxPool3d(3, stride=1, padding=1)
        self.pooled = _convolution(pooled)

    def forward(self, x):
        branches = (
            ops.relu(self.point(x)),
            self.first(ops.relu(self.first_reduction(x))),
            self.second(ops.relu(self.second_reduction(x))),
            ops.relu(self.pooled(self.pool(x))),
        )
        return ops.concat(branches, axis=1)


class S3D(nn.Module):
    """S3D: clips (N, 3, frames, H, W) of at least 16 frames of 224 x 224 to logits (N, classes).

    ``channels`` are those of the stem and of the convolution after it, ``stages`` the `Widths` of the inception blocks between
    the poolings, ``window`` the frames, height and width of the last average pooling. Longer and larger clips are averaged.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        classes: int = 400,
        *,
        channels: tuple[int, int] = (64, 192),
        stages: tuple[tuple[Widths, ...], ...] = INCEPTION,
        window: Window = (2, 7, 7),
        rate: float = 0.2,
    ):
        self.stem = SeparableConv(channels[0], 7, 2)
        self.first_pool = nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1))
        self.point = _convolution(channels[0])
        self.convolution = SeparableConv(channels[1])
        self.second_pool = nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1))
        self.stages = nn.ModuleList([nn.Sequential(*(Inception(widths) for widths in stage)) for stage in stages])
        self.pools = nn.ModuleList([nn.MaxPool3d(3, stride=2, padding=1), nn.MaxPool3d(2)])
        self.average = nn.AvgPool3d(window, stride=1)
        self.dropout = nn.Dropout(rate)
        self.head = nn.Conv3d(classes, kernel_size=1)
        self.window = window

    @property
    def least_size(self) -> Window:
        """The smallest number of frames, height and width of a clip."""
        frames, *sides = self.window
        # backwards through the poolings: the last one halves and rounds down, the others round up
        return (8 * frames - 3, *(32 * n - 15 for n in sides))  # type: ignore[return-value]

    def forward(self, x):
        check_sizes("S3D", x, least=self.least_size, axes="T, H, W")
        x = ops.relu(self.point(self.first_pool(self.stem(x))))
        x = self.second_pool(self.convolution(x))
        for at, stage in enumerate(self.stages):
            x = stage(x if at == 0 else self.pools[at - 1](x))
        x = self.head(self.dropout(self.average(x)))
        return ops.mean(x, axis=(2, 3, 4))


def _separable(public: str, ours: str) -> list[public_weights.WeightMapping]:
    return [
        *conv_norm_names(f"{public}.0.0", f"{public}.0.1", f"{ours}/space"),
        *conv_norm_names(f"{public}.1.0", f"{public}.1.1", f"{ours}/time"),
    ]


def _inception(public: str, ours: str) -> list[public_weights.WeightMapping]:
    return [
        *conv_norm_names(f"{public}.branch0.0", f"{public}.branch0.1", f"{ours}/point"),
        *conv_norm_names(f"{public}.branch1.0.0", f"{public}.branch1.0.1", f"{ours}/first_reduction"),
        *_separable(f"{public}.branch1.1", f"{ours}/first"),
        *conv_norm_names(f"{public}.branch2.0.0", f"{public}.branch2.0.1", f"{ours}/second_reduction"),
        *_separable(f"{public}.branch2.1", f"{ours}/second"),
        *conv_norm_names(f"{public}.branch3.1.0", f"{public}.branch3.1.1", f"{ours}/pooled"),
    ]


# the numbers of torchvision's inception blocks, between which its poolings have some
_NUMBERS = ((5, 6), (8, 9, 10, 11, 12), (14, 15))
S3D.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            _separable("features.0", "stem"),
            conv_norm_names("features.2.0", "features.2.1", "point"),
            _separable("features.3", "convolution"),
            *(
                _inception(f"features.{number}", f"stages/{stage}/{at}")
                for stage, numbers in enumerate(_NUMBERS)
                for at, number in enumerate(numbers)
            ),
            public_weights.convolution("classifier.1", "head", axes=3),
            needed=True,
        ),
    )
)


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's S3D; raises StateDictError naming what is missing or unexpected."""
    return S3D.public_names.from_public(weights)


def _small() -> tuple[S3D, tuple[Spec, ...]]:
    widths = (2, (2, 3), (2, 2), 2)
    model = S3D(3, channels=(4, 4), stages=((widths,), (widths,), (widths,)), window=(1, 1, 1))
    return model, (Spec((None, 3, 6, 18, 20)),)


@zoo.register(
    "video classification",
    inputs=zoo.clips(16, 224),
    parameters=8_320_048,
    paper="https://arxiv.org/abs/1712.04851",
    from_public=from_torchvision,
    small=_small,
)
def s3d(classes: int = 400) -> S3D:
    """S3D: inception blocks with separate convolutions over space and time (Xie et al., 2018)."""
    return S3D(classes)
