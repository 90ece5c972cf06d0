"""Convolutions over one, two and three spatial axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from labdl import ops
from labdl.nn.linear import sized
from labdl.nn.module import Module, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initialiser, Padding, Size
from labdl.ops.operator import floats
from labdl.spec import per_axis, show


@dataclass(eq=False, repr=False)
class _Convolution(Module):
    """What convolutions share: they differ in the operator and in the number of axes."""

    out_channels: Count
    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding = 0
    dilation: Size = 1
    groups: Count = 1
    use_bias: bool = True
    data_format: DataFormat = "channels_first"
    kernel_init: Initialiser = "fan_in_uniform"
    in_channels: Count | None = None

    operator: ClassVar[Callable]
    axes: ClassVar[str]

    def setup(self, x):
        name, rank = type(self).__name__, self.axes.count(",") + 1
        if x.ndim != rank + 2:
            order = f"(N, C, {self.axes})" if self.data_format == "channels_first" else f"(N, {self.axes}, C)"
            raise ValueError(f"{name} wants {rank + 2} axes {order}, received {show(x.shape)}")
        at = 1 if self.data_format == "channels_first" else -1
        channels = sized(name, "in_channels", self.in_channels, x.shape[at])
        if channels % self.groups or self.out_channels % self.groups:
            raise ValueError(f"{name}: groups={self.groups} must divide in_channels={channels} and "
                             f"out_channels={self.out_channels}")  # fmt: skip
        window = per_axis(self.kernel_size, rank, "kernel_size")
        # operators take (out, in, window...), files hold (window..., in, out)
        standard = (*range(2, 2 + rank), 1, 0)
        self.kernel = Parameter(
            (self.out_channels, channels // self.groups, *window), self.kernel_init, standard=standard
        )
        self.bias = Parameter((self.out_channels,)) if self.use_bias else None

    def forward(self, x):
        return type(self).operator(x, self.kernel, self.bias, stride=self.stride, padding=self.padding,
                                   dilation=self.dilation, groups=self.groups, data_format=self.data_format)  # fmt: skip


@layer({"out_channels": 8, "padding": "same"}, floats(2, 3, 8))
class Conv1d(_Convolution):
    """1-d convolution over (N, C, L); input channels are found at build."""

    operator, axes = ops.conv1d, "L"


@layer({"out_channels": 8, "padding": "same"}, floats(2, 3, 6, 5))
class Conv2d(_Convolution):
    """2-d convolution over (N, C, H, W); input channels are found at build."""

    operator, axes = ops.conv2d, "H, W"


@layer({"out_channels": 8, "padding": "same"}, floats(1, 3, 4, 5, 4))
class Conv3d(_Convolution):
    """3-d convolution over (N, C, D, H, W); input channels are found at build."""

    operator, axes = ops.conv3d, "D, H, W"
