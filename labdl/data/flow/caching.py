"""Samples kept after their first reading, in memory or on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.flow.sample_files import SampleFiles, describe_source
from labdl.errors import FileFormatError


class CachedDataset(Dataset):
    """Samples in memory after their first reading; see `Dataset.cache`."""

    def __init__(self, source: Dataset):
        self.source = source
        self._samples: dict[int, Any] = {}
        self.describe_as(source)

    def __len__(self) -> int:
        return len(self.source)

    def read(self, index: int, epoch: int = 0) -> Any:
        try:
            return self._samples[index]
        except KeyError:
            sample = self._samples[index] = self.source.read(index)
            return sample

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.source.origin(index)

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()


class FileCachedDataset(Dataset):
    """Samples in a folder after their first reading, a file each; see `Dataset.cache`.

    The folder belongs to one data set: ``cache.json`` names it, its selections and its transforms. A damaged file is read
    again from the source.
    """

    def __init__(self, source: Dataset, folder: str | Path):
        self.source, self.folder = source, Path(folder)
        self.describe_as(source)
        self._files = SampleFiles(self.folder, describe_source(source, {"dataset": self.name, "samples": len(source)}))

    def __len__(self) -> int:
        return len(self.source)

    def read(self, index: int, epoch: int = 0) -> Any:
        try:
            return self._files.read(index)
        except (FileNotFoundError, FileFormatError):
            sample = self.source.read(index)
        self._files.write(index, sample)
        return sample

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.source.origin(index)

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()
