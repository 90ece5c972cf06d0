"""Samples of a stream that a thread reads in advance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labdl.data.streams.composite import CompositeStream, check_count
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.data.threads import draw_ahead


class PrefetchedStream(CompositeStream):
    """The same samples, up to ``buffer_size`` of them in advance; see `IterableDataset.prefetch`."""

    def __init__(self, source: IterableDataset, buffer_size: int):
        super().__init__(source)
        self.buffer_size = check_count("prefetch", buffer_size, 1)

    @property
    def length(self) -> int | None:
        return self.source.length

    def read(self, epoch: int = 0) -> Iterator[Any]:
        return draw_ahead(self.source.read(epoch), self.buffer_size)
