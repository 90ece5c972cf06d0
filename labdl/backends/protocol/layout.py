"""The order of axes in memory."""

from __future__ import annotations

from typing import Protocol

from labdl.backends.protocol.types import Tensor


class ChannelsLast(Protocol):
    """Tensors that refer to the channels-last original from which they were transposed (see `labdl.ops.channels_last`)."""

    def follows(self, kind: type) -> bool:
        """True if operators dispatched on this type may receive tensors with an original."""
        ...

    def lies_last(self, x: Tensor) -> bool:
        """Whether a tensor was computed channels-last and then transposed."""
        ...

    def channels_last(self, x: Tensor, rank: int | None = None) -> Tensor:
        """(N, C, ...) as (N, ..., C), with axes of size 1 in front up to ``rank``."""
        ...

    def channels_first(self, y: Tensor) -> Tensor:
        """(N, ..., C) as (N, C, ...), with a reference to the original."""
        ...


class ChannelsLastBackend(Protocol):
    """Optional: a framework whose kernels accept channels-last tensors only."""

    layout: ChannelsLast
