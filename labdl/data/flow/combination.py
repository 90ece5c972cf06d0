"""Several data sets as one: after each other, side by side, in turn, by weights."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.errors import ConfigError


def _check(name: str, sources: Sequence[Dataset]) -> tuple[Dataset, ...]:
    for source in sources:
        if not isinstance(source, Dataset):
            raise ConfigError(
                f"{name} wants data sets, received {type(source).__name__}: wrap it as data.SampleDataset(…)"
            )
    if not sources:
        raise ConfigError(f"{name} wants at least one data set")
    return tuple(sources)


def _leave_encoded(dataset: ConcatDataset | _ByPlaces) -> Dataset | None:
    """`Dataset.as_bytes` of those of the data sets that have it; samples of the others are decoded already."""
    encoded = [source.as_bytes() for source in dataset.sources]
    if all(source is None for source in encoded):
        return None
    other = copy.copy(dataset)
    other.sources = tuple([a if b is None else b for a, b in zip(dataset.sources, encoded, strict=True)])
    return other


class ConcatDataset(Dataset):
    """Data sets one after the other; see `Dataset.concat`."""

    def __init__(self, sources: Sequence[Dataset]):
        self.sources = _check("concat", sources)
        self._ends = np.cumsum([len(s) for s in self.sources])
        self.describe_as(self.sources[0])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def _place(self, index: int) -> tuple[int, int]:
        which = int(np.searchsorted(self._ends, index, "right"))
        return which, index - (int(self._ends[which - 1]) if which else 0)

    def read(self, index: int, epoch: int = 0) -> Any:
        which, own = self._place(index)
        return self.sources[which].read(own, epoch)

    def as_bytes(self) -> Dataset | None:
        return _leave_encoded(self)

    def origin(self, index: int) -> tuple[Dataset, int]:
        which, own = self._place(index)
        return self.sources[which].origin(own)

    def label_of(self, index: int) -> Any:
        which, own = self._place(index)
        return self.sources[which].label_of(own)

    def labels(self) -> np.ndarray:
        return np.concatenate([s.labels() for s in self.sources])


class ZippedDataset(Dataset):
    """Tuples of a sample of each data set; see `Dataset.zip`."""

    def __init__(self, sources: Sequence[Dataset]):
        self.sources = _check("zip", sources)
        self.describe_as(self.sources[0])
        self.inputs = self.targets = ()

    def __len__(self) -> int:
        return min(len(s) for s in self.sources)

    def read(self, index: int, epoch: int = 0) -> Any:
        return tuple([s.read(index, epoch) for s in self.sources])


class _ByPlaces(Dataset):
    """Samples of several data sets by two arrays: which data set, and which of its samples."""

    sources: tuple[Dataset, ...]
    _which: np.ndarray
    _own: np.ndarray

    def __len__(self) -> int:
        return len(self._which)

    def read(self, index: int, epoch: int = 0) -> Any:
        return self.sources[self._which[index]].read(int(self._own[index]), epoch)

    def as_bytes(self) -> Dataset | None:
        return _leave_encoded(self)

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.sources[self._which[index]].origin(int(self._own[index]))

    def label_of(self, index: int) -> Any:
        return self.sources[self._which[index]].label_of(int(self._own[index]))


class InterleavedDataset(_ByPlaces):
    """Blocks of samples of each data set in turn; see `Dataset.interleave`."""

    def __init__(self, sources: Sequence[Dataset], block: int = 1):
        self.sources = _check("interleave", sources)
        if not isinstance(block, int) or block < 1:
            raise ConfigError(f"interleave wants a block of at least 1 sample, received {block!r}")
        own = [np.arange(len(s)) for s in self.sources]
        which = [np.full(len(s), i) for i, s in enumerate(self.sources)]
        self._which, self._own = np.concatenate(which), np.concatenate(own)
        order = np.lexsort((self._own, self._which, self._own // block))
        self._which, self._own = self._which[order], self._own[order]
        self.describe_as(self.sources[0])


class WeightedDataset(_ByPlaces):
    """Samples of several data sets, drawn with weights; see `sample_from`."""

    def __init__(self, sources: Sequence[Dataset], weights: Sequence[float] | None, length: int | None, seed: int):
        self.sources = _check("sample_from", sources)
        shares = check_weights(weights, len(self.sources))
        if any(len(s) == 0 and share > 0 for s, share in zip(self.sources, shares, strict=True)):
            raise ConfigError("sample_from wants data sets with samples, one of them is empty")
        count = sum(len(s) for s in self.sources) if length is None else length
        rng = np.random.default_rng(seed)
        self._which = rng.choice(len(self.sources), count, p=shares)
        self._own = np.empty(count, np.int64)
        for i, source in enumerate(self.sources):
            places = np.flatnonzero(self._which == i)
            passes = -(-len(places) // max(len(source), 1))
            orders = [rng.permutation(len(source)) for _ in range(passes)]
            self._own[places] = np.concatenate([*orders, np.empty(0, np.int64)])[: len(places)]
        self.describe_as(self.sources[0])


def check_weights(weights: Sequence[float] | None, count: int) -> np.ndarray:
    """The shares of ``count`` data sets by their weights, equal ones for None. Raises ConfigError."""
    shares = np.ones(count) if weights is None else np.asarray(weights, "float64")
    if shares.shape != (count,) or not np.isfinite(shares).all() or shares.min() < 0 or not shares.sum() > 0:
        raise ConfigError(f"sample_from wants a weight of at least 0 for each of {count} data sets, received {weights}")
    return shares / shares.sum()
