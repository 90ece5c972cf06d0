"""Batches of samples of similar length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.batches import stack_samples
from labdl.data.dataset import Dataset
from labdl.errors import ConfigError, DataError

LengthFunction = Callable[[Any], int]


class Buckets:
    """Assigns samples to buckets of lengths; a batch of a bucket is complete when the bucket has enough of them.

    There is a bucket of the lengths below each of ``boundaries``, and one for the others; ``batch_sizes`` is one number, or one
    for each bucket.
    """

    def __init__(self, boundaries: Sequence[float], batch_sizes: int | Sequence[int], drop_last: bool):
        self.boundaries = np.asarray(boundaries)
        count = self.boundaries.size + 1
        if self.boundaries.ndim != 1 or count < 2 or (np.diff(self.boundaries) <= 0).any():
            raise ConfigError(f"bucket_by_length wants boundaries that increase, received {boundaries!r:.80}")
        self.sizes = np.broadcast_to(batch_sizes, count) if isinstance(batch_sizes, int) else np.asarray(batch_sizes)
        if self.sizes.shape != (count,) or self.sizes.dtype.kind not in "iu" or self.sizes.min() < 1:
            raise ConfigError(
                f"bucket_by_length wants one batch size, or one of at least 1 for each of {count} buckets, received "
                f"{batch_sizes!r:.80}"
            )
        self.drop_last = drop_last

    def group(self, items: Iterable[tuple[Any, int]]) -> Iterator[list[Any]]:
        """The items of each batch; ``items`` are pairs of an item and its length."""
        waiting: dict[int, list[Any]] = {}
        for item, length in items:
            number = int(np.searchsorted(self.boundaries, length, "right"))
            bucket = waiting.setdefault(number, [])
            bucket.append(item)
            if len(bucket) == self.sizes[number]:
                yield waiting.pop(number)
        if not self.drop_last:
            for number in sorted(waiting):
                yield waiting[number]


class BucketedDataset(Dataset):
    """Padded batches of samples of similar length; see `Dataset.bucket_by_length`."""

    def __init__(self, source: Dataset, buckets: Buckets, length_func: LengthFunction | None, pad: float):
        self.source, self.buckets, self.pad = source, buckets, pad
        self.length_func = length_of if length_func is None else length_func
        self._groups: list[list[int]] | None = None
        self.describe_as(source)
        self.batched = True

    def _batches(self) -> list[list[int]]:
        if self._groups is None:  # threads that come at once compute the same
            lengths = ((i, self.length_func(self.source.read(i))) for i in range(len(self.source)))
            self._groups = list(self.buckets.group(lengths))
        return self._groups

    def __len__(self) -> int:
        return len(self._batches())

    def read(self, index: int, epoch: int = 0) -> Any:
        return stack_samples([self.source.read(i, epoch) for i in self._batches()[index]], pad=self.pad)


def length_of(sample: Any) -> int:
    """The length of the first array of a sample that has one. Raises DataError."""
    values = sample.values() if isinstance(sample, Mapping) else sample if isinstance(sample, tuple) else (sample,)
    for value in values:
        if isinstance(value, np.ndarray | list) and np.ndim(value):
            return len(value)
    raise DataError("bucket_by_length wants samples with an array: give length_func, a function of a sample")
