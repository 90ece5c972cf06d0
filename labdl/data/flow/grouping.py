"""Samples that are batches or windows of other samples, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.data.batches import stack_samples
from labdl.data.dataset import Dataset
from labdl.errors import ConfigError, DataError


class BatchedDataset(Dataset):
    """Stacked samples; see `Dataset.batch` and `Dataset.padded_batch`."""

    def __init__(self, source: Dataset, size: int, drop_last: bool, pad: float | None = None):
        if not isinstance(size, int) or size < 1:
            raise ConfigError(f"batch wants a size of at least 1, received {size!r}")
        self.source, self.size, self.drop_last, self.pad = source, size, drop_last, pad
        self.describe_as(source)
        self.batched = True

    def __len__(self) -> int:
        whole, rest = divmod(len(self.source), self.size)
        return whole + (1 if rest and not self.drop_last else 0)

    def read(self, index: int, epoch: int = 0) -> Any:
        start = index * self.size
        end = min(start + self.size, len(self.source))
        return stack_samples([self.source.read(i, epoch) for i in range(start, end)], pad=self.pad)


class UnbatchedDataset(Dataset):
    """Rows of samples that are batches; see `Dataset.unbatch`."""

    def __init__(self, source: Dataset):
        self.source = source
        self.describe_as(source)
        self.batched = False
        sizes = {count_rows(source.read(i)) for i in (0, len(source) - 1)} if len(source) else {0}
        self._size = count_rows(source.read(0)) if len(source) else 0
        self._last = count_rows(source.read(len(source) - 1)) if len(source) else 0
        if len(sizes) > 1 and self._last > self._size:
            raise DataError("unbatch wants batches of one size, of which the last may be smaller")

    def __len__(self) -> int:
        return self._size * (len(self.source) - 1) + self._last if len(self.source) else 0

    def read(self, index: int, epoch: int = 0) -> Any:
        which, row = divmod(index, self._size)
        sample = self.source.read(which, epoch)
        if count_rows(sample) != (self._last if which == len(self.source) - 1 else self._size):
            raise DataError(
                f"unbatch wants batches of one size, batch {which:,} of {self.name} has {count_rows(sample)} samples"
            )
        return take_row(sample, row)


class WindowedDataset(Dataset):
    """Windows of consecutive samples; see `Dataset.window`."""

    def __init__(self, source: Dataset, size: int, shift: int | None, stride: int, drop_last: bool):
        shift = size if shift is None else shift
        for name, value in (("size", size), ("shift", shift), ("stride", stride)):
            if not isinstance(value, int) or value < 1:
                raise ConfigError(f"window wants {name} of at least 1, received {value!r}")
        self.source, self.size, self.shift, self.stride, self.drop_last = source, size, shift, stride, drop_last
        self.describe_as(source)

    def __len__(self) -> int:
        samples = len(self.source)
        if not self.drop_last:
            return -(-samples // self.shift)
        span = (self.size - 1) * self.stride + 1
        return max(0, (samples - span) // self.shift + 1)

    def read(self, index: int, epoch: int = 0) -> Any:
        places = np.arange(self.size) * self.stride + index * self.shift
        return stack_samples([self.source.read(int(i), epoch) for i in places if i < len(self.source)])


def count_rows(sample: Any) -> int:
    """The number of samples in a batch."""
    if isinstance(sample, dict):
        return count_rows(next(iter(sample.values())))
    return count_rows(sample[0]) if isinstance(sample, tuple) else len(sample)


def take_row(sample: Any, row: int) -> Any:
    """One sample of a batch."""
    if isinstance(sample, dict):
        return {name: take_row(value, row) for name, value in sample.items()}
    return tuple([take_row(value, row) for value in sample]) if isinstance(sample, tuple) else sample[row]
