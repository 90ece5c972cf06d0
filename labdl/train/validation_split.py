"""A part of the training data as validation data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from labdl.data import ArrayDataset, IterableDataset, Loader
from labdl.data.splitting import split_indices
from labdl.errors import ConfigError
from labdl.nn.loss.target_values import COUNTS, declaring_layer
from labdl.train.data_adapter import NestedDataset, StackedDataset, map_structure
from labdl.train.weighted_loss import plain_loss

ValidationFrom = Literal["shuffled", "last"]
_SHOWN = 5  # classes that a warning names


class _Part:
    """Samples of a data set, by their indices."""

    def __init__(self, source: Any, indices: Sequence[int] | np.ndarray):
        self.source, self.indices = source, indices
        self.name, self.classes = getattr(source, "name", type(source).__name__), getattr(source, "classes", None)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, i: int) -> Any:
        return self.source[int(self.indices[i])]


def split_validation(
    data: Any, share: float, loss: Callable[..., Any], seed: int, where: ValidationFrom | None = None
) -> tuple[Any, Any, np.ndarray]:
    """Split data into samples for training and a share for validation; returns both, and the indices of the first.

    ``where`` "last" holds back the last samples, as keras.Model.fit, "shuffled" samples drawn by the seed, of each label its
    share. None is "shuffled" for a loss of labels, because data are often sorted by class, and "last" for others, such as
    series of numbers. The samples of each part keep their order. Warns of labels that one part lacks. Raises ConfigError for
    a share that is not between 0 and 1, or that leaves a part without samples.
    """
    if isinstance(share, bool | str) or np.ndim(share) or not 0 < float(share) < 1:
        raise ConfigError(
            f"validation_split wants a share of the samples of at least 0 and below 1, received {share!r}"
        )
    if where not in (None, "shuffled", "last"):
        raise ConfigError(f"validation_from wants 'shuffled' or 'last', received {where!r}")
    if isinstance(data, Loader | IterableDataset):
        raise ConfigError(
            f"validation_split wants a data set, received {type(data).__name__}: split the data before, or give validation="
        )
    share, count = float(share), len(data)
    at = math.floor(count * (1 - share))
    if not 0 < at < count:
        raise ConfigError(
            f"validation_split={share} of {count} samples leaves {at} for training and {count - at} for validation: both "
            "want at least one"
        )
    labels = _labels(data, loss)
    if where == "last" or (where is None and not _is_of_labels(loss)):
        first, second = np.arange(at), np.arange(at, count)
    else:
        first, second = map(np.sort, split_indices(count, 1 - share, seed, labels))
    if labels is not None:
        _warn_of_missing(labels, first, second)
    return _take(data, first), _take(data, second), first


def part_of(data: Any, start: int, stop: int) -> Any:
    """Consecutive samples of a data set."""
    return _take(data, slice(start, stop))


def _take(data: Any, indices: slice | np.ndarray) -> Any:
    if not isinstance(indices, slice) and indices[-1] - indices[0] == len(indices) - 1:
        indices = slice(int(indices[0]), int(indices[-1]) + 1)  # a view
    if isinstance(data, ArrayDataset):
        return ArrayDataset(*(a[indices] for a in data.arrays), name=data.name, classes=data.classes)
    if isinstance(data, NestedDataset):
        return NestedDataset(map_structure(lambda a: a[indices], data.values))
    return StackedDataset(_Part(data.source, range(len(data))[indices] if isinstance(indices, slice) else indices))


def _is_of_labels(loss: Callable[..., Any]) -> bool:
    declared = getattr(declaring_layer(plain_loss(loss)), "target_values", None)
    return declared is not None and declared != COUNTS


def _labels(data: Any, loss: Callable[..., Any]) -> np.ndarray | None:
    """One label for each sample, None where there is none."""
    targets = data.arrays[-1] if isinstance(data, ArrayDataset) and len(data.arrays) > 1 else None
    if isinstance(data, NestedDataset) and isinstance(data.values[1], np.ndarray):
        targets = data.values[1]
    if targets is None or not _is_of_labels(loss) or targets.ndim > 2:
        return None
    if targets.ndim == 2 and targets.shape[1] > 1:
        is_binary = targets.dtype.kind in "biuf" and ((targets == 0) | (targets == 1)).all()
        if not is_binary or not ((targets == 1).sum(1) == 1).all():
            return None
        targets = targets.argmax(1)  # one-hot rows
    targets = targets.reshape(-1)
    values = targets.astype(str) if targets.dtype.kind == "O" else targets
    return None if values.dtype.kind == "f" and not (values == np.trunc(values)).all() else values


def _warn_of_missing(labels: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    parts = np.unique(labels[first]), np.unique(labels[second])
    for name, own, other in (("validation", *parts[::-1]), ("training", *parts)):
        missing = np.setdiff1d(other, own)
        if missing.size:
            listed = ", ".join(map(str, missing[:_SHOWN])) + (" …" if missing.size > _SHOWN else "")
            warnings.warn(
                f"validation_split leaves no sample of {'the class' if missing.size == 1 else 'the classes'} {listed} for "
                f"{name}: give validation= data of all classes, or leave out validation_from='last'",
                stacklevel=6,
            )
