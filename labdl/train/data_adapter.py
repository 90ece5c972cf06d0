"""Adapt data sets of any structure to batches of arrays, and name the sample that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, DataError, LabDLError

# -- nested values: tuples, lists and dictionaries of arrays or tensors

Structure = Any  # hashable; None for an array alone


def flattened(value: Any) -> tuple[list[Any], Structure]:
    """The arrays or tensors in a value, and how they stand in it. None, for what there is not, is kept as it is."""
    if value is None:
        return [], "nothing"
    if isinstance(value, Mapping):
        parts, names = [flattened(v) for v in value.values()], tuple(value)
    elif isinstance(value, list | tuple):
        parts, names = [flattened(v) for v in value], type(value) is list
    else:
        return [value], None
    return [leaf for leaves, _ in parts for leaf in leaves], (names, tuple(inner for _, inner in parts))


def rebuilt(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The value of a structure from its arrays or tensors."""
    if structure is None:
        return next(leaves)
    if structure == "nothing":
        return None
    names, inner = structure
    parts = [rebuilt(s, leaves) for s in inner]
    if isinstance(names, tuple):
        return dict(zip(names, parts, strict=True))
    return parts if names else tuple(parts)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same value with the function of each array or tensor in it."""
    leaves, structure = flattened(value)
    return rebuilt(structure, iter([function(leaf) for leaf in leaves]))


def size_of(value: Any) -> int:
    """The number of samples in a batch."""
    if isinstance(value, np.ndarray):
        return len(value)
    leaves, _ = flattened(value)
    if not leaves:
        raise ConfigError("a batch has no arrays in it: preprocess gives (inputs, targets)")
    return len(leaves[0])


# -- data sets


class Nested:
    """A pair (x, y) of which one is a tuple or a dictionary of arrays."""

    name = "arrays"

    def __init__(self, values: tuple):
        self.values = mapped(np.ascontiguousarray, values)
        lengths = [len(a) for a in flattened(self.values)[0]]
        if not lengths or len(set(lengths)) > 1:
            raise ConfigError(f"data wants arrays of equal length, received {lengths}")
        self.length = lengths[0]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index):
        return mapped(lambda a: a[index], self.values)


class Samples:
    """A data set that gives one sample at a time, as batches: arrays and numbers of the samples are stacked."""

    def __init__(self, source: Any):
        self.source, self.name = source, getattr(source, "name", type(source).__name__)

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index):
        rows = [self._sample(int(i)) for i in index]
        columns = [[np.asarray(leaf) for leaf in leaves] for leaves, _ in rows]
        for i, row, (_, structure) in zip(index, columns, rows, strict=True):
            if structure != rows[0][1] or [a.shape for a in row] != [a.shape for a in columns[0]]:
                raise DataError(
                    f"sample {int(i):,} of {self.name} is of shapes {_shapes(row)}, sample {int(index[0]):,} of "
                    f"{_shapes(columns[0])}: let the data set make them alike"
                )
        return rebuilt(rows[0][1], iter([np.stack(column) for column in zip(*columns, strict=True)]))

    def _sample(self, i: int) -> tuple[list[Any], Structure]:
        try:
            leaves, structure = flattened(self.source[i])
        except Exception as error:  # somebody's own code, whose words are passed on
            raise failed(i, self.name, error) from error
        return leaves, structure


def as_dataset(value: Any, name: str = "data") -> Any:
    """A data set that gives batches: an `ArrayDataset`, a pair (x, y) of arrays, or of tuples and dictionaries of them.

    Anything else with a length and samples (``data[i]``, a tuple or a dictionary) is read sample by sample. Raises
    ConfigError.
    """
    if isinstance(value, ArrayDataset | Nested | Samples):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        plain = not any(isinstance(v, tuple | Mapping) or v is None for v in value)
        return ArrayDataset(*value) if plain else Nested(value)
    if (
        not isinstance(value, str | list | tuple | Mapping)
        and hasattr(value, "__getitem__")
        and hasattr(value, "__len__")
        and not isinstance(value, np.ndarray)
    ):
        return Samples(value)
    raise ConfigError(
        f"{name} wants an ArrayDataset or a pair (x, y), or an object with a length and samples, received "
        f"{type(value).__name__}"
    )


def read(loader: Loader, epoch: int = 0, start: int = 0) -> Iterator[Any]:
    """The batches of an epoch. Raises DataError that names the sample which cannot be read."""
    batches, at = loader.epoch(epoch, start), start
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except LabDLError:
            raise
        except Exception as error:  # of a data set, perhaps the user's own: whatever it says is passed on
            order = loader.indices(epoch)[at * loader.batch_size : (at + 1) * loader.batch_size]
            raise _found(loader.dataset, order, error) from error
        yield batch
        at += 1


def _found(dataset: Any, order: np.ndarray, error: Exception) -> DataError:
    name = getattr(dataset, "name", type(dataset).__name__)
    for i in order:
        try:
            dataset[np.array([i])]
        except Exception as own:  # as above
            return failed(int(i), name, own)
    return DataError(
        f"the batch of the samples {', '.join(map(str, order[:5]))} … of {name} cannot be read, though each alone "
        f"can: {_said(error)}"
    )


def failed(i: int, name: str, error: Exception) -> DataError:
    """Error message for a sample that cannot be read."""
    return DataError(f"sample {i:,} of {name} cannot be read: {_said(error)}")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _shapes(row: list[np.ndarray]) -> str:
    return ", ".join(str(a.shape) for a in row)
