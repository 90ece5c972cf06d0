"""Convolution over time and space with batch normalization, the block that families of video models share."""

from __future__ import annotations

from labdl import nn
from labdl.interop import public_weights

Window = tuple[int, int, int]


class ConvNorm3d(nn.Module):
    """A 3-d convolution without bias and a batch normalization: (N, C, T, H, W) to (N, channels, ...).

    Sizes that stride leaves alone are kept. Kernels are drawn as in He et al. (2015), by the outputs.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Window = (3, 3, 3),
        stride: Window = (1, 1, 1),
        *,
        epsilon: float = 1e-5,
        momentum: float = 0.1,
        kernel_init: str = "he_normal(mode='fan_out')",
    ):
        self.conv = nn.Conv3d(
            channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=tuple(n // 2 for n in kernel_size),
            use_bias=False,
            kernel_init=kernel_init,
        )
        self.norm = nn.BatchNorm(momentum, epsilon)

    def forward(self, x):
        return self.norm(self.conv(x))


def conv_norm_names(convolution: str, norm: str, ours: str) -> list[public_weights.WeightMapping]:
    """Names of a `ConvNorm3d` at ``ours``: the public paths of its convolution and its normalization."""
    return [
        *public_weights.convolution(convolution, f"{ours}/conv", use_bias=False, axes=3),
        *public_weights.batch_norm(norm, f"{ours}/norm"),
    ]
