"""Several streams as one: after each other, side by side, in turn."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from labdl.data.flow.combination import check_weights
from labdl.data.random_keys import derive_seed
from labdl.data.streams.composite import CompositeStream, check_count, check_streams
from labdl.data.streams.iterable_dataset import IterableDataset

_DRAWS = 0xD7A3  # keeps these numbers apart from those of transforms with the same seed


def _total(sources: Sequence[IterableDataset]) -> int | None:
    lengths = [source.length for source in sources]
    return None if None in lengths else sum(lengths)  # type: ignore[arg-type]


class ConcatStream(CompositeStream):
    """Streams one after the other; see `IterableDataset.concat`."""

    def __init__(self, sources: Sequence[IterableDataset]):
        super().__init__(*check_streams("concat", sources))

    @property
    def length(self) -> int | None:
        return _total(self.sources)

    @property
    def endless(self) -> bool:
        return any(source.endless for source in self.sources)

    def read(self, epoch: int = 0) -> Iterator[Any]:
        return itertools.chain.from_iterable(source.read(epoch) for source in self.sources)


class ZippedStream(CompositeStream):
    """Tuples of a sample of each stream; see `IterableDataset.zip`."""

    def __init__(self, sources: Sequence[IterableDataset]):
        super().__init__(*check_streams("zip", sources))
        self.inputs = self.targets = ()

    @property
    def length(self) -> int | None:
        lengths = [source.length for source in self.sources if not source.endless]
        return None if not lengths or None in lengths else min(lengths)  # type: ignore[type-var]

    @property
    def endless(self) -> bool:
        return all(source.endless for source in self.sources)

    @property
    def finite(self) -> bool:
        return any(source.finite for source in self.sources)

    def read(self, epoch: int = 0) -> Iterator[Any]:
        return builtins.zip(*[source.read(epoch) for source in self.sources], strict=False)


class InterleavedStream(CompositeStream):
    """Blocks of samples of each stream in turn; see `IterableDataset.interleave`."""

    def __init__(self, sources: Sequence[IterableDataset], block: int = 1):
        super().__init__(*check_streams("interleave", sources))
        self.block = check_count("block", block, 1)

    @property
    def length(self) -> int | None:
        return _total(self.sources)

    @property
    def endless(self) -> bool:
        return any(source.endless for source in self.sources)

    def read(self, epoch: int = 0) -> Iterator[Any]:
        streams = [source.read(epoch) for source in self.sources]
        while streams:
            for stream in list(streams):
                samples = list(itertools.islice(stream, self.block))
                yield from samples
                if len(samples) < self.block:
                    streams.remove(stream)


class WeightedStream(CompositeStream):
    """Samples of several streams, drawn with weights; see `labdl.data.sample_from`."""

    reorders = True

    def __init__(self, sources: Sequence[IterableDataset], weights: Sequence[float] | None, seed: int):
        super().__init__(*check_streams("sample_from", sources))
        self.shares, self.seed = check_weights(weights, len(self.sources)), seed

    @property
    def length(self) -> int | None:
        return _total(self._with_weight())

    @property
    def endless(self) -> bool:
        return any(source.endless for source in self._with_weight())

    def _with_weight(self) -> list[IterableDataset]:
        return [source for source, share in zip(self.sources, self.shares, strict=True) if share > 0]

    def read(self, epoch: int = 0) -> Iterator[Any]:
        rng = np.random.default_rng(derive_seed(self.seed, _DRAWS, epoch))
        streams, shares = [source.read(epoch) for source in self.sources], self.shares.copy()
        while shares.any():
            number = int(rng.choice(len(streams), p=shares / shares.sum()))
            for sample in streams[number]:
                yield sample
                break
            else:
                shares[number] = 0
