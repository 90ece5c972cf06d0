"""EfficientNet: inverted bottlenecks of scaled width and depth (Tan & Le, 2019), and version 2 (Tan & Le, 2021)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from labdl import nn
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.conv_norm import conv_norm_names
from labdl.spec import Spec

_PAPER, _PAPER_2 = "https://arxiv.org/abs/1905.11946", "https://arxiv.org/abs/2104.00298"
_HE = "he_normal(mode='fan_out')"
# uniform in ± 1 / sqrt(out)
_HEAD = "variance_scaling(scale=0.3333333333333333, mode='fan_out', distribution='uniform')"


@dataclass(frozen=True)
class Stage:
    """Blocks of one kind; the first of them has the stride. ``fused`` ones have no depthwise convolution and no squeeze."""

    expand: int
    kernel_size: int
    stride: int
    channels: int
    depth: int
    fused: bool = False


# table 1 of the first paper: EfficientNet-B0
_B0 = (
    Stage(1, 3, 1, 16, 1),
    Stage(6, 3, 2, 24, 2),
    Stage(6, 5, 2, 40, 2),
    Stage(6, 3, 2, 80, 3),
    Stage(6, 5, 1, 112, 3),
    Stage(6, 5, 2, 192, 4),
    Stage(6, 3, 1, 320, 1),
)
# table 4 of the second paper, and the M and L of its authors' code
_V2_S = (
    Stage(1, 3, 1, 24, 2, fused=True),
    Stage(4, 3, 2, 48, 4, fused=True),
    Stage(4, 3, 2, 64, 4, fused=True),
    Stage(4, 3, 2, 128, 6),
    Stage(6, 3, 1, 160, 9),
    Stage(6, 3, 2, 256, 15),
)
_V2_M = (
    Stage(1, 3, 1, 24, 3, fused=True),
    Stage(4, 3, 2, 48, 5, fused=True),
    Stage(4, 3, 2, 80, 5, fused=True),
    Stage(4, 3, 2, 160, 7),
    Stage(6, 3, 1, 176, 14),
    Stage(6, 3, 2, 304, 18),
    Stage(6, 3, 1, 512, 5),
)
_V2_L = (
    Stage(1, 3, 1, 32, 4, fused=True),
    Stage(4, 3, 2, 64, 7, fused=True),
    Stage(4, 3, 2, 96, 7, fused=True),
    Stage(4, 3, 2, 192, 10),
    Stage(6, 3, 1, 224, 19),
    Stage(6, 3, 2, 384, 25),
    Stage(6, 3, 1, 640, 7),
)


def round_channels(channels: float) -> int:
    """The nearest multiple of 8 that is not more than a tenth below."""
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * channels else nearest


def scale(stages: Sequence[Stage], width: float, depth: float) -> tuple[Stage, ...]:
    """Compound scaling: so many times the channels and the blocks of each stage."""
    return tuple(
        replace(stage, channels=round_channels(stage.channels * width), depth=math.ceil(stage.depth * depth))
        for stage in stages
    )


class InvertedBottleneck(nn.Module):
    """Expands the channels, convolves them each for itself, weighs and contracts them: (N, in, H, W) to (N, channels, ...).

    With a skip connection where the shapes agree, which in training drops the block of a sample at ``rate``.
    """

    def __init__(self, entering: int, stage: Stage, stride: int, rate: float, *, epsilon: float, momentum: float):
        inner = round_channels(entering * stage.expand)
        block = functools.partial(
            nn.ConvNormAct, activation="silu", kernel_init=_HE, epsilon=epsilon, momentum=momentum
        )
        self.expand = block(inner, kernel_size=1) if inner != entering else None
        self.depthwise = block(inner, kernel_size=stage.kernel_size, stride=stride, groups=inner)
        self.squeeze = nn.SqueezeExcitation(max(1, entering // 4), activation="silu", kernel_init=_HE)
        self.contract = block(stage.channels, kernel_size=1, activation=None)
        self.drop = nn.DropPath(rate) if stride == 1 and entering == stage.channels else None

    def forward(self, x):
        y = x if self.expand is None else self.expand(x)
        y = self.contract(self.squeeze(self.depthwise(y)))
        return y if self.drop is None else x + self.drop(y)


class FusedBottleneck(nn.Module):
    """Expands the channels with a full convolution and contracts them; one convolution where nothing is expanded."""

    def __init__(self, entering: int, stage: Stage, stride: int, rate: float, *, epsilon: float, momentum: float):
        inner = round_channels(entering * stage.expand)
        block = functools.partial(
            nn.ConvNormAct, activation="silu", kernel_init=_HE, epsilon=epsilon, momentum=momentum
        )
        expands = inner != entering
        self.expand = block(inner if expands else stage.channels, kernel_size=stage.kernel_size, stride=stride)
        self.contract = block(stage.channels, kernel_size=1, activation=None) if expands else None
        self.drop = nn.DropPath(rate) if stride == 1 and entering == stage.channels else None

    def forward(self, x):
        y = self.expand(x)
        y = y if self.contract is None else self.contract(y)
        return y if self.drop is None else x + self.drop(y)


class EfficientNet(nn.Module):
    """Stages of inverted bottlenecks: images (N, C, H, W) to logits (N, classes).

    ``stem`` and ``last`` are the channels of the first and the last convolution, ``rate`` is the dropout before the head, and
    ``drop_path`` the rate at which the last block of a sample is dropped in training; that of the others rises linearly from
    0. With ``classes=None`` it gives the features before the head.
    """

    def __init__(
        self,
        stages: Sequence[Stage] = _B0,
        *,
        stem: int = 32,
        last: int = 1280,
        classes: int | None = 1000,
        rate: float = 0.2,
        drop_path: float = 0.2,
        epsilon: float = 1e-5,
        momentum: float = 0.1,
    ):
        block = functools.partial(
            nn.ConvNormAct, activation="silu", kernel_init=_HE, epsilon=epsilon, momentum=momentum
        )
        self.plan = tuple(stages)
        self.stem = block(stem, kernel_size=3, stride=2)
        self.stages = nn.ModuleList()
        total, at, entering = sum(stage.depth for stage in stages), 0, stem
        for stage in stages:
            kind = FusedBottleneck if stage.fused else InvertedBottleneck
            blocks = nn.Sequential()
            for i in range(stage.depth):
                stride, share = 1 if i else stage.stride, drop_path * at / total
                blocks.append(kind(entering, stage, stride, share, epsilon=epsilon, momentum=momentum))
                entering, at = stage.channels, at + 1
            self.stages.append(blocks)
        self.last = block(last, kernel_size=1)
        self.average = nn.GlobalAvgPool()
        self.dropout = nn.Dropout(rate)
        self.head = None if classes is None else nn.Linear(classes, kernel_init=_HEAD)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        x = self.average(self.last(x))
        return x if self.head is None else self.head(self.dropout(x))

    @property
    def public_names(self) -> public_weights.PublicNames:
        """torchvision's names, which number the parts of a block."""
        return public_names(self.plan)


def squeeze_names(public: str, ours: str) -> list[public_weights.WeightMapping]:
    """A linear layer here that is a 1 x 1 convolution there."""
    return [
        *public_weights.combine(
            [f"{public}.weight"],
            f"{ours}/kernel:0",
            lambda a: a[:, :, 0, 0].T,
            lambda a: [a.T[:, :, np.newaxis, np.newaxis]],
        ),
        *public_weights.plain(f"{public}.bias", f"{ours}/bias:0"),
    ]


def _block_names(at: int, stage: Stage) -> list[public_weights.WeightMapping]:
    block, ours = f"features.{at + 1}.{{}}.block", f"stages/{at}/{{}}"
    expands = stage.expand != 1
    parts = ["expand", "contract"][: 1 + expands] if stage.fused else ["expand", "depthwise", "squeeze", "contract"]
    mappings = []
    for number, part in enumerate(parts if stage.fused or expands else parts[1:]):
        if part == "squeeze":
            mappings += squeeze_names(f"{block}.{number}.fc1", f"{ours}/squeeze/reduce")
            mappings += squeeze_names(f"{block}.{number}.fc2", f"{ours}/squeeze/expand")
        else:
            mappings += conv_norm_names(f"{block}.{number}.0", f"{block}.{number}.1", f"{ours}/{part}")
    return mappings


def public_names(stages: Sequence[Stage]) -> public_weights.PublicNames:
    """torchvision's names of an EfficientNet with these stages."""
    last = f"features.{len(stages) + 1}"
    return public_weights.PublicNames(
        (
            public_weights.Group(conv_norm_names("features.0.0", "features.0.1", "stem"), needed=True),
            *(public_weights.Group(_block_names(at, stage), needed=True) for at, stage in enumerate(stages)),
            public_weights.Group(conv_norm_names(f"{last}.0", f"{last}.1", "last"), needed=True),
            public_weights.Group(public_weights.linear("classifier.1", "head")),
        )
    )


def _scale_b0(width: float, depth: float, rate: float, classes: int | None, **norm: float) -> EfficientNet:
    stages, stem = scale(_B0, width, depth), round_channels(32 * width)
    return EfficientNet(stages, stem=stem, last=4 * stages[-1].channels, classes=classes, rate=rate, **norm)


def _register(size: int, stages: Sequence[Stage], paper: str = _PAPER, small: zoo.Small | None = None):
    return functools.partial(
        zoo.register,
        "image classification",
        inputs=zoo.images(size),
        paper=paper,
        from_public=public_names(stages).from_public,
        small=small,
    )


def _small() -> tuple[EfficientNet, tuple[Spec, ...]]:
    stages = (Stage(1, 3, 1, 8, 1, fused=True), Stage(2, 3, 2, 8, 2, fused=True), Stage(2, 5, 1, 8, 2))
    return EfficientNet(stages, stem=8, last=16, classes=3), (Spec((None, 3, 16, 16)),)


@_register(224, _B0, small=_small)(parameters=5_288_548)
def efficientnet_b0(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B0, for images of 224 x 224 (Tan & Le, 2019)."""
    return _scale_b0(1.0, 1.0, 0.2, classes)


@_register(240, _B0)(parameters=7_794_184)
def efficientnet_b1(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B1, for images of 240 x 240 (Tan & Le, 2019)."""
    return _scale_b0(1.0, 1.1, 0.2, classes)


@_register(288, _B0)(parameters=9_109_994)
def efficientnet_b2(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B2, for images of 288 x 288 (Tan & Le, 2019)."""
    return _scale_b0(1.1, 1.2, 0.3, classes)


@_register(300, _B0)(parameters=12_233_232)
def efficientnet_b3(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B3, for images of 300 x 300 (Tan & Le, 2019)."""
    return _scale_b0(1.2, 1.4, 0.3, classes)


@_register(380, _B0)(parameters=19_341_616)
def efficientnet_b4(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B4, for images of 380 x 380 (Tan & Le, 2019)."""
    return _scale_b0(1.4, 1.8, 0.4, classes)


@_register(456, _B0)(parameters=30_389_784)
def efficientnet_b5(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B5, for images of 456 x 456 (Tan & Le, 2019)."""
    return _scale_b0(1.6, 2.2, 0.4, classes, epsilon=1e-3, momentum=0.01)


@_register(528, _B0)(parameters=43_040_704)
def efficientnet_b6(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B6, for images of 528 x 528 (Tan & Le, 2019)."""
    return _scale_b0(1.8, 2.6, 0.5, classes, epsilon=1e-3, momentum=0.01)


@_register(600, _B0)(parameters=66_347_960)
def efficientnet_b7(classes: int | None = 1000) -> EfficientNet:
    """EfficientNet-B7, for images of 600 x 600 (Tan & Le, 2019)."""
    return _scale_b0(2.0, 3.1, 0.5, classes, epsilon=1e-3, momentum=0.01)


@_register(384, _V2_S, _PAPER_2)(parameters=21_458_488)
def efficientnet_v2_s(classes: int | None = 1000) -> EfficientNet:
    """EfficientNetV2-S, for images of 384 x 384 (Tan & Le, 2021)."""
    return EfficientNet(_V2_S, stem=24, classes=classes, rate=0.2, epsilon=1e-3)


@_register(480, _V2_M, _PAPER_2)(parameters=54_139_356)
def efficientnet_v2_m(classes: int | None = 1000) -> EfficientNet:
    """EfficientNetV2-M, for images of 480 x 480 (Tan & Le, 2021)."""
    return EfficientNet(_V2_M, stem=24, classes=classes, rate=0.3, epsilon=1e-3)


@_register(480, _V2_L, _PAPER_2)(parameters=118_515_272)
def efficientnet_v2_l(classes: int | None = 1000) -> EfficientNet:
    """EfficientNetV2-L, for images of 480 x 480 (Tan & Le, 2021)."""
    return EfficientNet(_V2_L, stem=32, classes=classes, rate=0.4, epsilon=1e-3)
