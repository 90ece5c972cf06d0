"""Samples kept after their first reading, in memory or on disk."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.dataset import Dataset
from labdl.data.sample_codec import from_bytes, to_bytes
from labdl.errors import ConfigError, FileFormatError


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

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()


class FileCachedDataset(Dataset):
    """Samples in a folder after their first reading, a file each; see `Dataset.cache`.

    The folder belongs to one data set: ``cache.json`` names it. A damaged file is read again from the source.
    """

    def __init__(self, source: Dataset, folder: str | Path):
        self.source, self.folder = source, Path(folder)
        self.describe_as(source)
        self.folder.mkdir(parents=True, exist_ok=True)
        identity = {"dataset": self.name, "samples": len(source)}
        description = self.folder / "cache.json"
        if description.exists():
            found = _read_identity(description)
            if found != identity:
                raise ConfigError(
                    f"the folder {self.folder} is a cache of {found}, not of {identity}: remove it, or give another folder"
                )
        elif any(self.folder.iterdir()):
            raise ConfigError(f"the folder {self.folder} has other files and is no cache: give an empty folder")
        else:
            with replace_files(description) as (file,):
                file.write(json.dumps(identity).encode())

    def __len__(self) -> int:
        return len(self.source)

    def _file(self, index: int) -> Path:
        return self.folder / f"{index // 1000:05}" / f"{index}.sample"

    def read(self, index: int, epoch: int = 0) -> Any:
        file = self._file(index)
        try:
            return from_bytes(file.read_bytes())
        except (FileNotFoundError, FileFormatError):
            sample = self.source.read(index)
        file.parent.mkdir(exist_ok=True)
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
        try:
            part.write_bytes(to_bytes(sample))
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
        return sample

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()


def _read_identity(file: Path) -> Any:
    try:
        return loads(read_file(file, 1 << 16, "description of a cache"))
    except ValueError as error:
        raise ConfigError(f"{file} is no description of a cache: {error}") from None
