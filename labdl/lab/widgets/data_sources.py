"""Conversion of what `lab.Data` shows into data sets, one for each part."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data import ArrayDataset, Dataset, SampleDataset
from labdl.data.folders.split_names import find_split
from labdl.errors import ConfigError

_MOST_STREAMED = 200  # samples of an iterable that are shown
_MOST_PARTS = 50
_ORDER = ("training", "validation", "test")


def as_parts(source: Any) -> dict[str, Dataset]:
    """The data sets of a dictionary of parts by their names, the one that trains first; another one has an empty name.

    Usual names of parts become "training", "validation" and "test", as of `labdl.data.open_splits`. Raises ConfigError.
    """
    if not isinstance(source, Mapping) or not source or not all(_is_dataset(value) for value in source.values()):
        return {"": as_dataset(source)}
    if len(source) > _MOST_PARTS:
        raise ConfigError(f"Data shows at most {_MOST_PARTS} parts, received {len(source):,}")
    names = [str(name) or f"part {number}" for number, name in enumerate(source, 1)]
    usual = [find_split(name) or name for name in names]
    if len(set(usual)) < len(usual):
        usual = names  # such as train1 and train2
    if len(set(usual)) < len(usual):
        raise ConfigError(f"Data wants parts of different names, received {', '.join(names):.300}")
    parts = {name: as_dataset(value) for name, value in zip(usual, source.values(), strict=True)}
    order = [name for name in _ORDER if name in parts]
    return {name: parts[name] for name in dict.fromkeys([*order, *parts])}


def as_dataset(source: Any) -> Dataset:
    """A data set of what can be shown as one. Raises ConfigError."""
    if isinstance(source, Dataset):
        return source
    if isinstance(source, np.ndarray):
        return ArrayDataset(source)
    if _is_frame(source):
        return _Columns({name: source[name].to_numpy() for name in source.columns})
    if isinstance(source, tuple) and source and all(isinstance(value, Dataset) for value in source):
        raise ConfigError(
            f"Data received {len(source)} data sets: name them, as in Data({{'training': …, 'validation': …}})"
        )
    if isinstance(source, Mapping) and source and all(_length(value) for value in source.values()):
        return _Columns(source)
    if _is_arrays(source):
        return ArrayDataset(*source)
    if hasattr(source, "__getitem__") and hasattr(source, "__len__") and not isinstance(source, str | bytes | Mapping):
        return SampleDataset(source)
    if hasattr(source, "__iter__") and not isinstance(source, str | bytes | Mapping):
        first = SampleDataset(list(itertools.islice(source, _MOST_STREAMED))).describe_as(source)
        first.name = getattr(source, "name", "") or f"first {len(first)} samples"
        return first
    raise ConfigError(f"Data wants a data set, arrays or an iterable of samples, received {type(source).__name__}")


def _length(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


class _Columns(Dataset):
    """The rows of a dictionary of columns."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]):
        lengths = {str(name): len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
            raise ConfigError(f"Data wants columns of one length, received {listed:.300}")
        self.columns, self.name = dict(columns), "columns"
        self._count = next(iter(lengths.values()))

    def __len__(self) -> int:
        return self._count

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        return {str(name): column[index] for name, column in self.columns.items()}


def _is_arrays(source: Any) -> bool:
    return isinstance(source, tuple) and len(source) > 1 and all(isinstance(v, np.ndarray) and v.ndim for v in source)


def _is_frame(source: Any) -> bool:
    """Whether it is a frame of pandas."""
    return hasattr(source, "iloc") and hasattr(source, "columns")


def _is_dataset(source: Any) -> bool:
    """Whether a value of a dictionary is a data set, and not a column."""
    if isinstance(source, Dataset) or _is_arrays(source) or _is_frame(source):
        return True
    is_column = isinstance(source, list | tuple | str | bytes | Mapping) or hasattr(source, "__array__")
    return not is_column and hasattr(source, "__getitem__") and hasattr(source, "__len__")
