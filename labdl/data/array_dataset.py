"""In-memory data sets of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.conversion import as_array
from labdl.data.dataset import Dataset
from labdl.errors import ConfigError


class ArrayDataset(Dataset):
    """Samples and targets as arrays of equal length; batches are gathered by index.

    Lists and frames of pandas are converted to arrays; ``classes`` are the names of the classes that targets number.
    """

    gathers = True

    def __init__(self, *arrays, name: str = "arrays", classes: Sequence[str] | None = None):
        if not arrays:
            raise ConfigError("ArrayDataset wants at least one array")
        named = next((a for a in arrays if isinstance(a, Mapping)), None)
        if named is not None:
            raise ConfigError(
                f"ArrayDataset wants arrays, received a dictionary with {', '.join(map(repr, list(named)[:5]))}: write "
                "ArrayDataset(x, y), or give Trainer.fit the pair (dictionary of inputs, y)"
            )
        self.arrays = tuple(np.ascontiguousarray(as_array(a, name)) for a in arrays)
        lengths = {len(a) for a in self.arrays}
        if len(lengths) > 1:
            raise ConfigError(f"ArrayDataset wants arrays of equal length, received {[len(a) for a in self.arrays]}")
        self.name, self.classes = name, classes

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index):
        """One sample, or a batch for an array of indices or a slice: a tuple of arrays."""
        return tuple(a[index] for a in self.arrays)

    def read(self, index: int, epoch: int = 0) -> Any:
        return self[index]

    def read_batch(self, indices: np.ndarray, epoch: int = 0) -> Any:
        return self[indices]

    def label_of(self, index: int) -> Any:
        return self.arrays[-1][index]

    def labels(self) -> np.ndarray:
        return self.arrays[-1]

    def __repr__(self) -> str:
        return f"ArrayDataset({self.name}: {', '.join(f'{a.shape} {a.dtype}' for a in self.arrays)})"
