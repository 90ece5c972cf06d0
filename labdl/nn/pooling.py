"""Pooling layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Padding, Positive, Size
from labdl.ops.operator import floats
from labdl.spec import show


@dataclass(eq=False, repr=False)
class _MaxPool(Module):
    """Base class of max pooling layers, which differ in the operator."""

    kernel_size: Size = 2
    stride: Size | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    data_format: DataFormat = "channels_first"
    dilation: Size = 1

    operator: ClassVar[Callable]

    def forward(self, x):
        return type(self).operator(
            x,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            ceil_mode=self.ceil_mode,
            data_format=self.data_format,
        )


@layer({}, floats(2, 3, 8))
class MaxPool1d(_MaxPool):
    """Largest element of each window over (N, C, L). Semantics: torch.nn.MaxPool1d."""

    operator = ops.max_pool1d


@layer({}, floats(2, 3, 6, 8))
class MaxPool2d(_MaxPool):
    """Largest element of each window over (N, C, H, W). Semantics: torch.nn.MaxPool2d."""

    operator = ops.max_pool2d


@layer({}, floats(1, 2, 4, 4, 6))
class MaxPool3d(_MaxPool):
    """Largest element of each window over (N, C, D, H, W). Semantics: torch.nn.MaxPool3d."""

    operator = ops.max_pool3d


@dataclass(eq=False, repr=False)
class _AvgPool(Module):
    """Base class of average pooling layers, which differ in the operator."""

    kernel_size: Size = 2
    stride: Size | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    data_format: DataFormat = "channels_first"
    count_include_pad: bool = True

    operator: ClassVar[Callable]

    def forward(self, x):
        return type(self).operator(
            x,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            count_include_pad=self.count_include_pad,
            data_format=self.data_format,
        )


@layer({}, floats(2, 3, 8))
class AvgPool1d(_AvgPool):
    """Mean of each window over (N, C, L). Semantics: torch.nn.AvgPool1d."""

    operator = ops.avg_pool1d


@layer({}, floats(2, 3, 6, 8))
class AvgPool2d(_AvgPool):
    """Mean of each window over (N, C, H, W). Semantics: torch.nn.AvgPool2d."""

    operator = ops.avg_pool2d


@layer({}, floats(1, 2, 4, 4, 6))
class AvgPool3d(_AvgPool):
    """Mean of each window over (N, C, D, H, W). Semantics: torch.nn.AvgPool3d."""

    operator = ops.avg_pool3d


@dataclass(eq=False, repr=False)
class _LPPool(Module):
    """Base class of power-average pooling layers, which differ in the operator."""

    p: Positive = 2.0
    kernel_size: Size = 2
    stride: Size | None = None
    ceil_mode: bool = False
    data_format: DataFormat = "channels_first"

    operator: ClassVar[Callable]

    def forward(self, x):
        return type(self).operator(
            x, self.p, self.kernel_size, stride=self.stride, ceil_mode=self.ceil_mode, data_format=self.data_format
        )


@layer({}, floats(2, 3, 8))
class LPPool1d(_LPPool):
    """Power-average pooling over (N, C, L): the p-th root of the sum of x ** p. Semantics: torch.nn.LPPool1d.

    Negative elements require an even ``p`` or 1.
    """

    operator = ops.lp_pool1d


@layer({}, floats(2, 3, 6, 8))
class LPPool2d(_LPPool):
    """Power-average pooling over (N, C, H, W): the p-th root of the sum of x ** p. Semantics: torch.nn.LPPool2d.

    Negative elements require an even ``p`` or 1.
    """

    operator = ops.lp_pool2d


@layer({}, floats(1, 2, 4, 4, 6))
class LPPool3d(_LPPool):
    """Power-average pooling over (N, C, D, H, W): the p-th root of the sum of x ** p. Semantics: torch.nn.LPPool3d.

    Negative elements require an even ``p`` or 1.
    """

    operator = ops.lp_pool3d


@dataclass(eq=False, repr=False)
class _AdaptivePool(Module):
    """Base class of adaptive pooling layers, which differ in the operator."""

    output_size: Count | tuple[Count | None, ...] | None = 1
    data_format: DataFormat = "channels_first"

    operator: ClassVar[Callable]

    def forward(self, x):
        return type(self).operator(x, self.output_size, data_format=self.data_format)


@layer({"output_size": 3}, floats(2, 3, 7))
class AdaptiveAvgPool1d(_AdaptivePool):
    """Average pooling over (N, C, L) to ``output_size``; None keeps the size. Semantics: torch.nn.AdaptiveAvgPool1d."""

    operator = ops.adaptive_avg_pool1d


@layer({"output_size": (3, 2)}, floats(2, 3, 7, 4))
class AdaptiveAvgPool2d(_AdaptivePool):
    """Average pooling over (N, C, H, W) to ``output_size``; None keeps a size. Semantics: torch.nn.AdaptiveAvgPool2d."""

    operator = ops.adaptive_avg_pool2d


@layer({"output_size": (2, None, 3)}, floats(1, 2, 4, 3, 5))
class AdaptiveAvgPool3d(_AdaptivePool):
    """Average pooling over (N, C, D, H, W) to ``output_size``; None keeps a size. Semantics: torch.nn.AdaptiveAvgPool3d."""

    operator = ops.adaptive_avg_pool3d


@layer({"output_size": 3}, floats(2, 3, 7))
class AdaptiveMaxPool1d(_AdaptivePool):
    """Max pooling over (N, C, L) to ``output_size``; None keeps the size. Semantics: torch.nn.AdaptiveMaxPool1d."""

    operator = ops.adaptive_max_pool1d


@layer({"output_size": (3, 2)}, floats(2, 3, 7, 4))
class AdaptiveMaxPool2d(_AdaptivePool):
    """Max pooling over (N, C, H, W) to ``output_size``; None keeps a size. Semantics: torch.nn.AdaptiveMaxPool2d."""

    operator = ops.adaptive_max_pool2d


@layer({"output_size": (2, None, 3)}, floats(1, 2, 4, 3, 5))
class AdaptiveMaxPool3d(_AdaptivePool):
    """Max pooling over (N, C, D, H, W) to ``output_size``; None keeps a size. Semantics: torch.nn.AdaptiveMaxPool3d."""

    operator = ops.adaptive_max_pool3d


def _spatial_axes(self, x) -> tuple[int, ...]:
    if len(x.shape) < 3:
        raise ValueError(f"{type(self).__name__} wants spatial axes after (N, C), received {show(tuple(x.shape))}")
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
