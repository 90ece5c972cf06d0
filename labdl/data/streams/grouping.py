"""Streams whose samples are batches or windows of other samples, and back."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

from labdl.data.batches import stack_samples
from labdl.data.flow.grouping import count_rows, take_row
from labdl.data.streams.composite import CompositeStream, check_count
from labdl.data.streams.iterable_dataset import IterableDataset


class BatchedStream(CompositeStream):
    """Stacked samples; see `IterableDataset.batch`."""

    def __init__(self, source: IterableDataset, size: int, drop_last: bool, pad: float | None):
        super().__init__(source)
        self.size, self.drop_last, self.pad = check_count("batch", size, 1), drop_last, pad
        self.batched = True

    @property
    def length(self) -> int | None:
        known = self.source.length
        return None if known is None else known // self.size if self.drop_last else -(-known // self.size)

    def read(self, epoch: int = 0) -> Iterator[Any]:
        for samples in chunks(self.source.read(epoch), self.size, self.drop_last):
            yield stack_samples(samples, pad=self.pad)


def chunks(samples: Iterator[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Lists of ``size`` samples each; the last one may be shorter, unless it is dropped."""
    while chunk := list(itertools.islice(samples, size)):
        if len(chunk) == size or not drop_last:
            yield chunk


class UnbatchedStream(CompositeStream):
    """Rows of samples that are batches; see `IterableDataset.unbatch`."""

    def __init__(self, source: IterableDataset):
        super().__init__(source)
        self.batched = False

    def read(self, epoch: int = 0) -> Iterator[Any]:
        for batch in self.source.read(epoch):
            for row in range(count_rows(batch)):
                yield take_row(batch, row)


class WindowedStream(CompositeStream):
    """Windows of consecutive samples; see `IterableDataset.window`."""

    def __init__(self, source: IterableDataset, size: int, shift: int | None, stride: int, drop_last: bool):
        super().__init__(source)
        self.size, self.stride, self.drop_last = (
            check_count("size", size, 1),
            check_count("stride", stride, 1),
            drop_last,
        )
        self.shift = self.size if shift is None else check_count("shift", shift, 1)

    def read(self, epoch: int = 0) -> Iterator[Any]:
        reach = (self.size - 1) * self.stride + 1
        samples, waiting = self.source.read(epoch), deque()
        while True:
            waiting.extend(itertools.islice(samples, reach - len(waiting)))
            window = list(itertools.islice(waiting, 0, reach, self.stride))
            if not window or (len(window) < self.size and self.drop_last):
                return
            yield stack_samples(window)
            for _ in range(min(self.shift, len(waiting))):
                waiting.popleft()
            for _ in itertools.islice(samples, max(0, self.shift - reach)):
                pass
