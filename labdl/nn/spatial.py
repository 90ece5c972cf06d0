"""Layers that pad, crop, resize and rearrange spatial axes."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import MinLen

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Padding, Positive, Size, Whole
from labdl.ops.operator import floats
from labdl.settings import ANY_FLOAT
from labdl.spec import pad_pairs, show

Border = Whole | Annotated[tuple[Whole | tuple[Whole, Whole], ...], MinLen(1)]


def _border(self, x, border, what: str) -> tuple[tuple[int, int], ...]:
    """Pairs (before, after) for all axes; (0, 0) for the batch and the channels."""
    rank = len(x.shape) - 2
    if rank < 1 or (not isinstance(border, int) and len(border) != rank):
        raise ValueError(
            f"{type(self).__name__} wants {what} for the spatial axes of {show(tuple(x.shape))}: an integer or "
            f"{max(rank, 0)} of them, received {border!r}"
        )
    pairs = pad_pairs(border, (None,) * rank, (1,) * rank, (1,) * rank, (1,) * rank)
    return ((0, 0), (0, 0), *pairs) if self.data_format == "channels_first" else ((0, 0), *pairs, (0, 0))


@layer({}, floats(2, 3, 4, 5))
class Pad(Module):
    """Pads the spatial axes of (N, C, ...) with a value, or with mirrored, repeated or wrapped elements.

    ``padding`` is one integer, one an axis, or a pair (before, after) an axis. Semantics: torch.nn.ConstantPad2d,
    ReflectionPad2d, ReplicationPad2d, CircularPad2d and those for one and three axes.
    """

    padding: Border = 1
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant"
    value: Annotated[float, ANY_FLOAT] = 0.0
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.pad(x, _border(self, x, self.padding, "padding"), mode=self.mode, value=self.value)


@layer({}, floats(2, 3, 4, 5))
class Crop(Module):
    """Crops the spatial axes of (N, C, ...).

    ``cropping`` is one integer, one an axis, or a pair (before, after) an axis.
    """

    cropping: Border = 1
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        pairs = _border(self, x, self.cropping, "cropping")
        for n, (before, after) in zip(x.shape, pairs, strict=True):
            if n is not None and before + after >= n:
                raise ValueError(f"Crop of {self.cropping!r} leaves nothing of {show(tuple(x.shape))}")
        return ops.getitem(x, tuple(slice(before or None, -after if after else None) for before, after in pairs))


@layer({}, floats(2, 3, 3, 4))
class Upsample(Module):
    """Resizes the spatial axes of (N, C, ...) by a scale, or to a size. Semantics: torch.nn.Upsample.

    ``size`` takes precedence over ``scale``; both are one number or one an axis. "linear" (also called
    "bilinear" and "trilinear") and "cubic" ("bicubic") interpolate, "area" averages. ``align_corners`` keeps the centers
    of the corners in place, ``antialias`` averages over all elements where it shrinks.
    """

    scale: Positive | tuple[Positive, ...] = 2.0
    size: Size | None = None
    mode: Literal["nearest", "nearest_exact", "area", "linear", "bilinear", "trilinear", "cubic", "bicubic"] = "nearest"
    align_corners: bool = False
    antialias: bool = False
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.interpolate(
            x,
            self.size,
            self.scale if self.size is None else None,
            mode=self.mode,
            align_corners=self.align_corners,
            antialias=self.antialias,
            data_format=self.data_format,
        )


@layer({}, floats(2, 8, 2, 3))
class PixelShuffle(Module):
    """Rearranges channels into space: (N, C * factor², H, W) to (N, C, H * factor, W * factor) (Shi et al., 2016)."""

    factor: Count = 2
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.pixel_shuffle(x, self.factor, data_format=self.data_format)


@layer({}, floats(2, 2, 4, 6))
class PixelUnshuffle(Module):
    """Rearranges space into channels: (N, C, H * factor, W * factor) to (N, C * factor², H, W)."""

    factor: Count = 2
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.pixel_unshuffle(x, self.factor, data_format=self.data_format)


@layer({"groups": 2}, floats(2, 6, 3))
class ChannelShuffle(Module):
    """Permutes the channels of (N, C, ...) across groups (Zhang et al., 2017)."""

    groups: Count
    data_format: DataFormat = "channels_first"

    def forward(self, x):
        return ops.channel_shuffle(x, self.groups, data_format=self.data_format)


@layer({}, floats(2, 3, 4, 5))
class Unfold(Module):
    """Extracts the windows of (N, C, ...) as columns: (N, C * window, number of windows). Semantics: torch.nn.Unfold."""

    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding = 0
    dilation: Size = 1

    def forward(self, x):
        return ops.unfold(x, self.kernel_size, stride=self.stride, padding=self.padding, dilation=self.dilation)


@layer({"size": (4, 5), "kernel_size": 2}, floats(2, 8, 12))
class Fold(Module):
    """Sums columns (N, C * window, windows) at the positions of their windows: (N, C, *size). Semantics: torch.nn.Fold."""

    size: Size
    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding = 0
    dilation: Size = 1

    def forward(self, x):
        return ops.fold(
            x, self.size, self.kernel_size, stride=self.stride, padding=self.padding, dilation=self.dilation
        )
