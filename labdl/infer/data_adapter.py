"""Batches from the inputs of inference and evaluation: lists of samples, data sets, loaders and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from labdl.data import ArrayDataset, Dataset, Loader
from labdl.data.batches import stack_samples
from labdl.data.conversion import as_array, is_table
from labdl.data.parts import Part
from labdl.errors import ConfigError, ModelError

Columns = tuple[Any, ...]  # for each input and target, an array or a list with one entry per sample


def is_loader(source: Any) -> bool:
    """Whether an object yields batches, as `labdl.data.Loader` and the loaders of the frameworks do."""
    return hasattr(source, "batch_size") and hasattr(source, "__iter__")


def is_dataset(source: Any) -> bool:
    """Whether an object is a loader, or a map-style data set that is not a plain sequence."""
    indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
    plain = isinstance(source, list | tuple | dict | str | np.ndarray) or is_table(source)
    plain = plain or hasattr(source, "toarray")  # a sparse matrix
    return is_loader(source) or (indexed and not plain)


def is_evaluable(source: Any) -> bool:
    """Whether an object can be read as samples with targets: a data set, a loader, a tuple of arrays, or rows."""
    if isinstance(source, str | bytes | Mapping | type | int | float | complex):
        return False
    if isinstance(source, tuple):
        return len(source) > 1 and all(
            hasattr(column, "__len__") and not isinstance(column, str | bytes) for column in source
        )
    if isinstance(source, list):
        return bool(source) and all(isinstance(row, tuple) and len(row) > 1 for row in source)
    return is_dataset(source) or hasattr(source, "__iter__")


def iterate_inputs(source: Any, count: int, size: int) -> Iterator[Columns]:
    """Iterate over batches of the ``count`` inputs of a model: from an array, a list or a frame of samples, a tuple of one for
    each input, a data set, or a loader; targets are left out.
    """
    if isinstance(source, tuple):
        source = ArrayDataset(*source)
    elif isinstance(source, Dataset) and source.inputs:
        source = _EntriesOfInputs(source)
    elif not is_dataset(source) and not _is_list_of_rows(source):
        source = ArrayDataset(source)
    for columns in iterate_columns(source, size):
        yield tuple(map(stack, columns[:count]))


class _EntriesOfInputs:
    """Samples of dictionaries as tuples of the inputs that the data set names."""

    def __init__(self, source: Dataset):
        self.source = source

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: int) -> Any:
        sample = self.source.read(index)
        return tuple([sample[name] for name in self.source.inputs]) if isinstance(sample, Mapping) else sample


def _is_list_of_rows(source: Any) -> bool:
    return type(source) is list and bool(source) and all(isinstance(row, tuple) for row in source)


def batch_samples(samples: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Group samples lazily in lists of up to ``size``."""
    if isinstance(samples, dict | str):
        raise ConfigError(
            f"samples wants a list, an array or another iterable of samples, received {samples!r:.60}: for one "
            "sample call infer_one"
        )
    rows = iter(samples)
    while batch := list(islice(rows, size)):
        yield batch


def slices(dataset: ArrayDataset, size: int) -> Iterator[Columns]:
    """Iterate over batches of a data set in order, as views of its arrays. Raises ConfigError as a `Loader` does."""
    Loader(dataset, size)
    return (dataset[at : at + size] for at in range(0, len(dataset), size))


def iterate_columns(source: Any, size: int) -> Iterator[Columns]:
    """Iterate over batches as columns from a loader, a data set, a tuple of arrays, or rows (input, ..., target)."""
    if is_loader(source):
        for batch in source:
            yield tuple(batch) if isinstance(batch, list | tuple) else (batch,)
    elif isinstance(source, ArrayDataset) or (isinstance(source, tuple) and source):
        yield from slices(source if isinstance(source, ArrayDataset) else ArrayDataset(*source), size)
    else:
        rows = (source[i] for i in range(len(source))) if is_dataset(source) else source
        for batch in batch_samples(rows, size):
            yield tuple(zip(*(row if isinstance(row, tuple) else (row,) for row in batch), strict=True))


def stack(values: Sequence[Any]) -> np.ndarray:
    """Stack the arrays of a batch. Raises ModelError where their shapes differ."""
    if hasattr(values, "__array__"):
        return as_array(values)
    if values and all(isinstance(value, Part) for value in values):
        return as_array(stack_samples(values))
    arrays = [as_array(value, "a sample") for value in values]
    shapes = dict.fromkeys(a.shape for a in arrays)
    if len(shapes) > 1:
        raise ModelError(
            f"the samples of a batch have the shapes {', '.join(map(str, shapes))}: make them equal "
            "in preprocess, or give batch_size=1"
        )
    return np.stack(arrays)
