"""Data sets of any structure as batches of arrays, and error messages that name the unreadable sample."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import numpy as np

from labdl.data import ArrayDataset, Dataset, IterableDataset, Loader, SampleDataset
from labdl.data.batch_loader import BatchLoader
from labdl.data.conversion import advice_for, as_array, as_inputs, is_table
from labdl.data.flow.entries import SupervisedDataset
from labdl.data.native.reading import from_native, is_native
from labdl.data.random_keys import takes_generator
from labdl.data.streams.sample_wise import SupervisedStream
from labdl.errors import ConfigError, DataError, LabDLError

# -- nested values: tuples, lists and dictionaries of arrays or tensors

Structure = Any  # hashable; None for an array alone


def flatten(value: Any) -> tuple[list[Any], Structure]:
    """Flatten a nested value into its arrays or tensors and its structure; None has no leaves."""
    if value is None:
        return [], "none"
    if isinstance(value, Mapping):
        parts, names = [flatten(v) for v in value.values()], tuple(value)
    elif isinstance(value, list | tuple):
        parts, names = [flatten(v) for v in value], type(value) is list
    else:
        return [value], None
    return [leaf for leaves, _ in parts for leaf in leaves], (names, tuple(inner for _, inner in parts))


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Build the nested value of a structure from its arrays or tensors."""
    if structure is None:
        return next(leaves)
    if structure == "none":
        return None
    names, inner = structure
    parts = [unflatten(s, leaves) for s in inner]
    if isinstance(names, tuple):
        return dict(zip(names, parts, strict=True))
    return parts if names else tuple(parts)


def map_structure(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to each array or tensor of a nested value."""
    leaves, structure = flatten(value)
    return unflatten(structure, iter([function(leaf) for leaf in leaves]))


def size_of(value: Any) -> int:
    """The number of samples in a batch."""
    if isinstance(value, np.ndarray):
        return len(value)
    leaves, _ = flatten(value)
    if not leaves:
        raise ConfigError("a batch has no arrays: preprocess returns (inputs, targets)")
    return len(leaves[0])


# -- data sets


class NestedDataset:
    """A data set of a pair (x, y) in which x or y is a tuple or a dictionary of arrays."""

    name = "arrays"
    gathers = True

    def __init__(self, values: tuple):
        self.values = map_structure(np.ascontiguousarray, _with_arrays(values))
        lengths = [len(a) for a in flatten(self.values)[0]]
        if not lengths or len(set(lengths)) > 1:
            raise ConfigError(f"data wants arrays of equal length, received {lengths}")
        self.length = lengths[0]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index):
        return map_structure(lambda a: a[index], self.values)


def _with_arrays(value: Any) -> Any:
    """Frames and lists of numbers or text in a nested value as arrays; lists of arrays are part of its structure."""
    if isinstance(value, Mapping):
        return {name: _with_arrays(v) for name, v in value.items()}
    if isinstance(value, tuple) or (isinstance(value, list) and any(hasattr(v, "shape") for v in value)):
        return type(value)(map(_with_arrays, value))
    return None if value is None else as_array(value)


class StackedDataset:
    """Batches of a data set that returns one sample at a time: arrays and numbers of the samples are stacked."""

    gathers = True

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
                    f"{_shapes(columns[0])}: let the data set return samples of one shape"
                )
        return unflatten(rows[0][1], iter([np.stack(column) for column in zip(*columns, strict=True)]))

    def _sample(self, i: int) -> tuple[list[Any], Structure]:
        try:
            leaves, structure = flatten(self.source[i])
        except Exception as error:  # code of the user may raise anything
            raise _sample_error(i, self.name, error) from error
        return leaves, structure


_DATASETS = (Dataset, IterableDataset, ArrayDataset, NestedDataset, StackedDataset, Loader)


def as_dataset(value: Any, name: str = "data") -> Any:
    """Convert to a data set that returns batches: an `ArrayDataset`, or a pair (x, y) of arrays, tuples or dictionaries.

    A `Loader` stays one with its settings, and a stream, an `IterableDataset`, stays one. Data sets and loaders of other
    libraries are converted by `labdl.data.from_native`; a data set of batches gives a loader that takes them as they are.
    Lists of numbers and frames of pandas are arrays (see `labdl.data.conversion`). Anything else with a length and
    samples (``data[i]``, a tuple or a dictionary), lists of these among them, is read sample by sample. Raises ConfigError.
    """
    if isinstance(value, Loader):
        inner = as_dataset(value.dataset, name)
        return value if inner is value.dataset else value.replace(inner)
    if is_native(value):
        value = from_native(value)
        if isinstance(value, dict):
            raise ConfigError(f"{name} wants one data set, received the splits {', '.join(value)}: give one of them")
    if isinstance(value, Dataset | IterableDataset) and value.batched:
        return BatchLoader(value.as_supervised())
    if isinstance(value, IterableDataset):
        return value if isinstance(value, SupervisedStream) else value.as_supervised()
    advice = None if isinstance(value, tuple) else advice_for(value)
    if advice is not None:
        more = "; or stream them as data.IterableDataset(…)" if hasattr(value, "__next__") else ""
        raise ConfigError(f"{name} wants arrays x and y or a data set, received {type(value).__name__}: {advice}{more}")
    if isinstance(value, ArrayDataset | NestedDataset | StackedDataset):
        return value
    if isinstance(value, Dataset):
        return value if value.gathers or isinstance(value, SupervisedDataset) else value.as_supervised()
    if isinstance(value, tuple | list) and value and all(isinstance(part, _DATASETS) for part in value):
        raise ConfigError(
            f"{name} wants one data set, received {len(value)} in a {type(value).__name__}, as data.digits() returns them: "
            "write train, test = data.digits() and fit(train, validation=test)"
        )
    if isinstance(value, tuple) and len(value) == 2:
        value = as_inputs(value[0], _length(value[1])), value[1]
        plain = not any(isinstance(v, tuple | Mapping) or v is None for v in value)
        return ArrayDataset(*value) if plain else NestedDataset(value)
    if type(value) is list and value and all(isinstance(sample, tuple | Mapping) for sample in value):
        return StackedDataset(value)
    if (
        not isinstance(value, str | list | tuple | Mapping)
        and hasattr(value, "__getitem__")
        and hasattr(value, "__len__")
        and not isinstance(value, np.ndarray)
        and not is_table(value)
    ):
        if takes_generator(value.__getitem__):
            return SampleDataset(value).as_supervised()
        return StackedDataset(value)
    if callable(value) and not hasattr(value, "__len__"):
        function = getattr(value, "__name__", type(value).__name__)
        raise ConfigError(
            f"{name} wants a data set, received the function {function!r}: a function that yields samples is one as "
            f"data.IterableDataset({function})"
        )
    raise ConfigError(
        f"{name} wants an ArrayDataset or a pair (x, y), or an object with a length and samples, received "
        f"{type(value).__name__}"
    )


def _length(value: Any) -> int | None:
    return len(value) if hasattr(value, "__len__") else None


def as_batch(batch: tuple) -> tuple:
    """A batch as people have it, lists, frames or tensors, as arrays."""
    return batch if all(type(part) is np.ndarray for part in batch) else tuple(map(_with_arrays, batch))


def read(loader: Loader, epoch: int = 0, start: int = 0) -> Generator[Any, None, None]:
    """Yield the batches of an epoch. Raises DataError that names the sample which cannot be read."""
    batches, at = loader.epoch(epoch, start), start
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except LabDLError:
            raise
        except Exception as error:  # code of the user may raise anything
            if isinstance(loader.dataset, IterableDataset):
                raise _batch_error(at, loader.dataset.name, error) from error
            raise _read_error(loader.dataset, loader.batch_indices(epoch, at)[0], error) from error
        yield batch
        at += 1


def _read_error(dataset: Any, order: np.ndarray, error: Exception) -> DataError:
    """Error for a batch that cannot be read, which names the first unreadable sample."""
    name = getattr(dataset, "name", type(dataset).__name__)
    for i in order:
        try:
            dataset[np.array([i])]
        except Exception as own:  # as above
            return _sample_error(int(i), name, own)
    return DataError(
        f"the batch of the samples {', '.join(map(str, order[:5]))} … of {name} cannot be read, though each alone "
        f"can: {_describe_error(error)}"
    )


def _batch_error(number: int, name: str, error: Exception) -> DataError:
    return DataError(f"batch {number:,} of {name} cannot be read: {_describe_error(error)}")


def _sample_error(i: int, name: str, error: Exception) -> DataError:
    return DataError(f"sample {i:,} of {name} cannot be read: {_describe_error(error)}")


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _shapes(row: list[np.ndarray]) -> str:
    return ", ".join(str(a.shape) for a in row)
