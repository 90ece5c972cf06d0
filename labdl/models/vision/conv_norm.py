"""Convolution with batch normalization, the block that families of image models share, and its public names."""

from __future__ import annotations

from labdl import nn
from labdl.interop import public_weights


class ConvNorm(nn.Module):
    """A convolution without bias and a batch normalization: (N, C, H, W) to (N, channels, H / stride, W / stride).

    ``padding`` is by default that which keeps the size at stride 1. Kernels are drawn as in He et al. (2015), by the outputs.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: int = 3,
        stride: int = 1,
        groups: int = 1,
        *,
        dilation: int = 1,
        padding: int | None = None,
        epsilon: float = 1e-5,
        momentum: float = 0.1,
        kernel_init: str = "he_normal(mode='fan_out')",
    ):
        self.conv = nn.Conv2d(
            channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=kernel_size // 2 * dilation if padding is None else padding,
            dilation=dilation,
            groups=groups,
            use_bias=False,
            kernel_init=kernel_init,
        )
        self.norm = nn.BatchNorm(momentum, epsilon)

    def forward(self, x):
        return self.norm(self.conv(x))


def conv_norm_names(
    convolution: str, norm: str, ours: str, *, use_bias: bool = False
) -> list[public_weights.WeightMapping]:
    """Names of a `ConvNorm`, or an `nn.ConvNormAct`, at ``ours``: public paths of its convolution and its normalization."""
    return [
        *public_weights.convolution(convolution, f"{ours}/conv", use_bias=use_bias),
        *public_weights.batch_norm(norm, f"{ours}/norm"),
    ]
