"""Spatial pyramid pooling: the largest elements of several windows, side by side (He et al., 2015)."""

from __future__ import annotations

from labdl import nn, ops
from labdl.interop.public_weights import WeightMapping
from labdl.models.vision.csp import convolution, convolution_names


class SPPF(nn.Module):
    """Three max pools of one window in a row, as windows of 5, 9 and 13: (N, C, H, W) to (N, channels, H, W).

    A 1 x 1 convolution to half of the entering channels precedes the pools; another one merges it and their results. The
    paper is https://arxiv.org/abs/1406.4729; pools in a row, which compute the same faster, are those of YOLOv5.
    """

    def __init__(self, channels: int, entering: int, kernel_size: int = 5):
        self.enter = convolution(entering // 2)
        self.pool = nn.MaxPool2d(kernel_size, stride=1, padding=kernel_size // 2)
        self.merge = convolution(channels)

    def forward(self, x):
        parts = [self.enter(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.merge(ops.concat(parts, axis=1))


def sppf_names(public: str, ours: str) -> list[WeightMapping]:
    """Names of an `SPPF`."""
    return [
        *convolution_names(f"{public}.cv1", f"{ours}/enter"),
        *convolution_names(f"{public}.cv2", f"{ours}/merge"),
    ]
