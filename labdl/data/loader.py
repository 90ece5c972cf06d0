"""Loader: batches in an order that is a pure function of seed and epoch, for reproducible runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from labdl.errors import ConfigError


class Loader:
    """Batches of a dataset as tuples of NumPy arrays.

    The order of epoch ``e`` depends on ``seed`` and ``e`` alone: it is the same on every backend, and independent of
    earlier epochs.
    """

    def __init__(
        self, dataset: Any, batch_size: int = 32, shuffle: bool = False, seed: int = 0, drop_last: bool = False
    ):
        if batch_size < 1:
            raise ConfigError(f"batch_size wants an integer at least 1, received {batch_size}")
        if len(dataset) == 0:
            raise ConfigError("the dataset is empty")
        self.dataset, self.batch_size, self.shuffle, self.seed, self.drop_last = (
            dataset,
            batch_size,
            shuffle,
            seed,
            drop_last,
        )

    def __len__(self) -> int:
        """Number of batches in an epoch."""
        whole = len(self.dataset) / self.batch_size
        return math.floor(whole) if self.drop_last else math.ceil(whole)

    def indices(self, epoch: int = 0) -> np.ndarray:
        """Indices into the dataset in the order of an epoch."""
        if not self.shuffle:
            return np.arange(len(self.dataset))
        return np.random.default_rng([self.seed, epoch]).permutation(len(self.dataset))

    def epoch(self, epoch: int = 0, start: int = 0) -> Iterator[tuple[np.ndarray, ...]]:
        """Iterate over the batches of an epoch from ``start`` on; earlier ones are not read."""
        order = self.indices(epoch)
        for at in range(start, len(self)):
            yield self.dataset[order[at * self.batch_size : (at + 1) * self.batch_size]]

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        return self.epoch(0)
