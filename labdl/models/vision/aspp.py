"""Atrous spatial pyramid pooling, the part that the DeepLab networks share (Chen et al., 2017)."""

from __future__ import annotations

from collections.abc import Sequence

from labdl import nn, ops
from labdl.models.vision.conv_norm import ConvNorm


class SeparableConvNorm(nn.Module):
    """A 3 x 3 depthwise convolution, a 1 x 1 convolution and a batch normalization, of the same size."""

    def __init__(self, channels: int, dilation: int = 1, *, kernel_init: str = "he_uniform"):
        self.depthwise = nn.DepthwiseConv2d(
            kernel_size=3, padding=dilation, dilation=dilation, use_bias=False, kernel_init=kernel_init
        )
        self.pointwise = ConvNorm(channels, 1, kernel_init=kernel_init)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class ImagePooling(nn.Module):
    """The mean of each channel through a 1 x 1 convolution, at every place: features of the whole image."""

    def __init__(self, channels: int, *, kernel_init: str):
        self.convolution = ConvNorm(channels, 1, kernel_init=kernel_init)

    def forward(self, x):
        y = ops.relu(self.convolution(ops.mean(x, axis=(2, 3), keepdims=True)))
        return ops.interpolate_like(y, x, mode="bilinear")


class ASPP(nn.Module):
    """Convolutions of several dilations side by side and the mean of the image: (N, C, H, W) to (N, channels, H, W).

    ``dilations`` are those of the 3 x 3 convolutions, which are depthwise ``separable`` in DeepLabv3+.
    """

    def __init__(
        self, dilations: Sequence[int], channels: int = 256, *, separable: bool, rate: float = 0.5, kernel_init: str
    ):
        self.point = ConvNorm(channels, 1, kernel_init=kernel_init)
        self.dilated = nn.ModuleList(
            [
                SeparableConvNorm(channels, dilation, kernel_init=kernel_init)
                if separable
                else ConvNorm(channels, 3, dilation=dilation, kernel_init=kernel_init)
                for dilation in dilations
            ]
        )
        self.pooling = ImagePooling(channels, kernel_init=kernel_init)
        self.projection = ConvNorm(channels, 1, kernel_init=kernel_init)
        self.dropout = nn.Dropout(rate)

    def forward(self, x):
        parts = [ops.relu(self.point(x)), *(ops.relu(part(x)) for part in self.dilated), self.pooling(x)]
        return self.dropout(ops.relu(self.projection(ops.concat(parts, axis=1))))
