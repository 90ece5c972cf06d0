"""Samples as every library takes them: arrays, strings and None."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from labdl.data.array_dataset import ArrayDataset
from labdl.data.batches import DataFormat, write_channels_first
from labdl.data.dataset import Dataset
from labdl.data.parts import Image, Part, Tokens, Video
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError


class PlainSamples:
    """The samples of a data set as every library takes them: dictionaries and tuples of arrays, strings and None.

    Pictures and clips have their channels first, unless ``data_format`` says otherwise; numbers have the dtypes that
    `stack_samples` gives them.
    """

    def __init__(self, dataset: Dataset | IterableDataset, data_format: DataFormat):
        self.dataset, self.data_format = dataset, data_format
        self.name = dataset.name or type(dataset).__name__
        self.classes, self.inputs, self.targets = dataset.classes, dataset.inputs, dataset.targets
        self.indexed = isinstance(dataset, Dataset)
        self.arrays = dataset.arrays if isinstance(dataset, ArrayDataset) else None

    @property
    def length(self) -> int | None:
        """The number of samples, if it is known."""
        return len(self.dataset) if isinstance(self.dataset, Dataset) else self.dataset.length

    def read(self, index: int, epoch: int = 0) -> Any:
        """The sample at an index from 0."""
        assert isinstance(self.dataset, Dataset)
        return plain_sample(self.dataset.read(index, epoch), self.data_format == "channels_first")

    def open(self, epoch: int = 0) -> Iterator[Any]:
        """The samples of a pass in their order."""
        if isinstance(self.dataset, Dataset):
            return (self.read(index, epoch) for index in range(len(self.dataset)))
        first = self.data_format == "channels_first"
        return (plain_sample(sample, first) for sample in self.dataset.open(epoch))

    def examples(self, count: int, *, plain: bool = True) -> list[Any]:
        """Up to ``count`` samples, of a stream that can be read again the first ones. Raises ConfigError if there are none."""
        if isinstance(self.dataset, Dataset):
            length = len(self.dataset)
            places = np.unique(np.linspace(0, length - 1, min(count, length), dtype=int))
            found = [self.dataset.read(int(i)) for i in places]
        else:
            found = list(islice(self.dataset.open(), count)) if self.dataset.restartable else [self.dataset.peek()]
        if not found:
            raise ConfigError(f"the data set {self.name} is empty")
        return [plain_sample(s, self.data_format == "channels_first") for s in found] if plain else found


def plain_sample(value: Any, channels_first: bool) -> Any:
    """A sample without typed parts and Python numbers."""
    if isinstance(value, Mapping):
        return {name: plain_sample(v, channels_first) for name, v in value.items()}
    if type(value) is tuple or (isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value)):
        return type(value)(plain_sample(v, channels_first) for v in value)
    if isinstance(value, Image | Video) and channels_first:
        array = np.empty((value.shape[-1], *value.shape[:-1]), value.dtype)
        write_channels_first(value.array, array)
        return array
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, Tokens | list) and all(isinstance(v, str) for v in value):
        return np.array(value, np.str_)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Part):
        return value.array
    if isinstance(value, bool) or not isinstance(value, int | float):
        return np.asarray(value)
    return np.asarray(value, "int64" if isinstance(value, int) else "float32")
