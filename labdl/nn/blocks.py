"""Blocks of convolutional networks."""

from __future__ import annotations

from typing import Literal

from labdl import ops
from labdl.nn.activation import ACTIVATIONS, Activation
from labdl.nn.convolution import Conv1d, Conv2d, Conv3d
from labdl.nn.linear import Linear, resolve_size
from labdl.nn.module import Module
from labdl.nn.normalization import BatchNorm, GroupNorm, InstanceNorm
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initializer, Momentum, Padding, Positive, Size
from labdl.ops.operator import floats
from labdl.spec import per_axis, show

_CONVOLUTIONS = {3: Conv1d, 4: Conv2d, 5: Conv3d}


@layer({"out_channels": 8}, floats(2, 3, 6, 5), category="convolution")
class ConvNormAct(Module):
    """Block that convolves, normalizes and activates over one to three spatial axes: (N, C, ...) to (N, out, ...).

    Semantics: torchvision.ops.Conv2dNormActivation and Conv3dNormActivation.
    """

    out_channels: Count
    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding | None = None
    dilation: Size = 1
    groups: Count = 1
    normalization: Literal["batch", "group", "instance"] | None = "batch"
    activation: Activation | None = "relu"
    use_bias: bool | None = None
    epsilon: Positive = 1e-5
    momentum: Momentum = 0.1
    norm_groups: Count = 32
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"
    in_channels: Count | None = None

    def setup(self, x):
        if x.ndim not in _CONVOLUTIONS:
            raise ValueError(f"ConvNormAct wants one to three spatial axes, received {show(x.shape)}")
        self.conv = _CONVOLUTIONS[x.ndim](
            self.out_channels,
            kernel_size=self.kernel_size,
            stride=self.stride,
            padding=self._padding(x.ndim - 2),
            dilation=self.dilation,
            groups=self.groups,
            use_bias=self.normalization is None if self.use_bias is None else self.use_bias,
            data_format=self.data_format,
            kernel_init=self.kernel_init,
            in_channels=self.in_channels,
        )
        self.norm = self._make_norm()

    def _padding(self, rank: int) -> Padding:
        if self.padding is not None:
            return self.padding
        window, dilation = (per_axis(getattr(self, name), rank, name) for name in ("kernel_size", "dilation"))
        return tuple((k - 1) // 2 * d for k, d in zip(window, dilation, strict=True))

    def _make_norm(self) -> Module | None:
        settings = {"epsilon": self.epsilon, "data_format": self.data_format}
        if self.normalization == "batch":
            return BatchNorm(momentum=self.momentum, **settings)
        if self.normalization == "group":
            return GroupNorm(self.norm_groups, **settings)
        return None if self.normalization is None else InstanceNorm(affine=True, **settings)

    def forward(self, x):
        x = self.conv(x)
        x = x if self.norm is None else self.norm(x)
        return x if self.activation is None else ACTIVATIONS[self.activation](x)


@layer({"squeeze_channels": 2}, floats(2, 4, 3, 5), category="convolution")
class SqueezeExcitation(Module):
    """Scales each channel of (N, C, ...) by a factor from the means of all channels (Hu et al., 2018).

    The factors come from two linear layers, ``reduce`` and ``expand``, each with a function after it.
    Semantics: torchvision.ops.SqueezeExcitation, whose 1 x 1 convolutions are linear layers here.
    """

    squeeze_channels: Count
    activation: Activation = "relu"
    gate: Activation = "sigmoid"
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"

    def setup(self, x):
        if x.ndim < 3:
            raise ValueError(f"SqueezeExcitation wants (N, C, ...) with spatial axes, received {show(x.shape)}")
        size = x.shape[1 if self.data_format == "channels_first" else -1]
        channels = resolve_size("SqueezeExcitation", "channel", None, size)
        self.reduce = Linear(self.squeeze_channels, kernel_init=self.kernel_init)
        self.expand = Linear(channels, kernel_init=self.kernel_init)

    def forward(self, x):
        first, axes = self.data_format == "channels_first", len(x.shape)
        space = tuple(range(2, axes)) if first else tuple(range(1, axes - 1))
        squeezed = ACTIVATIONS[self.activation](self.reduce(ops.mean(x, axis=space)))
        factors = ACTIVATIONS[self.gate](self.expand(squeezed))
        for axis in space:
            factors = ops.expand_dims(factors, axis)
        return ops.multiply(x, factors)
