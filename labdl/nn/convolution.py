"""Convolutions over one, two and three spatial axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from labdl import ops
from labdl.nn.kernels import kernel_of, set_kernel
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initializer, Iterations, NormAxis, Padding, Size
from labdl.ops.operator import floats
from labdl.spec import pad_pairs, per_axis, show


def input_channels(layer_name: str, x, axes: str, data_format: str, given: int | None) -> int:
    """Number of channels of an input with these spatial axes. Raises ValueError for another number of axes or channels."""
    rank = axes.count(",") + 1
    if x.ndim != rank + 2:
        order = f"(N, C, {axes})" if data_format == "channels_first" else f"(N, {axes}, C)"
        raise ValueError(f"{layer_name} wants {rank + 2} axes {order}, received {show(x.shape)}")
    return resolve_size(layer_name, "in_channels", given, x.shape[1 if data_format == "channels_first" else -1])


def make_weights(self, x, *, transposed: bool = False) -> tuple[Parameter, Parameter | None]:
    """Kernel and bias of a convolution with groups.

    Operators take the kernel as (out, in / groups, window...), transposed ones as (in, out / groups, window...); files hold
    (window..., in, out) of either.
    """
    name, rank = type(self).__name__, self.axes.count(",") + 1
    channels = input_channels(name, x, self.axes, self.data_format, self.in_channels)
    if channels % self.groups or self.out_channels % self.groups:
        raise ValueError(
            f"{name}: groups={self.groups} must divide in_channels={channels} and out_channels={self.out_channels}"
        )
    first, second = (channels, self.out_channels) if transposed else (self.out_channels, channels)
    shape = (first, second // self.groups, *per_axis(self.kernel_size, rank, "kernel_size"))
    standard = (*range(2, 2 + rank), *((0, 1) if transposed else (1, 0)))
    if isinstance(self.weight_norm, int) and self.weight_norm >= len(shape):
        raise ValueError(f"{name}: the kernel {show(shape)} has no axis weight_norm={self.weight_norm}")
    bias = Parameter((self.out_channels,)) if self.use_bias else None
    return Parameter(shape, self.kernel_init, standard=standard), bias


@dataclass(eq=False, repr=False)
class _Convolution(Module):
    """Base class of convolutions, which differ in the operator and in the number of axes."""

    out_channels: Count
    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding = 0
    dilation: Size = 1
    groups: Count = 1
    use_bias: bool = True
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"
    in_channels: Count | None = None
    padding_mode: Literal["zeros", "reflect", "replicate", "circular"] = "zeros"
    weight_norm: NormAxis | None = None
    spectral_norm: Iterations | None = None

    operator: ClassVar[Callable]
    axes: ClassVar[str]

    def setup(self, x):
        kernel, bias = make_weights(self, x)
        set_kernel(self, kernel, self.weight_norm, 0)
        self.bias = bias

    def forward(self, x):
        padding = self.padding
        if self.padding_mode != "zeros":
            x, padding = self._pad(x), 0
        return type(self).operator(
            x,
            kernel_of(self, self.weight_norm, 0),
            self.bias,
            stride=self.stride,
            padding=padding,
            dilation=self.dilation,
            groups=self.groups,
            data_format=self.data_format,
        )

    def _pad(self, x):
        """Pad x with its own elements as ``padding_mode`` says."""
        rank, first = self.axes.count(",") + 1, self.data_format == "channels_first"
        window, stride, dilation = (
            per_axis(getattr(self, name), rank, name) for name in ("kernel_size", "stride", "dilation")
        )
        pairs = pad_pairs(self.padding, tuple(x.shape)[2 if first else 1 :][:rank], window, stride, dilation)
        border = ((0, 0), (0, 0), *pairs) if first else ((0, 0), *pairs, (0, 0))
        return ops.pad(x, border, mode=self.padding_mode)


@layer({"out_channels": 8, "padding": "same"}, floats(2, 3, 8))
class Conv1d(_Convolution):
    """1-d convolution over (N, C, L); input channels are inferred at build. Semantics: torch.nn.Conv1d."""

    operator, axes = ops.conv1d, "L"


@layer({"out_channels": 8, "padding": "same"}, floats(2, 3, 6, 5))
class Conv2d(_Convolution):
    """2-d convolution over (N, C, H, W); input channels are inferred at build. Semantics: torch.nn.Conv2d."""

    operator, axes = ops.conv2d, "H, W"


@layer({"out_channels": 8, "padding": "same"}, floats(1, 3, 4, 5, 4))
class Conv3d(_Convolution):
    """3-d convolution over (N, C, D, H, W); input channels are inferred at build. Semantics: torch.nn.Conv3d."""

    operator, axes = ops.conv3d, "D, H, W"
