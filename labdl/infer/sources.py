"""Batches of what inference and evaluation are given: lists of samples, data sets, loaders, streams without end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, ModelError

Columns = tuple[Any, ...]  # for each input and target, an array or a list of as many things as there are samples


def is_loader(source: Any) -> bool:
    """Whether it gives batches, as `labdl.data.Loader` does, and loaders of the frameworks."""
    return hasattr(source, "batch_size") and hasattr(source, "__iter__")


def is_dataset(source: Any) -> bool:
    """Whether its samples are rows of inputs and targets: a loader, or something indexed that is no plain sequence."""
    indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
    return is_loader(source) or (indexed and not isinstance(source, list | tuple | dict | str | np.ndarray))


def lists_of(samples: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Samples in lists of up to ``size``; one list is read at a time."""
    if isinstance(samples, dict | str):
        raise ConfigError(f"samples wants a list, an array or another iterable of samples, received {samples!r:.60}: for one "
                          "sample call infer_one")  # fmt: skip
    rows = iter(samples)
    while batch := list(islice(rows, size)):
        yield batch


def slices(dataset: ArrayDataset, size: int) -> Iterator[Columns]:
    """Batches of a data set in its order, as views of its arrays. Raises ConfigError as a `Loader` does."""
    Loader(dataset, size)
    return (dataset[at : at + size] for at in range(0, len(dataset), size))


def columns_of(source: Any, size: int) -> Iterator[Columns]:
    """Batches as columns from a loader, a data set, a tuple of arrays, or an iterable of rows (input, ..., target)."""
    if is_loader(source):
        for batch in source:
            yield tuple(batch) if isinstance(batch, list | tuple) else (batch,)
    elif isinstance(source, ArrayDataset) or (isinstance(source, tuple) and source):
        yield from slices(source if isinstance(source, ArrayDataset) else ArrayDataset(*source), size)
    else:
        rows = (source[i] for i in range(len(source))) if is_dataset(source) else source
        for batch in lists_of(rows, size):
            yield tuple(zip(*(row if isinstance(row, tuple) else (row,) for row in batch), strict=True))


def stacked(values: Sequence[Any]) -> np.ndarray:
    """One array of the arrays of a batch. Raises ModelError where their shapes differ."""
    if hasattr(values, "__array__"):
        return np.asarray(values)
    arrays = [np.asarray(value) for value in values]
    shapes = dict.fromkeys(a.shape for a in arrays)
    if len(shapes) > 1:
        raise ModelError(f"the samples of a batch have the shapes {', '.join(map(str, shapes))}: let preprocess make them "
                         "alike, or give batch_size=1")  # fmt: skip
    return np.stack(arrays)
