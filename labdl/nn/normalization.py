"""Normalization layers."""

from __future__ import annotations

import numpy as np

from labdl import ops
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initializer, Momentum, Positive, SpatialAxes, check_spatial_axes
from labdl.ops.operator import floats
from labdl.spec import normal_axes, show


def _channel_axis(data_format: str) -> int:
    return 1 if data_format == "channels_first" else -1


@layer({}, floats(4, 3, 5))
class BatchNorm(Module):
    """Batch normalization of each channel (Ioffe & Szegedy, 2015), for inputs of two axes or more.

    Running statistics move by ``momentum`` toward those of each batch in training, and are used in evaluation.
    ``affine=False`` omits the learned gamma and beta. A frozen layer (`Module.trainable`, `Module.freeze`) normalizes with its
    running statistics in training too, and keeps them. Semantics: torch.nn.BatchNorm1d to BatchNorm3d; frozen as in Keras.
    """

    momentum: Momentum = 0.1
    epsilon: Positive = 1e-5
    data_format: DataFormat = "channels_first"
    affine: bool = True

    def setup(self, x):
        _set_batch_parameters(self, x)

    def forward(self, x):
        return _normalize_batch(self, x, ops.batch_norm)


@layer({}, floats(4, 3, 5))
class SyncBatchNorm(Module):
    """Batch normalization with the statistics of the batches of all processes of a distributed training.

    A training is distributed where the framework's own group of processes is running: torch.distributed, a strategy of
    tf.distribute, paddle.distributed or mindspore.communication. Without one, and in evaluation, it is BatchNorm, with its
    settings ``momentum`` and ``affine``. Batches may differ in size. Exported source, which has no group of processes,
    trains with the statistics of its own process, as BatchNorm does. Semantics: torch.nn.SyncBatchNorm, on every device.
    """

    momentum: Momentum = 0.1
    epsilon: Positive = 1e-5
    data_format: DataFormat = "channels_first"
    affine: bool = True

    def setup(self, x):
        _set_batch_parameters(self, x)

    def forward(self, x):
        return _normalize_batch(self, x, ops.sync_batch_norm)


def _set_batch_parameters(self, x) -> None:
    if x.ndim < 2:
        raise ValueError(f"{type(self).__name__} wants (N, C, ...), received {show(x.shape)}")
    size = (resolve_size(type(self).__name__, "channel", None, x.shape[_channel_axis(self.data_format)]),)
    self.gamma = Parameter(size, "ones") if self.affine else None
    self.beta = Parameter(size) if self.affine else None
    self.moving_mean = Buffer(size)
    self.moving_variance = Buffer(size, "ones")


def _normalize_batch(self, x, operator):
    gamma = ops.ones_like(self.moving_mean) if self.gamma is None else self.gamma
    beta = ops.zeros_like(self.moving_mean) if self.beta is None else self.beta
    return operator(
        x,
        gamma,
        beta,
        self.moving_mean,
        self.moving_variance,
        training=self.training and self.trainable,
        momentum=self.momentum,
        epsilon=self.epsilon,
        axis=_channel_axis(self.data_format),
    )


def _last_sizes(self, x, axes: int) -> tuple[int, ...]:
    sizes = x.shape[-axes:]
    if x.ndim <= axes or None in sizes:
        raise ValueError(
            f"{type(self).__name__} normalizes the last {axes} axes, which must be known, received {show(x.shape)}"
        )
    return sizes


@layer({}, floats(2, 3, 4))
class LayerNorm(Module):
    """Layer normalization over the last axes (Ba et al., 2016).

    ``affine=False`` omits the learned gamma and beta, ``use_bias=False`` beta alone. Semantics: torch.nn.LayerNorm.
    """

    axes: Count = 1
    epsilon: Positive = 1e-5
    affine: bool = True
    use_bias: bool = True

    def setup(self, x):
        size = _last_sizes(self, x, self.axes)
        self.gamma = Parameter(size, "ones") if self.affine else None
        self.beta = Parameter(size) if self.affine and self.use_bias else None

    def forward(self, x):
        gamma = self.gamma
        if gamma is None:
            gamma = ops.tensor_like(x, np.broadcast_to(1.0, tuple(x.shape)[-self.axes :]))
        return ops.layer_norm(x, gamma, ops.zeros_like(gamma) if self.beta is None else self.beta, self.epsilon)


@layer({}, floats(2, 3, 4))
class RMSNorm(Module):
    """Root-mean-square normalization over the last axis (Zhang & Sennrich, 2019).

    ``affine=False`` omits the learned gamma. Semantics: torch.nn.RMSNorm, whose default epsilon is smaller.
    """

    epsilon: Positive = 1e-6
    affine: bool = True

    def setup(self, x):
        size = _last_sizes(self, x, 1)
        self.gamma = Parameter(size, "ones") if self.affine else None

    def forward(self, x):
        gamma = self.gamma
        if gamma is None:
            gamma = ops.tensor_like(x, np.broadcast_to(1.0, x.shape[-1:]))
        return ops.rms_norm(x, gamma, self.epsilon)


def _channels(self, x) -> tuple[int]:
    if x.ndim < 2:
        raise ValueError(f"{type(self).__name__} wants (N, C, ...), received {show(x.shape)}")
    return (resolve_size(type(self).__name__, "channel", None, x.shape[_channel_axis(self.data_format)]),)


@layer({"groups": 2}, floats(2, 4, 3))
class GroupNorm(Module):
    """Normalization of each sample in groups of channels (Wu & He, 2018). Semantics: torch.nn.GroupNorm.

    One group normalizes over all channels together, as many groups as channels over each channel separately.
    ``affine=False`` omits the learned gamma and beta.
    """

    groups: Count
    epsilon: Positive = 1e-5
    affine: bool = True
    data_format: DataFormat = "channels_first"

    def setup(self, x):
        size = _channels(self, x)
        self.gamma = Parameter(size, "ones") if self.affine else None
        self.beta = Parameter(size) if self.affine else None

    def forward(self, x):
        return ops.group_norm(
            x, self.groups, self.gamma, self.beta, epsilon=self.epsilon, axis=_channel_axis(self.data_format)
        )


@layer({"affine": True}, floats(2, 3, 5))
class InstanceNorm(Module):
    """Normalization of each channel of each sample over the spatial axes (Ulyanov et al., 2016).

    ``affine=True`` gives each channel a learned gamma and beta. Semantics: torch.nn.InstanceNorm1d to InstanceNorm3d.
    """

    epsilon: Positive = 1e-5
    affine: bool = False
    data_format: DataFormat = "channels_first"
    spatial_axes: SpatialAxes | None = None

    def setup(self, x):
        size = _channels(self, x) if self.affine else ()
        self.gamma = Parameter(size, "ones") if self.affine else None
        self.beta = Parameter(size) if self.affine else None

    def forward(self, x):
        check_spatial_axes(self, x)
        return ops.instance_norm(x, self.gamma, self.beta, epsilon=self.epsilon, axis=_channel_axis(self.data_format))


@layer({"size": 3, "alpha": 0.5}, floats(2, 5, 3))
class LocalResponseNorm(Module):
    """x / (k + alpha * mean of the squares of neighboring channels) ** beta (Krizhevsky et al., 2012).

    ``size`` channels are neighbors; the ends are padded with zeros. Semantics: torch.nn.LocalResponseNorm.
    """

    size: Count
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.local_response_norm(
            x, self.size, alpha=self.alpha, beta=self.beta, k=self.k, axis=_channel_axis(self.data_format)
        )


@layer({}, floats(2, 3, 4))
class L2Normalize(Module):
    """x divided by max(its L2 norm, epsilon) along an axis (1: channels)."""

    axis: int = 1
    epsilon: Positive = 1e-12

    def forward(self, x):
        return ops.normalize(x, 2.0, axis=self.axis, epsilon=self.epsilon)


@layer({"scale_init": "constant(0.1)"}, floats(2, 3, 4))
class LayerScale(Module):
    """Multiplies each feature by a learned factor, at first a small one (Touvron et al., 2021).

    Put it before the sum of a residual block. ``axis`` holds the features (1: channels).
    """

    scale_init: Initializer = "constant(1e-05)"
    axis: int = -1
    shared: bool = False

    def setup(self, x):
        size = 1 if self.shared else resolve_size("LayerScale", "feature", None, x.shape[self._place(x)])
        self.gamma = Parameter((size,), self.scale_init)

    def _place(self, x) -> int:
        return normal_axes(self.axis, len(x.shape))[0]

    def forward(self, x):
        return ops.multiply(x, ops.reshape(self.gamma, (-1, *(1,) * (len(x.shape) - 1 - self._place(x)))))
