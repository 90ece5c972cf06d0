"""Cross stage partial blocks: a part of the channels passes bottlenecks, the rest goes around them (Wang et al., 2020).

The paper is https://arxiv.org/abs/1911.11929; C3 and C2f are the forms of YOLOv5 and YOLOv8.
"""

from __future__ import annotations

from labdl import nn, ops
from labdl.interop.public_weights import WeightMapping
from labdl.models.vision.conv_norm import conv_norm_names


def convolution(channels: int, kernel_size: int = 1, stride: int = 1, *, activation: str | None = "silu") -> nn.Module:
    """A convolution without bias, batch normalization with epsilon 1e-3 and momentum 0.03, and SiLU or another function.

    The padding keeps the size at stride 1. All YOLO families from version 5 on are made of it.
    """
    return nn.ConvNormAct(
        channels, kernel_size=kernel_size, stride=stride, activation=activation, epsilon=1e-3, momentum=0.03
    )


def convolution_names(public: str, ours: str) -> list[WeightMapping]:
    """Names of a `convolution` whose parts are called ``conv`` and ``bn``."""
    return conv_norm_names(f"{public}.conv", f"{public}.bn", ours)


class Bottleneck(nn.Module):
    """Two convolutions of the same channels, 3 x 3 the second, and a shortcut: (N, C, H, W) to the same shape."""

    def __init__(self, channels: int, kernel_size: int = 1, *, shortcut: bool = True):
        self.first = convolution(channels, kernel_size)
        self.second = convolution(channels, 3)
        self.shortcut = shortcut

    def forward(self, x):
        y = self.second(self.first(x))
        return x + y if self.shortcut else y


class C3(nn.Module):
    """Bottlenecks on one 1 x 1 convolution to half of the channels, appended to another one, and a third over both."""

    def __init__(self, channels: int, depth: int = 1, *, shortcut: bool = True):
        self.inner = convolution(channels // 2)
        self.around = convolution(channels // 2)
        self.blocks = nn.Sequential(*(Bottleneck(channels // 2, shortcut=shortcut) for _ in range(depth)))
        self.merge = convolution(channels)

    def forward(self, x):
        return self.merge(ops.concat([self.blocks(self.inner(x)), self.around(x)], axis=1))


class C2f(nn.Module):
    """Bottlenecks on the second half of a 1 x 1 convolution; both halves and the result of each are merged by another one."""

    def __init__(self, channels: int, depth: int = 1, *, shortcut: bool = True):
        self.enter = convolution(channels // 2 * 2)
        self.blocks = nn.ModuleList([Bottleneck(channels // 2, 3, shortcut=shortcut) for _ in range(depth)])
        self.merge = convolution(channels)

    def forward(self, x):
        parts = [*ops.split(self.enter(x), 2, axis=1)]
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.merge(ops.concat(parts, axis=1))


def _bottleneck_names(public: str, ours: str) -> list[WeightMapping]:
    return [
        *convolution_names(f"{public}.m.{{}}.cv1", f"{ours}/blocks/{{}}/first"),
        *convolution_names(f"{public}.m.{{}}.cv2", f"{ours}/blocks/{{}}/second"),
    ]


def c3_names(public: str, ours: str) -> tuple[list[WeightMapping], list[WeightMapping]]:
    """Names of a `C3`, and those of each of its bottlenecks."""
    outer = [
        *convolution_names(f"{public}.cv1", f"{ours}/inner"),
        *convolution_names(f"{public}.cv2", f"{ours}/around"),
        *convolution_names(f"{public}.cv3", f"{ours}/merge"),
    ]
    return outer, _bottleneck_names(public, ours)


def c2f_names(public: str, ours: str) -> tuple[list[WeightMapping], list[WeightMapping]]:
    """Names of a `C2f`, and those of each of its bottlenecks."""
    outer = [
        *convolution_names(f"{public}.cv1", f"{ours}/enter"),
        *convolution_names(f"{public}.cv2", f"{ours}/merge"),
    ]
    return outer, _bottleneck_names(public, ours)
