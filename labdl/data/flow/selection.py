"""Some of the samples of a data set: by index, by a condition, several times."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.errors import ConfigError


class SelectedDataset(Dataset):
    """The samples at some indices; see `Dataset.select`."""

    def __init__(self, source: Dataset, indices: Any):
        self.source = source
        # a range takes no memory, whatever its length
        self.indices = indices if isinstance(indices, range) else np.asarray(indices)
        if isinstance(self.indices, np.ndarray):
            if self.indices.dtype == bool and self.indices.shape == (len(source),):
                self.indices = np.flatnonzero(self.indices)
            if self.indices.ndim != 1 or (self.indices.size and self.indices.dtype.kind not in "iu"):
                raise ConfigError(f"select wants indices (N,), received {self.indices.dtype} {self.indices.shape}")
            self.indices = self.indices.astype(np.int64)
        if len(self.indices):
            least, most = (
                (int(f(self.indices)) for f in (min, max)) if isinstance(self.indices, range) else _ends(self.indices)
            )
            if least < 0 or most >= len(source):
                raise ConfigError(f"select wants indices from 0 to {len(source) - 1:,}, received {least:,} to {most:,}")
        self.describe_as(source)
        self.gathers = source.gathers

    def __len__(self) -> int:
        return len(self.indices)

    def read(self, index: int, epoch: int = 0) -> Any:
        return self.source.read(int(self.indices[index]), epoch)

    def read_batch(self, indices: np.ndarray, epoch: int = 0) -> Any:
        return self.source.read_batch(np.asarray(self.indices)[indices], epoch)

    def as_bytes(self) -> Dataset | None:
        source = self.source.as_bytes()
        return None if source is None else SelectedDataset(source, self.indices)

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.source.origin(int(self.indices[index]))

    def label_of(self, index: int) -> Any:
        return self.source.label_of(int(self.indices[index]))

    def labels(self) -> np.ndarray:
        return self.source.labels()[np.asarray(self.indices, np.int64)]


def _ends(indices: np.ndarray) -> tuple[int, int]:
    return int(indices.min()), int(indices.max())


class FilteredDataset(Dataset):
    """The samples that fulfil a condition; see `Dataset.filter`."""

    def __init__(self, source: Dataset, condition: Callable[[Any], bool]):
        if not callable(condition):
            raise ConfigError(f"filter wants a function of a sample, received {condition!r:.80}")
        self.source, self.condition = source, condition
        self._chosen: SelectedDataset | None = None
        self._lock = threading.Lock()
        self.describe_as(source)

    def _samples(self) -> SelectedDataset:
        with self._lock:
            if self._chosen is None:
                wanted = [i for i in range(len(self.source)) if self.condition(self.source.read(i))]
                self._chosen = SelectedDataset(self.source, np.array(wanted, np.int64))
            return self._chosen

    def __len__(self) -> int:
        return len(self._samples())

    def read(self, index: int, epoch: int = 0) -> Any:
        return self._samples().read(index, epoch)

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self._samples().origin(index)

    def label_of(self, index: int) -> Any:
        return self._samples().label_of(index)

    def labels(self) -> np.ndarray:
        return self._samples().labels()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())


class RepeatedDataset(Dataset):
    """The samples several times, with other random numbers of transforms each time; see `Dataset.repeat`."""

    def __init__(self, source: Dataset, count: int):
        self.source, self.count = source, count
        self.describe_as(source)

    def __len__(self) -> int:
        return len(self.source) * self.count

    def read(self, index: int, epoch: int = 0) -> Any:
        turn, own = divmod(index, len(self.source))
        return self.source.read(own, epoch * self.count + turn)

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.source.origin(index % len(self.source))

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index % len(self.source))

    def labels(self) -> np.ndarray:
        return np.tile(self.source.labels(), self.count)
