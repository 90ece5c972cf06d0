"""Entries of dictionary samples: chosen, renamed, and as inputs and targets of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.row_memory import Reserve, find_read_into
from labdl.errors import ConfigError, suggest_name


class _Entries(Dataset):
    def __init__(self, source: Dataset):
        self.source = source
        self.describe_as(source)

    def __len__(self) -> int:
        return len(self.source)

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.source.origin(index)

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()


class ProjectedDataset(_Entries):
    """Some entries of samples; see `Dataset.project`."""

    def __init__(self, source: Dataset, names: tuple[Any, ...]):
        super().__init__(source)
        self.names = names

    def read(self, index: int, epoch: int = 0) -> Any:
        sample = self.source.read(index, epoch)
        if isinstance(sample, Mapping):
            return {name: find_entry(sample, name) for name in self.names}
        return tuple([sample[name] for name in self.names])


class RenamedDataset(_Entries):
    """Samples with other names of entries; see `Dataset.rename`."""

    def __init__(self, source: Dataset, names: Mapping[str, str]):
        super().__init__(source)
        self.names = dict(names)
        self.inputs = tuple([self.names.get(name, name) for name in source.inputs])
        self.targets = tuple([self.names.get(name, name) for name in source.targets])

    def read(self, index: int, epoch: int = 0) -> Any:
        sample = self.source.read(index, epoch)
        for name in self.names:
            find_entry(sample, name)
        return {self.names.get(name, name): value for name, value in sample.items()}


class SupervisedDataset(_Entries):
    """Pairs (x, y) of dictionary samples; see `Dataset.as_supervised`."""

    def __init__(self, source: Dataset, inputs: str | Sequence[str] | None, targets: str | Sequence[str] | None):
        super().__init__(source)
        self.x = _names(source.inputs if inputs is None else inputs)
        self.y = _names(source.targets if targets is None else targets)

    def read(self, index: int, epoch: int = 0) -> Any:
        return choose_inputs_and_targets(self.source.read(index, epoch), self.x, self.y)

    def read_into(self, index: int, epoch: int, reserve: Reserve) -> Any:
        into = find_read_into(self.source)
        sample = self.source.read(index, epoch) if into is None else into(index, epoch, reserve)
        return choose_inputs_and_targets(sample, self.x, self.y)


def choose_inputs_and_targets(sample: Any, x: tuple[str, ...], y: tuple[str, ...]) -> Any:
    """The pair (x, y) of a dictionary sample; other samples, and those of which no inputs are named, as they are."""
    if not isinstance(sample, Mapping) or not x:
        return sample
    return _side(sample, x), _side(sample, y)


def find_entry(sample: Any, name: str) -> Any:
    """An entry of a dictionary sample. Raises ConfigError that lists the entries."""
    if not isinstance(sample, Mapping):
        raise ConfigError(
            f"the entry {name!r:.80} wants samples that are dictionaries, received {type(sample).__name__}"
        )
    if name not in sample:
        entries = list(map(str, sample))
        raise ConfigError(
            f"samples have the entries {', '.join(entries)}, not {name!r:.80}{suggest_name(str(name), entries)}"
        )
    return sample[name]


def _side(sample: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    values = tuple([find_entry(sample, name) for name in names])
    return values[0] if len(values) == 1 else values or None


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
