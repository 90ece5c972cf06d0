"""Batch normalization whose statistics and affine map are constants."""

from __future__ import annotations

from labdl import ops
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer
from labdl.nn.schema import layer
from labdl.nn.types import DataFormat, Positive
from labdl.ops.operator import floats
from labdl.spec import show


@layer({}, floats(4, 3, 5), category="normalization")
class FrozenBatchNorm(Module):
    """Batch normalization with fixed statistics, gamma and beta, in training as in evaluation: (N, C, ...) to the same shape.

    All four are buffers of the shape (C,) under the names of `BatchNorm`, whose weights it takes, and are saved with the
    model; training, `Module.unfreeze` and ``trainable = True`` do not change them. Detection models use it with a backbone
    whose batches are too small for statistics. ``epsilon`` is added to the variance; ``data_format`` says where the channels
    are. To hold a `BatchNorm` for a while, freeze it instead: ``norm.trainable = False``. Raises ValueError for an input of
    fewer than two axes. Semantics: torchvision.ops.FrozenBatchNorm2d, for any number of spatial axes.
    """

    epsilon: Positive = 1e-5
    data_format: DataFormat = "channels_first"

    def setup(self, x):
        if x.ndim < 2:
            raise ValueError(f"FrozenBatchNorm wants (N, C, ...), received {show(x.shape)}")
        size = (resolve_size("FrozenBatchNorm", "channel", None, x.shape[self._axis]),)
        self.gamma, self.beta = Buffer(size, "ones"), Buffer(size)
        self.moving_mean, self.moving_variance = Buffer(size), Buffer(size, "ones")

    def forward(self, x):
        return ops.batch_norm(
            x,
            self.gamma,
            self.beta,
            self.moving_mean,
            self.moving_variance,
            training=False,
            epsilon=self.epsilon,
            axis=self._axis,
        )

    @property
    def _axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1
