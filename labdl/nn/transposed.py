"""Transposed convolutions: they make spatial axes larger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from labdl import ops
from labdl.nn.convolution import channels_of
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initialiser, Padding, Size, Whole
from labdl.ops.operator import floats
from labdl.spec import per_axis


@dataclass(eq=False, repr=False)
class _Transposed(Module):
    """What transposed convolutions share: they differ in the operator and in the number of axes."""

    out_channels: Count
    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding = 0
    output_padding: Whole | tuple[Whole, ...] = 0
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
        channels = channels_of(name, x, self.axes, self.data_format, self.in_channels)
        if channels % self.groups or self.out_channels % self.groups:
            raise ValueError(f"{name}: groups={self.groups} must divide in_channels={channels} and "
                             f"out_channels={self.out_channels}")  # fmt: skip
        window = per_axis(self.kernel_size, rank, "kernel_size")
        # operators take (in, out, window...), files hold (window..., in, out)
        standard = (*range(2, 2 + rank), 0, 1)
        self.kernel = Parameter(
            (channels, self.out_channels // self.groups, *window), self.kernel_init, standard=standard
        )
        self.bias = Parameter((self.out_channels,)) if self.use_bias else None

    def forward(self, x):
        return type(self).operator(x, self.kernel, self.bias, stride=self.stride, padding=self.padding,
                                   output_padding=self.output_padding, dilation=self.dilation, groups=self.groups,
                                   data_format=self.data_format)  # fmt: skip


@layer({"out_channels": 4, "stride": 2, "padding": "same"}, floats(2, 3, 5), category="convolution")
class ConvTranspose1d(_Transposed):
    """1-d transposed convolution over (N, C, L): the gradient of Conv1d as a layer.

    ``padding="same"`` gives L * stride; ``output_padding`` appends to one end. Semantics: torch.nn.ConvTranspose1d.
    """

    operator, axes = ops.conv_transpose1d, "L"


@layer({"out_channels": 4, "stride": 2, "padding": "same"}, floats(2, 3, 3, 4), category="convolution")
class ConvTranspose2d(_Transposed):
    """2-d transposed convolution over (N, C, H, W): the gradient of Conv2d as a layer.

    ``padding="same"`` gives size * stride; ``output_padding`` appends to one end. Semantics: torch.nn.ConvTranspose2d.
    """

    operator, axes = ops.conv_transpose2d, "H, W"


@layer({"out_channels": 2, "stride": 2, "padding": "same"}, floats(1, 3, 2, 3, 2), category="convolution")
class ConvTranspose3d(_Transposed):
    """3-d transposed convolution over (N, C, D, H, W): the gradient of Conv3d as a layer.

    ``padding="same"`` gives size * stride; ``output_padding`` appends to one end. Semantics: torch.nn.ConvTranspose3d.
    """

    operator, axes = ops.conv_transpose3d, "D, H, W"
