"""The order of axes in memory."""

from __future__ import annotations

from typing import Protocol

from labdl.backends.protocol.types import Tensor


class ChannelsLast(Protocol):
    """Tensors that know a channels-last original which they were transposed from (see `labdl.ops.channels_last`)."""

    def follows(self, kind: type) -> bool:
        """Whether operators led by this type may meet tensors that know their original."""
        ...

    def lies_last(self, x: Tensor) -> bool:
        """Whether a tensor was computed channels-last and then transposed."""
        ...

    def channels_last(self, x: Tensor, rank: int | None = None) -> Tensor:
        """(N, C, ...) as (N, ..., C), with axes of size 1 in front up to ``rank``."""
        ...

    def channels_first(self, y: Tensor) -> Tensor:
        """(N, ..., C) as (N, C, ...), which knows its original."""
        ...


class ChannelsLastBackend(Protocol):
    """Optional: a framework whose kernels take channels-last tensors only."""

    layout: ChannelsLast
