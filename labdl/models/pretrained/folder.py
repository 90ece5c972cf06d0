"""The JSON files of a pretrained model's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labdl.bounded import plain_json
from labdl.bounded.files import read_file
from labdl.errors import FileFormatError, MissingFileError
from labdl.models.pretrained.family import GENERATION

_LARGEST = 1 << 24  # bytes of a file


def read_json(path: Path) -> dict[str, Any]:
    """The table in a JSON file. Raises MissingFileError, and FileFormatError for anything else."""
    try:
        content = plain_json.loads(read_file(path, _LARGEST, "config"))
    except (ValueError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path.name} cannot be read: {error!s:.200}") from None
    if not isinstance(content, dict):
        raise FileFormatError(f"{path.name} cannot be read: it holds no table")
    return content


def read_config(folder: Path) -> dict[str, Any]:
    """The config.json of a folder. Raises MissingFileError that says what belongs there."""
    try:
        return read_json(folder / "config.json")
    except MissingFileError:
        raise MissingFileError(
            f"{folder} has no config.json: a pretrained model is a folder with config.json, model.safetensors and the files "
            "of its tokenizer"
        ) from None


def read_optional(path: Path) -> dict[str, Any]:
    """The table in a JSON file, empty where there is no file."""
    return read_json(path) if path.exists() else {}


def read_generation(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """The settings of generation: generation_config.json, or in older folders the same keys of config.json."""
    path = folder / "generation_config.json"
    source = read_json(path) if path.exists() else {name: config[name] for name in config if name in GENERATION}
    return {name: value for name, value in source.items() if value is not None and name != "transformers_version"}
