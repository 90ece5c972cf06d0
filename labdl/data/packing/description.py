"""The description of a packed data set, dataset.json, and the names of its shards."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.errors import FileFormatError, MissingFileError

NAME, FORMAT, VERSION = "dataset.json", "labdl.packed", 1
STRUCTURE, OTHER = "labdl.structure", "labdl.other"
_MOST_SAMPLES, _MOST_BYTES = 1 << 48, 1 << 26


@dataclass(frozen=True)
class Description:
    """Properties of all shards; equal for two runs over one data set, so that packing can go on after an interruption."""

    name: str
    samples: int
    samples_per_shard: int
    columns: dict[str, str]
    encode: dict[str, str] = field(default_factory=dict)
    quality: int = 95
    classes: list[str] | None = None
    inputs: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    fingerprint: str = ""

    @property
    def shards(self) -> int:
        return -(-self.samples // self.samples_per_shard)

    def shard_length(self, number: int) -> int:
        return min(self.samples_per_shard, self.samples - number * self.samples_per_shard)

    def write(self, folder: Path) -> None:
        with replace_files(folder / NAME) as (file,):
            content = {"format": FORMAT, "version": VERSION, **asdict(self)}
            file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())


def shard_path(folder: Path, number: int) -> Path:
    """The file of a shard."""
    return folder / f"shard-{number:06}.arrow"


def checksum_path(folder: Path, number: int) -> Path:
    """The file with the checksum of a shard, in the form of ``sha256sum -c``; it is written after the shard."""
    return folder / f"shard-{number:06}.arrow.sha256"


def read_checksum(folder: Path, number: int) -> str:
    """The checksum of a shard. Raises MissingFileError and FileFormatError."""
    path = checksum_path(folder, number)
    found = re.fullmatch(rb"([0-9a-f]{64})  \S+\n", read_file(path, 1024, "checksum"))
    if not found:
        raise FileFormatError(f"{path.name} is no checksum of a shard")
    return found[1].decode()


def read_description(folder: Path) -> Description:
    """Read the description of a folder. Raises MissingFileError and FileFormatError."""
    path = folder / NAME
    try:
        content = loads(read_file(path, _MOST_BYTES, "description of a packed data set"))
    except MissingFileError:
        raise MissingFileError(f"{folder} has no packed data set: there is no {NAME}") from None
    except ValueError as error:
        raise FileFormatError(f"{path} is no description of a packed data set: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileFormatError(f"{path} is no description of a packed data set")
    if content.get("version") != VERSION:
        raise FileFormatError(
            f"{path} is of version {content.get('version')!r:.20}, this LabDL reads version {VERSION}"
        )
    return _check({name: content.get(name) for name in Description.__dataclass_fields__}, path)


def _check(values: dict[str, Any], path: Path) -> Description:
    valid = (
        all(isinstance(values[name], str) for name in ("name", "fingerprint"))
        and all(type(values[name]) is int for name in ("samples", "samples_per_shard", "quality"))
        and 0 <= values["samples"] <= _MOST_SAMPLES
        and 1 <= values["samples_per_shard"] <= _MOST_SAMPLES
        and all(_are_texts(values[name]) for name in ("inputs", "targets"))
        and (values["classes"] is None or _are_texts(values["classes"]))
        and all(
            isinstance(values[name], dict) and _are_texts(list(values[name].values())) for name in ("columns", "encode")
        )
    )
    if not valid:
        raise FileFormatError(f"{path} is a damaged description of a packed data set")
    return Description(**values)


def _are_texts(values: Any) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and all(isinstance(v, str) for v in values)
