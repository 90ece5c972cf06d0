"""Streams with some of the samples of another, or in another order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labdl.data.random_keys import derive_seed
from labdl.data.streams.composite import CompositeStream, check_count
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError, DataError

_SHUFFLE = 0x5417  # keeps the numbers of a shuffle apart from those of transforms with the same seed


class FilteredStream(CompositeStream):
    """The samples that fulfil a condition; see `IterableDataset.filter`."""

    def __init__(self, source: IterableDataset, condition: Callable[[Any], bool]):
        super().__init__(source)
        if not callable(condition):
            raise ConfigError(f"filter wants a function of a sample, received {condition!r:.80}")
        self.condition = condition

    def read(self, epoch: int = 0) -> Iterator[Any]:
        return (sample for sample in self.source.read(epoch) if self.condition(sample))


class ShuffledStream(CompositeStream):
    """Samples in random order within a buffer; see `IterableDataset.shuffle`."""

    reorders = True

    def __init__(self, source: IterableDataset, buffer_size: int, seed: int):
        super().__init__(source)
        self.buffer_size, self.seed = check_count("buffer_size", buffer_size, 1), seed

    @property
    def length(self) -> int | None:
        return self.source.length

    def read(self, epoch: int = 0) -> Iterator[Any]:
        rng = np.random.default_rng(derive_seed(self.seed, _SHUFFLE, epoch))
        samples = self.source.read(epoch)
        buffer = list(itertools.islice(samples, self.buffer_size))
        for sample in samples:
            at = int(rng.integers(len(buffer)))
            chosen, buffer[at] = buffer[at], sample
            yield chosen
        for at in rng.permutation(len(buffer)):
            yield buffer[at]


class PartOfStream(CompositeStream):
    """``count`` samples from ``start`` on, of which every ``step``-th is kept; see `IterableDataset.take`."""

    def __init__(self, source: IterableDataset, start: int, count: int | None, step: int = 1):
        super().__init__(source)
        self.start, self.step = check_count("skip", start), step
        self.count = None if count is None else check_count("take", count)

    @property
    def length(self) -> int | None:
        known = self.source.length
        if known is None:
            return self.count if self.source.endless else None
        rest = max(0, known - self.start)
        return len(range(0, rest if self.count is None else min(rest, self.count), self.step))

    @property
    def endless(self) -> bool:
        return self.count is None and self.source.endless

    @property
    def finite(self) -> bool:
        return self.count is not None or self.source.finite

    def read(self, epoch: int = 0) -> Iterator[Any]:
        end = None if self.count is None else self.start + self.count
        return itertools.islice(self.source.read(epoch), self.start, end, self.step)


class RepeatedStream(CompositeStream):
    """The samples several times, or without an end; see `IterableDataset.repeat`."""

    reorders = True

    def __init__(self, source: IterableDataset, count: int | None):
        super().__init__(source)
        self.count = None if count is None else check_count("repeat", count)

    @property
    def length(self) -> int | None:
        known = self.source.length
        return None if known is None or self.count is None else known * self.count

    @property
    def endless(self) -> bool:
        return self.count is None or self.source.endless

    @property
    def finite(self) -> bool:
        return self.count is not None and self.source.finite

    def read(self, epoch: int = 0) -> Iterator[Any]:
        if self.count is None:
            return (sample for _, _, sample in read_passes(self.source, epoch << 32))
        passes = range(epoch * self.count, (epoch + 1) * self.count)
        return itertools.chain.from_iterable(self.source.read(own) for own in passes)


def read_passes(stream: IterableDataset, epoch: int = 0) -> Iterator[tuple[int, int, Any]]:
    """Pass after pass of a stream: the position of each sample, its pass, and the sample. Raises DataError for an empty one."""
    while True:
        position = -1
        for position, sample in enumerate(stream.open(epoch)):
            yield position, epoch, sample
        if position < 0:
            raise DataError(_explain_end(stream))
        epoch += 1


def _explain_end(stream: IterableDataset) -> str:
    if stream.restartable:
        return f"the stream {stream.name} has no samples"
    return (
        f"the stream {stream.name} has ended, because an iterator can be read once only: give IterableDataset the generator "
        "function instead of what it returns, or train fewer steps"
    )
