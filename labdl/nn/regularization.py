"""Regularization layers, which are active in training only."""

from __future__ import annotations

import math
from typing import Annotated

from annotated_types import Ge

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import DataFormat, Rate, SpatialAxes, check_spatial_axes
from labdl.ops.operator import floats


@layer({}, floats(2, 3))
class Dropout(Module):
    """In training, sets a random fraction of the elements to zero and scales the others (Srivastava et al., 2014)."""

    rate: Rate = 0.5

    def forward(self, x):
        return ops.dropout(x, self.rate, training=self.training)


@layer({}, floats(3, 4, 5))
class DropoutChannels(Module):
    """In training, sets random channels of (N, C, ...) to zero and scales the others (Tompson et al., 2015).

    Semantics: torch.nn.Dropout1d, Dropout2d and Dropout3d.
    """

    rate: Rate = 0.5
    data_format: DataFormat = "channels_first"
    spatial_axes: SpatialAxes | None = None

    def forward(self, x):
        check_spatial_axes(self, x)
        return ops.dropout_channels(x, self.rate, training=self.training, data_format=self.data_format)


@layer({}, floats(4, 5))
class AlphaDropout(Module):
    """Dropout that preserves mean and variance after SELU (Klambauer et al., 2017). Semantics: torch.nn.AlphaDropout."""

    rate: Rate = 0.5

    def forward(self, x):
        return ops.alpha_dropout(x, self.rate, training=self.training)


@layer({}, floats(6, 3, 4))
class DropPath(Module):
    """Stochastic depth: in training, sets random samples to zero and scales the others (Huang et al., 2016).

    Put it before the sum of a residual block.
    """

    rate: Rate = 0.1

    def forward(self, x):
        return ops.drop_path(x, self.rate, training=self.training)


@layer({}, floats(2, 3))
class GaussianNoise(Module):
    """In training, adds normally distributed noise with mean 0. Semantics: Keras's GaussianNoise."""

    std: Annotated[float, Ge(0)] = 0.1

    def forward(self, x):
        return ops.add(x, ops.random_normal_like(x, std=self.std)) if self.training and self.std else x


@layer({}, floats(2, 3))
class GaussianDropout(Module):
    """In training, multiplies by normal noise with mean 1 and variance rate / (1 - rate) (Srivastava et al., 2014).

    The variance of the noise is that of Dropout with the same rate. Semantics: Keras's GaussianDropout.
    """

    rate: Rate = 0.5

    def forward(self, x):
        if not self.training or self.rate == 0:
            return x
        return ops.multiply(x, ops.random_normal_like(x, mean=1.0, std=math.sqrt(self.rate / (1 - self.rate))))
