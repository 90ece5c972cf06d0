"""RepVGG: branches in training that are one convolution in deployment (Ding et al., 2021)."""

from __future__ import annotations

from labdl import nn
from labdl.models.vision.csp import convolution
from labdl.nn.activation import ACTIVATIONS, Activation


class RepVGGBlock(nn.Module):
    """A 3 x 3 and a 1 x 1 convolution, each normalized, added and activated: (N, C, H, W) to (N, channels, H, W).

    ``identity`` adds the normalized input too, where channels and size stay. Source: https://arxiv.org/abs/2101.03697.
    """

    def __init__(self, channels: int, *, stride: int = 1, identity: bool = False, activation: Activation = "relu"):
        self.dense = convolution(channels, 3, stride, activation=None)
        self.pointwise = convolution(channels, 1, stride, activation=None)
        self.identity = nn.BatchNorm(momentum=0.03, epsilon=1e-3) if identity else None
        self.activation = activation

    def forward(self, x):
        y = self.dense(x) + self.pointwise(x)
        return ACTIVATIONS[self.activation](y if self.identity is None else y + self.identity(x))
