"""Transposed convolutions, which upsample spatial axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from labdl import ops
from labdl.nn.convolution import make_weights
from labdl.nn.kernels import kernel_of, set_kernel
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initializer, Iterations, NormAxis, Padding, Size, Whole
from labdl.ops.operator import floats


@dataclass(eq=False, repr=False)
class _ConvTranspose(Module):
    """Base class of transposed convolutions, which differ in the operator and in the number of axes."""

    out_channels: Count
    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding = 0
    output_padding: Whole | tuple[Whole, ...] = 0
    dilation: Size = 1
    groups: Count = 1
    use_bias: bool = True
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"
    in_channels: Count | None = None
    weight_norm: NormAxis | None = None
    spectral_norm: Iterations | None = None

    operator: ClassVar[Callable]
    axes: ClassVar[str]

    def setup(self, x):
        kernel, bias = make_weights(self, x, transposed=True)
        set_kernel(self, kernel, self.weight_norm, 1)
        self.bias = bias

    def forward(self, x):
        return type(self).operator(
            x,
            kernel_of(self, self.weight_norm, 1),
            self.bias,
            stride=self.stride,
            padding=self.padding,
            output_padding=self.output_padding,
            dilation=self.dilation,
            groups=self.groups,
            data_format=self.data_format,
        )


@layer({"out_channels": 4, "stride": 2, "padding": "same"}, floats(2, 3, 5), category="convolution")
class ConvTranspose1d(_ConvTranspose):
    """1-d transposed convolution over (N, C, L): the gradient of Conv1d as a layer.

    ``padding="same"`` gives L * stride; ``output_padding`` appends to one end. Semantics: torch.nn.ConvTranspose1d.
    """

    operator, axes = ops.conv_transpose1d, "L"


@layer({"out_channels": 4, "stride": 2, "padding": "same"}, floats(2, 3, 3, 4), category="convolution")
class ConvTranspose2d(_ConvTranspose):
    """2-d transposed convolution over (N, C, H, W): the gradient of Conv2d as a layer.

    ``padding="same"`` gives size * stride; ``output_padding`` appends to one end. Semantics: torch.nn.ConvTranspose2d.
    """

    operator, axes = ops.conv_transpose2d, "H, W"


@layer({"out_channels": 2, "stride": 2, "padding": "same"}, floats(1, 3, 2, 3, 2), category="convolution")
class ConvTranspose3d(_ConvTranspose):
    """3-d transposed convolution over (N, C, D, H, W): the gradient of Conv3d as a layer.

    ``padding="same"`` gives size * stride; ``output_padding`` appends to one end. Semantics: torch.nn.ConvTranspose3d.
    """

    operator, axes = ops.conv_transpose3d, "D, H, W"
