"""Samples of a data set that a thread reads in advance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labdl.data.dataset import Dataset
from labdl.data.flow.selection import SelectedDataset
from labdl.data.threads import draw_ahead
from labdl.errors import ConfigError


class PrefetchedDataset(SelectedDataset):
    """The same samples, up to ``buffer_size`` of them in advance where they are iterated; see `Dataset.prefetch`."""

    def __init__(self, source: Dataset, buffer_size: int):
        if not isinstance(buffer_size, int) or isinstance(buffer_size, bool) or buffer_size < 1:
            raise ConfigError(f"prefetch wants an integer of at least 1, received {buffer_size!r}")
        super().__init__(source, range(len(source)))
        self.buffer_size = buffer_size

    def __iter__(self) -> Iterator[Any]:
        return draw_ahead(iter(self.source), self.buffer_size)
