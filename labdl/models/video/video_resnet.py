"""R3D, MC3 and R(2+1)D: residual networks for clips with three kinds of convolutions (Tran et al., 2018), as in torchvision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.video.conv_norm import ConvNorm3d, conv_norm_names
from labdl.models.vision.image_size import check_sizes
from labdl.spec import Spec

Kind = Literal["full", "space", "factored"]


class FactoredConvNorm(nn.Module):
    """A convolution over space to ``inner`` channels, then one over time, each normalized, with ReLU between: (2+1)D."""

    def __init__(self, channels: int, inner: int, stride: int = 1):
        self.space = ConvNorm3d(inner, (1, 3, 3), (1, stride, stride))
        self.time = ConvNorm3d(channels, (3, 1, 1), (stride, 1, 1))

    def forward(self, x):
        return self.time(ops.relu(self.space(x)))


class FactoredStem(nn.Module):
    """The stem of R(2+1)D: 1 x 7 x 7 over space to ``inner`` channels, then 3 x 1 x 1 over time."""

    def __init__(self, channels: int, inner: int):
        self.space = ConvNorm3d(inner, (1, 7, 7), (1, 2, 2))
        self.time = ConvNorm3d(channels, (3, 1, 1))

    def forward(self, x):
        return self.time(ops.relu(self.space(x)))


class ClipBlock(nn.Module):
    """Two convolutions of one kind with a skip connection, to ``channels`` at 1 / stride of the size.

    "full" ones are 3 x 3 x 3, "space" ones 1 x 3 x 3, which keep the number of frames, "factored" ones have as many parameters
    as full ones of ``entering`` channels.
    """

    def __init__(self, channels: int, entering: int, stride: int = 1, *, kind: Kind = "full"):
        inner = (entering * channels * 27) // (entering * 9 + 3 * channels)
        self.first = self._convolution(kind, channels, inner, stride)
        self.second = self._convolution(kind, channels, inner, 1)
        steps = (1 if kind == "space" else stride, stride, stride)
        self.shortcut = ConvNorm3d(channels, (1, 1, 1), steps) if stride != 1 or entering != channels else None

    @staticmethod
    def _convolution(kind: Kind, channels: int, inner: int, stride: int) -> nn.Module:
        if kind == "factored":
            return FactoredConvNorm(channels, inner, stride)
        if kind == "space":
            return ConvNorm3d(channels, (1, 3, 3), (1, stride, stride))
        return ConvNorm3d(channels, (3, 3, 3), (stride, stride, stride))

    def forward(self, x):
        y = self.second(ops.relu(self.first(x)))
        return ops.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class VideoResNet(nn.Module):
    """A residual network of four stages for clips: (N, 3, frames, H, W) to logits (N, classes).

    ``kinds`` are the convolutions of each stage; the stem is factored where the first stage is. With ``classes=None`` it
    gives the features before the head.
    """

    def __init__(
        self,
        kinds: Sequence[Kind],
        depths: Sequence[int] = (2, 2, 2, 2),
        *,
        classes: int | None = 400,
        channels: int = 64,
        stem_channels: int = 45,
    ):
        if len(kinds) != len(depths):
            raise ValueError(f"VideoResNet wants as many kinds as depths, received {len(kinds)} and {len(depths)}")
        self.kinds = tuple(kinds)
        self.stem = (
            FactoredStem(channels, stem_channels)
            if kinds[0] == "factored"
            else ConvNorm3d(channels, (3, 7, 7), (1, 2, 2))
        )
        self.stages = nn.ModuleList()
        entering = channels
        for at, (kind, depth) in enumerate(zip(kinds, depths, strict=True)):
            inner = channels * 2**at
            blocks = [
                ClipBlock(inner, inner if i else entering, 2 if at and not i else 1, kind=kind) for i in range(depth)
            ]
            self.stages.append(nn.Sequential(*blocks))
            entering = inner
        self.average = nn.GlobalAvgPool()
        self.head = None if classes is None else nn.Linear(classes, kernel_init="normal(std=0.01)")

    @property
    def public_names(self) -> public_weights.PublicNames:
        """torchvision's names."""
        return public_names(self.kinds)

    def forward(self, x):
        check_sizes("VideoResNet", x, axes="T, H, W")
        x = ops.relu(self.stem(x))
        for stage in self.stages:
            x = stage(x)
        x = self.average(x)
        return x if self.head is None else self.head(x)


def public_names(kinds: Sequence[Kind]) -> public_weights.PublicNames:
    """torchvision's names of a VideoResNet whose stages have these kinds of convolutions."""
    stem = (
        [*conv_norm_names("stem.0", "stem.1", "stem/space"), *conv_norm_names("stem.3", "stem.4", "stem/time")]
        if kinds[0] == "factored"
        else conv_norm_names("stem.0", "stem.1", "stem")
    )
    groups = [public_weights.Group(stem, needed=True)]
    for at, kind in enumerate(kinds):
        theirs, ours = f"layer{at + 1}", f"stages/{at}"
        groups += [
            public_weights.Group(
                *(
                    _convolution_names(kind, f"{theirs}.{{}}.{conv}", f"{ours}/{{}}/{name}")
                    for conv, name in (("conv1", "first"), ("conv2", "second"))
                ),
                needed=True,
            ),
            public_weights.Group(
                conv_norm_names(f"{theirs}.0.downsample.0", f"{theirs}.0.downsample.1", f"{ours}/0/shortcut"),
                needed=at > 0,
            ),
        ]
    return public_weights.PublicNames((*groups, public_weights.Group(public_weights.linear("fc", "head"))))


def _convolution_names(kind: Kind, public: str, ours: str) -> list[public_weights.WeightMapping]:
    if kind != "factored":
        return conv_norm_names(f"{public}.0", f"{public}.1", ours)
    return [
        *conv_norm_names(f"{public}.0.0", f"{public}.0.1", f"{ours}/space"),
        *conv_norm_names(f"{public}.0.3", f"{public}.1", f"{ours}/time"),
    ]


_R3D: tuple[Kind, ...] = ("full", "full", "full", "full")
_MC3: tuple[Kind, ...] = ("full", "space", "space", "space")
_R2PLUS1D: tuple[Kind, ...] = ("factored", "factored", "factored", "factored")


def _small() -> tuple[VideoResNet, tuple[Spec, ...]]:
    model = VideoResNet(("factored", "space"), (1, 1), classes=3, channels=4, stem_channels=3)
    return model, (Spec((None, 3, 4, 12, 12)),)


def _register(kinds: Sequence[Kind], parameters: int, small: zoo.Small | None = None):
    return zoo.register(
        "video classification",
        inputs=zoo.clips(16, 112),
        parameters=parameters,
        paper="https://arxiv.org/abs/1711.11248",
        from_public=public_names(kinds).from_public,
        small=small,
    )


@_register(_R3D, 33_371_472)
def r3d_18(classes: int | None = 400) -> VideoResNet:
    """R3D-18: 18 layers of 3-d convolutions (Tran et al., 2018)."""
    return VideoResNet(_R3D, classes=classes)


@_register(_MC3, 11_695_440)
def mc3_18(classes: int | None = 400) -> VideoResNet:
    """MC3-18: 3-d convolutions in the first stage, 2-d ones in the others (Tran et al., 2018)."""
    return VideoResNet(_MC3, classes=classes)


@_register(_R2PLUS1D, 31_505_325, _small)
def r2plus1d_18(classes: int | None = 400) -> VideoResNet:
    """R(2+1)D-18: convolutions over space, then over time, with as many parameters as R3D-18 (Tran et al., 2018)."""
    return VideoResNet(_R2PLUS1D, classes=classes)
