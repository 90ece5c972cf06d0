"""In-memory datasets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labdl.data.conversion import as_array
from labdl.errors import ConfigError


class ArrayDataset:
    """Samples and targets as arrays of equal length; batches are gathered by index.

    Lists and frames of pandas are converted to arrays; ``classes`` are the names of the classes that targets number.
    """

    def __init__(self, *arrays, name: str = "arrays", classes: Sequence[str] | None = None):
        if not arrays:
            raise ConfigError("ArrayDataset wants at least one array")
        self.arrays = tuple(np.ascontiguousarray(as_array(a, name)) for a in arrays)
        lengths = {len(a) for a in self.arrays}
        if len(lengths) > 1:
            raise ConfigError(f"ArrayDataset wants arrays of equal length, received {[len(a) for a in self.arrays]}")
        self.name, self.classes = name, classes

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index):
        """One sample, or a batch for an array of indices: a tuple of arrays."""
        return tuple(a[index] for a in self.arrays)

    def __repr__(self) -> str:
        return f"ArrayDataset({self.name}: {', '.join(f'{a.shape} {a.dtype}' for a in self.arrays)})"
