"""The two parts of a stream, none of which has a sample of the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from labdl.data.flow.entries import find_entry
from labdl.data.random_keys import derive_seed, sample_generator
from labdl.data.streams.composite import CompositeStream
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError, DataError

Key = Callable[[Any], Any] | str | int
_LARGEST_BLOCK = 1000
_SPLIT = 0x5B17  # keeps these numbers apart from those of transforms with the same seed


def split_stream(
    source: IterableDataset, share: float, seed: int | None, key: Key | None
) -> tuple[IterableDataset, IterableDataset]:
    """Both parts of a stream; see `IterableDataset.split`."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise ConfigError(f"split wants a share between 0 and 1, received {share!r:.40}")
    if not source.restartable:
        raise ConfigError(
            f"split reads the stream {source.name} twice, and an iterator can be read once only: give the generator "
            "function instead of what it returns, or call cache() first"
        )
    if key is not None:
        if not callable(key) and not isinstance(key, str | int):
            raise ConfigError(f"key wants a function of a sample or the name of an entry, received {key!r:.80}")
        return PartByKey(source, share, seed or 0, key, True), PartByKey(source, share, seed or 0, key, False)
    _check_order(source)
    first, second = (PartByPosition(source, share, seed, part) for part in (True, False))
    if 0 in (first.length, second.length):
        raise ConfigError(f"a part of the split would be empty: share={share} of {source.length:,} samples")
    return first, second


def _check_order(stream: IterableDataset) -> None:
    """Raise ConfigError for a stream whose passes differ, where a position is no sample."""
    if isinstance(stream, CompositeStream) and not stream.keeps_samples:
        if stream.reorders:
            raise ConfigError(
                f"split by position wants the same samples in each pass, and {type(stream).__name__} has others: call split "
                "before it, or name what a sample is called by key="
            )
        for source in stream.sources:
            _check_order(source)


class PartByPosition(CompositeStream):
    """Some positions of each block of samples: a share of p / q takes p of q."""

    def __init__(self, source: IterableDataset, share: float, seed: int | None, first: bool):
        super().__init__(source)
        self.share, self.seed, self.first = share, seed, first
        ratio = Fraction(share).limit_denominator(_LARGEST_BLOCK)
        self._count, self._block = min(max(ratio.numerator, 1), ratio.denominator - 1), ratio.denominator
        if self._block < 2:  # a share below 1 / 1000 or above 999 / 1000
            self._count, self._block = (1 if share < 0.5 else _LARGEST_BLOCK - 1), _LARGEST_BLOCK

    @property
    def length(self) -> int | None:
        length = self.source.length
        if length is None:
            return None
        blocks, rest = divmod(length, self._block)
        own = self._count if self.first else self._block - self._count
        return blocks * own + sum(self._is_own(blocks)[:rest])

    def _is_own(self, block: int) -> list[bool]:
        """Whether each position of a block is in this part."""
        if self.seed is None:  # evenly, the last one of a block in the first part
            places = np.arange(self._block) * self._count // self._block
            in_first = np.diff(places, append=self._count) > 0
        else:
            in_first = np.zeros(self._block, bool)
            rng = sample_generator(derive_seed(self.seed, _SPLIT), 0, block)
            in_first[rng.permutation(self._block)[: self._count]] = True
        return (in_first == self.first).tolist()

    def read(self, epoch: int = 0) -> Iterator[Any]:
        own: list[bool] = []
        for position, sample in enumerate(self.source.read(epoch)):
            place = position % self._block
            if not place:
                own = self._is_own(position // self._block)
            if own[place]:
                yield sample


class PartByKey(CompositeStream):
    """The samples whose keys have a hash below the share, or the others."""

    def __init__(self, source: IterableDataset, share: float, seed: int, key: Key, first: bool):
        super().__init__(source)
        self.share, self.seed, self.key, self.first = share, seed, key, first

    def read(self, epoch: int = 0) -> Iterator[Any]:
        for sample in self.source.read(epoch):
            if (_hash(self._key_of(sample), self.seed) < self.share) == self.first:
                yield sample

    def _key_of(self, sample: Any) -> Any:
        if callable(self.key):
            return self.key(sample)
        if isinstance(sample, Mapping):
            return find_entry(sample, self.key)  # type: ignore[arg-type]
        try:
            return sample[self.key]
        except (TypeError, IndexError, KeyError):
            raise DataError(
                f"the samples of {self.name} have no entry {self.key!r:.80}: give key= a function"
            ) from None


def _hash(key: Any, seed: int) -> float:
    """A number from 0 to 1 that depends on a key alone, the same in each process."""
    if isinstance(key, np.generic):
        key = key.item()
    if isinstance(key, bytes):
        content = b"b" + key
    elif isinstance(key, str):
        content = b"s" + str(key).encode("utf-8", "surrogatepass")
    elif isinstance(key, int | float):
        content = f"n{key!r}".encode()
    else:
        raise DataError(f"the key of a sample is a text, bytes or a number, received {type(key).__name__}")
    digest = hashlib.blake2b(content, digest_size=8, key=f"{seed}".encode()[:64]).digest()
    return int.from_bytes(digest, "big") / 2**64
