"""Pooling over windows and over whole images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import DataFormat, Padding, Size
from labdl.ops.operator import floats


@dataclass(eq=False, repr=False)
class _Pool(Module):
    """What window poolings share: they differ in the operator."""

    kernel_size: Size = 2
    stride: Size | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    data_format: DataFormat = "channels_first"

    operator: ClassVar[Callable]

    def forward(self, x):
        return type(self).operator(x, self.kernel_size, stride=self.stride, padding=self.padding,
                                   ceil_mode=self.ceil_mode, data_format=self.data_format)  # fmt: skip


@layer({}, floats(2, 3, 8))
class MaxPool1d(_Pool):
    """Largest element of each window over (N, C, L)."""

    operator = ops.max_pool1d


@layer({}, floats(2, 3, 6, 8))
class MaxPool2d(_Pool):
    """Largest element of each window over (N, C, H, W)."""

    operator = ops.max_pool2d


@layer({}, floats(1, 2, 4, 4, 6))
class MaxPool3d(_Pool):
    """Largest element of each window over (N, C, D, H, W)."""

    operator = ops.max_pool3d


@layer({}, floats(2, 3, 8))
class AvgPool1d(_Pool):
    """Mean of each window over (N, C, L)."""

    operator = ops.avg_pool1d


@layer({}, floats(2, 3, 6, 8))
class AvgPool2d(_Pool):
    """Mean of each window over (N, C, H, W)."""

    operator = ops.avg_pool2d


@layer({}, floats(1, 2, 4, 4, 6))
class AvgPool3d(_Pool):
    """Mean of each window over (N, C, D, H, W)."""

    operator = ops.avg_pool3d


def _spatial_axes(self, x) -> tuple[int, ...]:
    if len(x.shape) < 3:
        raise ValueError(f"{type(self).__name__} wants spatial axes after (N, C), received {tuple(x.shape)}")
    first = 2 if self.data_format == "channels_first" else 1
    return tuple(range(first, first + len(x.shape) - 2))


@layer({}, floats(2, 3, 6, 8))
class GlobalAvgPool(Module):
    """Mean over all spatial axes: (N, C, ...) to (N, C)."""

    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.mean(x, axis=_spatial_axes(self, x))


@layer({}, floats(2, 3, 6, 8))
class GlobalMaxPool(Module):
    """Largest element over all spatial axes: (N, C, ...) to (N, C)."""

    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.max(x, axis=_spatial_axes(self, x))
