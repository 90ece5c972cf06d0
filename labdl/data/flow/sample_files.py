"""The files of a cache: one for each sample, in a folder that belongs to one data set or stream."""

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
from labdl.data.pipeline import Pipeline
from labdl.data.sample_codec import from_bytes, to_bytes
from labdl.errors import ConfigError

_COMMON = frozenset(("source", "sources", "name", "classes", "inputs", "targets", "parallel", "batched", "gathers"))


class SampleFiles:
    """Samples by their numbers; ``cache.json`` holds the ``identity`` of what they are samples of.

    Raises ConfigError for a folder of other files, or of another identity.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]):
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        description = self.folder / "cache.json"
        if description.exists():
            present = _read_identity(description)
            if present != identity:
                raise ConfigError(
                    f"the folder {self.folder} is a cache of {present}, not of {identity}: remove it, or give another folder"
                )
        elif any(self.folder.iterdir()):
            raise ConfigError(f"the folder {self.folder} has other files and is no cache: give an empty folder")
        else:
            with replace_files(description) as (file,):
                file.write(json.dumps(identity).encode())

    def _file(self, index: int) -> Path:
        return self.folder / f"{index // 1000:05}" / f"{index}.sample"

    def has(self, index: int) -> bool:
        """Whether there is a file of a sample."""
        return self._file(index).exists()

    def read(self, index: int) -> Any:
        """The sample of a number. Raises FileNotFoundError, and FileFormatError for a damaged file."""
        return from_bytes(self._file(index).read_bytes())

    def write(self, index: int, sample: Any) -> None:
        """Keep a sample under a number: its file is complete or not there."""
        file = self._file(index)
        file.parent.mkdir(exist_ok=True)
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
        try:
            part.write_bytes(to_bytes(sample))
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)


def describe_source(dataset: Any, identity: dict[str, Any]) -> dict[str, Any]:
    """The identity of a cache: ``identity``, and the steps done to a data set or stream, the last first.

    Two halves of a split have the same name and length.
    """
    steps = _describe_steps(dataset)
    return {**identity, "steps": steps} if steps else identity


def _describe_steps(dataset: Any) -> list[str]:
    steps = []
    while hasattr(getattr(dataset, "source", None), "describe_as"):  # a data set or stream
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
