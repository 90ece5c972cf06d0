"""Depthwise and separable convolutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from labdl import ops
from labdl.nn.convolution import input_channels
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initializer, Padding, Size
from labdl.ops.operator import floats
from labdl.spec import per_axis


def _kernel(out: int, into: int, window: tuple[int, ...], init: str) -> Parameter:
    """Kernel parameter: operators take (out, in, window...), files hold (window..., in, out)."""
    return Parameter((out, into, *window), init, standard=(*range(2, 2 + len(window)), 1, 0))


@dataclass(eq=False, repr=False)
class _Depthwise(Module):
    """Base class of depthwise convolutions, which differ in the operator and in the number of axes."""

    kernel_size: Size = 3
    multiplier: Count = 1
    stride: Size = 1
    padding: Padding = 0
    dilation: Size = 1
    use_bias: bool = True
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"
    in_channels: Count | None = None

    operator: ClassVar[Callable]
    axes: ClassVar[str]

    def setup(self, x):
        channels = input_channels(type(self).__name__, x, self.axes, self.data_format, self.in_channels)
        window = per_axis(self.kernel_size, self.axes.count(",") + 1, "kernel_size")
        self.kernel = _kernel(channels * self.multiplier, 1, window, self.kernel_init)
        self.bias = Parameter((channels * self.multiplier,)) if self.use_bias else None

    def forward(self, x):
        return type(self).operator(
            x,
            self.kernel,
            self.bias,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            data_format=self.data_format,
        )


@layer({"multiplier": 2, "padding": "same"}, floats(2, 3, 6), category="convolution")
class DepthwiseConv1d(_Depthwise):
    """1-d depthwise convolution, a separate one for each channel: (N, C, L) to (N, C * multiplier, L).

    A convolution with as many groups as channels: channel c gives the outputs c * multiplier and following.
    """

    operator, axes = ops.depthwise_conv1d, "L"


@layer({"multiplier": 2, "padding": "same"}, floats(2, 3, 5, 4), category="convolution")
class DepthwiseConv2d(_Depthwise):
    """2-d depthwise convolution, a separate one for each channel: (N, C, H, W) to (N, C * multiplier, H, W).

    A convolution with as many groups as channels: channel c gives the outputs c * multiplier and following.
    """

    operator, axes = ops.depthwise_conv2d, "H, W"


@dataclass(eq=False, repr=False)
class _Separable(Module):
    """Base class of separable convolutions, which differ in the operator and in the number of axes."""

    out_channels: Count
    kernel_size: Size = 3
    multiplier: Count = 1
    stride: Size = 1
    padding: Padding = 0
    dilation: Size = 1
    use_bias: bool = True
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"
    in_channels: Count | None = None

    operator: ClassVar[Callable]
    axes: ClassVar[str]

    def setup(self, x):
        rank = self.axes.count(",") + 1
        channels = input_channels(type(self).__name__, x, self.axes, self.data_format, self.in_channels)
        inner = channels * self.multiplier
        self.depthwise_kernel = _kernel(inner, 1, per_axis(self.kernel_size, rank, "kernel_size"), self.kernel_init)
        self.pointwise_kernel = _kernel(self.out_channels, inner, (1,) * rank, self.kernel_init)
        self.bias = Parameter((self.out_channels,)) if self.use_bias else None

    def forward(self, x):
        return type(self).operator(
            x,
            self.depthwise_kernel,
            self.pointwise_kernel,
            self.bias,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            data_format=self.data_format,
        )


@layer({"out_channels": 4, "padding": "same"}, floats(2, 3, 6), category="convolution")
class SeparableConv1d(_Separable):
    """1-d depthwise convolution of (N, C, L) followed by a pointwise one (Chollet, 2017)."""

    operator, axes = ops.separable_conv1d, "L"


@layer({"out_channels": 4, "padding": "same"}, floats(2, 3, 5, 4), category="convolution")
class SeparableConv2d(_Separable):
    """2-d depthwise convolution of (N, C, H, W) followed by a pointwise one (Chollet, 2017)."""

    operator, axes = ops.separable_conv2d, "H, W"
