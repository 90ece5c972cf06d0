"""VGG: deep stacks of 3 x 3 convolutions (Simonyan & Zisserman, 2015), with and without batch normalization."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.conv_norm import conv_norm_names
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1409.1556"

# numbers of convolutions in the five stages: configurations A, B, D and E of the paper's table 1
VGG11, VGG13, VGG16, VGG19 = (1, 1, 2, 2, 2), (2, 2, 2, 2, 2), (2, 2, 3, 3, 3), (2, 2, 4, 4, 4)


class VGG(nn.Module):
    """Stages of 3 x 3 convolutions, each with max pooling after it, and three linear layers: (N, C, H, W) to (N, classes).

    ``depths`` are the numbers of convolutions in the stages; the first has ``channels``, each following one twice as many, up
    to 8 times. The linear layers see a map averaged to 7 x 7, so images of any size are taken, of 32 x 32 at least with five
    stages. With ``classes=None`` it gives the ``hidden`` features before the head.
    """

    def __init__(
        self,
        depths: Sequence[int] = VGG16,
        *,
        classes: int | None = 1000,
        batch_norm: bool = False,
        channels: int = 64,
        hidden: int = 4096,
        rate: float = 0.5,
    ):
        self.depths, self.batch_norm = tuple(depths), batch_norm
        self.stages = nn.ModuleList(
            nn.Sequential(
                *(_convolution(min(channels * 2**at, channels * 8), batch_norm) for _ in range(depth)), nn.MaxPool2d(2)
            )
            for at, depth in enumerate(depths)
        )
        self.average = nn.AdaptiveAvgPool2d(7)
        self.hidden = nn.Sequential(*_linear_layers(hidden, rate), *_linear_layers(hidden, rate))
        self.head = None if classes is None else nn.Linear(classes, kernel_init="normal(std=0.01)")

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        x = self.hidden(ops.flatten(self.average(x), 1))
        return x if self.head is None else self.head(x)

    @property
    def public_names(self) -> public_weights.PublicNames:
        """torchvision's names, which number the layers of all stages together."""
        return public_names(self.depths, self.batch_norm)


def _convolution(channels: int, batch_norm: bool) -> nn.Module:
    return nn.ConvNormAct(
        channels,
        kernel_size=3,
        normalization="batch" if batch_norm else None,
        use_bias=True,
        kernel_init="he_normal(mode='fan_out')",
    )


def _linear_layers(features: int, rate: float) -> list[nn.Module]:
    return [nn.Linear(features, kernel_init="normal(std=0.01)"), nn.ReLU(), nn.Dropout(rate)]


def public_names(depths: Sequence[int], batch_norm: bool) -> public_weights.PublicNames:
    """torchvision's names of a VGG with so many convolutions in its stages."""
    mappings, at = [], 0
    for stage, depth in enumerate(depths):
        for i in range(depth):
            layer, ours = f"features.{at}", f"stages/{stage}/{i}"
            if batch_norm:
                mappings += conv_norm_names(layer, f"features.{at + 1}", ours, use_bias=True)
            else:
                mappings += public_weights.convolution(layer, f"{ours}/conv")
            at += 3 if batch_norm else 2  # a ReLU has a number too
        at += 1  # the pooling
    hidden = [*public_weights.linear("classifier.0", "hidden/0"), *public_weights.linear("classifier.3", "hidden/3")]
    return public_weights.PublicNames(
        (
            public_weights.Group(mappings, hidden, needed=True),
            public_weights.Group(public_weights.linear("classifier.6", "head")),
        )
    )


def _register(depths: Sequence[int], batch_norm: bool = False, small: zoo.Small | None = None):
    return functools.partial(
        zoo.register,
        "image classification",
        inputs=zoo.images(),
        paper=_PAPER,
        from_public=public_names(depths, batch_norm).from_public,
        small=small,
    )


def _small() -> tuple[VGG, tuple[Spec, ...]]:
    return VGG((1, 2), classes=3, batch_norm=True, channels=4, hidden=8), (Spec((None, 3, 16, 16)),)


@_register(VGG11)(parameters=132_863_336)
def vgg11(classes: int | None = 1000) -> VGG:
    """VGG-11: eight convolutions and three linear layers (Simonyan & Zisserman, 2015)."""
    return VGG(VGG11, classes=classes)


@_register(VGG13)(parameters=133_047_848)
def vgg13(classes: int | None = 1000) -> VGG:
    """VGG-13: ten convolutions and three linear layers (Simonyan & Zisserman, 2015)."""
    return VGG(VGG13, classes=classes)


@_register(VGG16)(parameters=138_357_544)
def vgg16(classes: int | None = 1000) -> VGG:
    """VGG-16: thirteen convolutions and three linear layers (Simonyan & Zisserman, 2015)."""
    return VGG(VGG16, classes=classes)


@_register(VGG19)(parameters=143_667_240)
def vgg19(classes: int | None = 1000) -> VGG:
    """VGG-19: sixteen convolutions and three linear layers (Simonyan & Zisserman, 2015)."""
    return VGG(VGG19, classes=classes)


@_register(VGG11, True, _small)(parameters=132_868_840)
def vgg11_bn(classes: int | None = 1000) -> VGG:
    """VGG-11 with batch normalization."""
    return VGG(VGG11, classes=classes, batch_norm=True)


@_register(VGG13, True)(parameters=133_053_736)
def vgg13_bn(classes: int | None = 1000) -> VGG:
    """VGG-13 with batch normalization."""
    return VGG(VGG13, classes=classes, batch_norm=True)


@_register(VGG16, True)(parameters=138_365_992)
def vgg16_bn(classes: int | None = 1000) -> VGG:
    """VGG-16 with batch normalization."""
    return VGG(VGG16, classes=classes, batch_norm=True)


@_register(VGG19, True)(parameters=143_678_248)
def vgg19_bn(classes: int | None = 1000) -> VGG:
    """VGG-19 with batch normalization."""
    return VGG(VGG19, classes=classes, batch_norm=True)
