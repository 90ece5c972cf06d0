"""The last part of the training data as validation data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from labdl.data import ArrayDataset, IterableDataset, Loader
from labdl.errors import ConfigError
from labdl.train.data_adapter import NestedDataset, StackedDataset, map_structure


class _Part:
    """Consecutive samples of a data set."""

    def __init__(self, source: Any, start: int, stop: int):
        self.source, self.start, self.length = source, start, stop - start
        self.name, self.classes = getattr(source, "name", type(source).__name__), getattr(source, "classes", None)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: int) -> Any:
        return self.source[self.start + i]


def split_validation(data: Any, share: float) -> tuple[Any, Any]:
    """Split data into its first samples, for training, and a share of its last ones. Semantics: keras.Model.fit.

    Raises ConfigError for a share that is not between 0 and 1, or that leaves a part without samples.
    """
    if isinstance(share, bool | str) or np.ndim(share) or not 0 < float(share) < 1:
        raise ConfigError(
            f"validation_split wants a share of the samples of at least 0 and below 1, received {share!r}"
        )
    if isinstance(data, Loader | IterableDataset):
        raise ConfigError(
            f"validation_split wants a data set, received {type(data).__name__}: split the data before, or give validation="
        )
    share = float(share)
    count = len(data)
    at = math.floor(count * (1 - share))
    if not 0 < at < count:
        raise ConfigError(
            f"validation_split={share} of {count} samples leaves {at} for training and {count - at} for validation: both "
            "want at least one"
        )
    return part_of(data, 0, at), part_of(data, at, count)


def part_of(data: Any, start: int, stop: int) -> Any:
    """Consecutive samples of a data set."""
    if isinstance(data, ArrayDataset):
        return ArrayDataset(*(a[start:stop] for a in data.arrays), name=data.name, classes=data.classes)
    if isinstance(data, NestedDataset):
        return NestedDataset(map_structure(lambda a: a[start:stop], data.values))
    return StackedDataset(_Part(data.source, start, stop))
