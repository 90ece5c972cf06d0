"""Layers that act in training only."""

from __future__ import annotations

import math
from typing import Annotated

from annotated_types import Ge

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import DataFormat, Rate
from labdl.ops.operator import floats


@layer({}, floats(2, 3))
class Dropout(Module):
    """In training, zeroes a random share of the elements and scales the rest (Srivastava et al., 2014)."""

    rate: Rate = 0.5

    def forward(self, x):
        return ops.dropout(x, self.rate, training=self.training)


@layer({}, floats(3, 4, 5))
class DropoutChannels(Module):
    """In training, zeroes a random share of the channels of (N, C, ...) and scales the rest (Tompson et al., 2015).

    Semantics: torch.nn.Dropout1d, Dropout2d and Dropout3d.
    """

    rate: Rate = 0.5
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.dropout_channels(x, self.rate, training=self.training, data_format=self.data_format)


@layer({}, floats(4, 5))
class AlphaDropout(Module):
    """Dropout that keeps mean and variance behind SELU (Klambauer et al., 2017). Semantics: torch.nn.AlphaDropout."""

    rate: Rate = 0.5

    def forward(self, x):
        return ops.alpha_dropout(x, self.rate, training=self.training)


@layer({}, floats(6, 3, 4))
class DropPath(Module):
    """In training, zeroes a random share of the samples and scales the rest: stochastic depth (Huang et al., 2016).

    Put it before the sum of a residual block.
    """

    rate: Rate = 0.1

    def forward(self, x):
        return ops.drop_path(x, self.rate, training=self.training)


@layer({}, floats(2, 3))
class GaussianNoise(Module):
    """In training, adds random numbers of the normal distribution with mean 0. Semantics: Keras's GaussianNoise."""

    std: Annotated[float, Ge(0)] = 0.1

    def forward(self, x):
        return ops.add(x, ops.random_normal_like(x, std=self.std)) if self.training and self.std else x


@layer({}, floats(2, 3))
class GaussianDropout(Module):
    """In training, multiplies by random numbers with mean 1 and variance rate / (1 - rate) (Srivastava et al., 2014).

    It adds as much noise as Dropout of that rate. Semantics: Keras's GaussianDropout.
    """

    rate: Rate = 0.5

    def forward(self, x):
        if not self.training or self.rate == 0:
            return x
        return ops.multiply(x, ops.random_normal_like(x, mean=1.0, std=math.sqrt(self.rate / (1 - self.rate))))
