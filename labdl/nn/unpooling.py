"""Max pooling with indices, and unpooling, its partial inverse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import DataFormat, Padding, Size, Whole
from labdl.ops.operator import floats, ints


def _move_channels(t, data_format: str, *, back: bool = False):
    """Move the channels before the spatial axes, where the operators expect them, or back."""
    if data_format == "channels_first":
        return t
    rank = len(t.shape)
    return ops.permute_dims(t, (0, *range(2, rank), 1) if back else (0, rank - 1, *range(1, rank - 1)))


@dataclass(eq=False, repr=False)
class _MaxPoolWithIndices(Module):
    """Base class of max pooling layers with indices, which differ in the operator."""

    kernel_size: Size = 2
    stride: Size | None = None
    padding: Padding = 0
    dilation: Size = 1
    ceil_mode: bool = False
    data_format: DataFormat = "channels_first"

    operator: ClassVar[Callable]

    def forward(self, x):
        found = type(self).operator(
            _move_channels(x, self.data_format),
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            ceil_mode=self.ceil_mode,
        )
        return tuple(_move_channels(t, self.data_format, back=True) for t in found)


@layer({}, floats(2, 3, 8), outputs=("output", "indices"), category="pooling")
class MaxPool1dWithIndices(_MaxPoolWithIndices):
    """Largest element of each window over (N, C, L), and its position on L for MaxUnpool1d.

    Semantics: torch.nn.MaxPool1d with return_indices=True.
    """

    operator = ops.max_pool1d_with_indices


@layer({}, floats(2, 3, 6, 8), outputs=("output", "indices"), category="pooling")
class MaxPool2dWithIndices(_MaxPoolWithIndices):
    """Largest element of each window over (N, C, H, W), and its position on the flattened (H, W) for MaxUnpool2d.

    Semantics: torch.nn.MaxPool2d with return_indices=True.
    """

    operator = ops.max_pool2d_with_indices


@layer({}, floats(1, 2, 4, 4, 6), outputs=("output", "indices"), category="pooling")
class MaxPool3dWithIndices(_MaxPoolWithIndices):
    """Largest element of each window over (N, C, D, H, W), and its position on the flattened (D, H, W) for MaxUnpool3d.

    Semantics: torch.nn.MaxPool3d with return_indices=True.
    """

    operator = ops.max_pool3d_with_indices


@dataclass(eq=False, repr=False)
class _Unpool(Module):
    """Base class of unpooling layers, which differ in the operator."""

    kernel_size: Size = 2
    stride: Size | None = None
    padding: Whole | tuple[Whole, ...] = 0
    size: Size | None = None
    data_format: DataFormat = "channels_first"

    operator: ClassVar[Callable]

    def forward(self, x, indices):
        x, indices = (_move_channels(t, self.data_format) for t in (x, indices))
        result = type(self).operator(
            x, indices, self.kernel_size, stride=self.stride, padding=self.padding, size=self.size
        )
        return _move_channels(result, self.data_format, back=True)


@layer({}, floats(2, 3, 1), ints(2, 3, 1, high=2), category="pooling")
class MaxUnpool1d(_Unpool):
    """Puts elements back at the positions given by MaxPool1dWithIndices, with zeros elsewhere, over (N, C, L).

    ``size`` is the size before pooling, where several are possible. Semantics: torch.nn.MaxUnpool1d.
    """

    operator = ops.max_unpool1d


@layer({}, floats(2, 3, 1, 1), ints(2, 3, 1, 1, high=4), category="pooling")
class MaxUnpool2d(_Unpool):
    """Puts elements back at the positions given by MaxPool2dWithIndices, with zeros elsewhere, over (N, C, H, W).

    ``size`` holds the sizes before pooling, where several are possible. Semantics: torch.nn.MaxUnpool2d.
    """

    operator = ops.max_unpool2d


@layer({}, floats(2, 3, 1, 1, 1), ints(2, 3, 1, 1, 1, high=8), category="pooling")
class MaxUnpool3d(_Unpool):
    """Puts elements back at the positions given by MaxPool3dWithIndices, with zeros elsewhere, over (N, C, D, H, W).

    ``size`` holds the sizes before pooling, where several are possible. Semantics: torch.nn.MaxUnpool3d.
    """

    operator = ops.max_unpool3d
