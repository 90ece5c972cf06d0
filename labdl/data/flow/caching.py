"""Samples kept after their first reading, in memory or on disk."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import secrets
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.data.sample_codec import from_bytes, to_bytes
from labdl.errors import ConfigError, FileFormatError

_COMMON = frozenset(("source", "name", "classes", "inputs", "targets", "parallel", "batched", "gathers"))


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
        self.folder.mkdir(parents=True, exist_ok=True)
        identity: dict[str, Any] = {"dataset": self.name, "samples": len(source)}
        steps = _describe_steps(source)
        if steps:
            identity["steps"] = steps
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

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.source.origin(index)

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()


def _describe_steps(dataset: Any) -> list[str]:
    """The steps done to a data set, the last first: two halves of a split have the same name and length."""
    steps = []
    while isinstance(getattr(dataset, "source", None), Dataset):
        settings = [
            f"{name}={_describe(value)}"
            for name, value in vars(dataset).items()
            if name[0] != "_" and name not in _COMMON
        ]
        text = f"{type(dataset).__name__}({', '.join(settings)})"
        steps.append(f"{text:.200} {hashlib.sha256(text.encode()).hexdigest()[:16]}")
        dataset = dataset.source
    return steps


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16]}"
    if isinstance(value, Pipeline):
        return f"[{', '.join(map(_describe, value.transforms))}]"
    if inspect.isroutine(value):
        return str(getattr(value, "__qualname__", type(value).__name__))  # the address differs in each process
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _read_identity(file: Path) -> Any:
    try:
        return loads(read_file(file, 1 << 16, "description of a cache"))
    except ValueError as error:
        raise ConfigError(f"{file} is no description of a cache: {error}") from None
