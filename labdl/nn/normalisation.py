"""Normalisation layers."""

from __future__ import annotations

from labdl import ops
from labdl.nn.linear import sized
from labdl.nn.module import Buffer, Module, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Positive
from labdl.ops.operator import floats
from labdl.spec import show


@layer({}, floats(4, 3, 5))
class BatchNorm(Module):
    """Batch normalisation of each channel (Ioffe & Szegedy, 2015), for inputs of two to five axes."""

    momentum: float = 0.1
    epsilon: Positive = 1e-5
    data_format: DataFormat = "channels_first"

    def setup(self, x):
        if x.ndim < 2:
            raise ValueError(f"BatchNorm wants (N, C, ...), received {show(x.shape)}")
        size = (sized("BatchNorm", "channel", None, x.shape[self._axis]),)
        self.gamma, self.beta = Parameter(size, "ones"), Parameter(size)
        self.moving_mean = Buffer(size)
        self.moving_variance = Buffer(size, "ones")

    @property
    def _axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def forward(self, x):
        return ops.batch_norm(x, self.gamma, self.beta, self.moving_mean, self.moving_variance, training=self.training,
                              momentum=self.momentum, epsilon=self.epsilon, axis=self._axis)  # fmt: skip


def _last_sizes(self, x, axes: int) -> tuple[int, ...]:
    sizes = x.shape[-axes:]
    if x.ndim <= axes or None in sizes:
        raise ValueError(f"{type(self).__name__} normalises the last {axes} axes, which must be known, received "
                         f"{show(x.shape)}")  # fmt: skip
    return sizes


@layer({}, floats(2, 3, 4))
class LayerNorm(Module):
    """Layer normalisation over the last axes (Ba et al., 2016)."""

    axes: Count = 1
    epsilon: Positive = 1e-5

    def setup(self, x):
        size = _last_sizes(self, x, self.axes)
        self.gamma, self.beta = Parameter(size, "ones"), Parameter(size)

    def forward(self, x):
        return ops.layer_norm(x, self.gamma, self.beta, self.epsilon)


@layer({}, floats(2, 3, 4))
class RMSNorm(Module):
    """Root-mean-square normalisation over the last axis (Zhang & Sennrich, 2019)."""

    epsilon: Positive = 1e-6

    def setup(self, x):
        self.gamma = Parameter(_last_sizes(self, x, 1), "ones")

    def forward(self, x):
        return ops.rms_norm(x, self.gamma, self.epsilon)
