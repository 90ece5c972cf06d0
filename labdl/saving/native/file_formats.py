"""Formats of checkpoint files: known from a file's first bytes and name, or wanted by a suffix."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import BinaryIO

from labdl import framework_info
from labdl.bounded.archives import open_archive
from labdl.bounded.files import open_file
from labdl.errors import ConfigError, FileFormatError
from labdl.saving.native.formats import keras, shards

FRAMEWORKS = framework_info.TRAINING
_FACTS = [framework_info.FACTS[name] for name in FRAMEWORKS]
_SUFFIXES = {
    **{
        f".{suffix.rpartition('.')[2]}": facts.checkpoint_format
        for facts in _FACTS
        for suffix in facts.checkpoint_suffixes
    },
    ".safetensors": "safetensors",
}
_READ = (*_SUFFIXES, ".bin", ".keras", shards.SUFFIX, "folders of these")
_HOMES = {
    **{facts.checkpoint_format: facts.name for facts in _FACTS},
    "objects": "tensorflow",
    "legacy": "torch",
    "safetensors": "torch",
    "index": "torch",
    "archive": "tensorflow",
}
_ARCHIVE = b"PK\x03\x04"
_SIGNATURES = {
    _ARCHIVE: "torch",
    b"\x89HDF": "keras",
    b"\x80\x02\x8a\n": "legacy",
}  # the last is PyTorch's magic number
_IN_FOLDERS = ("model.safetensors.index.json", "model.safetensors", "pytorch_model.bin.index.json", "pytorch_model.bin")


def framework_of(path, framework: str | None, kind: str) -> str:
    home = _HOMES.get(kind, kind)
    if framework is not None and framework not in FRAMEWORKS:
        raise ConfigError(f"framework wants one of {', '.join(FRAMEWORKS)}, received {framework!r}")
    if kind not in ("safetensors", "index") and framework not in (None, home):
        raise ConfigError(
            f"{Path(path).name} is a file of {home}, not of {framework}: a .safetensors file may have the "
            "names of any framework"
        )
    return framework or home


def format_of(path: Path) -> str:
    """Detect the format of an existing file from its first bytes, not its name."""
    if path.with_name(f"{path.name}.index").exists():
        return "objects"
    with open_file(path) as file:
        head = file.read(4)
        if head in _SIGNATURES:
            return "archive" if head == _ARCHIVE and _has_weights_of_keras(file) else _SIGNATURES[head]
    if path.name.endswith(shards.SUFFIX):
        return "index"
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise FileFormatError(
            f"{path.name} is not a checkpoint that LabDL can read: it reads {', '.join(_READ)} and those of "
            "tf.train.Checkpoint"
        )
    return kind


def _has_weights_of_keras(file: BinaryIO) -> bool:
    try:
        return keras.WEIGHTS in open_archive(file).namelist()
    except (zipfile.BadZipFile, OSError):
        return False  # the reader of its format says what is wrong


def file_of(path: Path) -> Path:
    """The file that is meant by the name of a folder."""
    if not path.is_dir() or path.with_name(f"{path.name}.index").exists():
        return path
    for name in _IN_FOLDERS:
        if (path / name).exists():
            return path / name
    raise FileFormatError(f"{path.name} is a folder with none of {', '.join(_IN_FOLDERS)}: give the name of a file")


def format_to(path: Path, framework: str | None) -> str:
    kind = _SUFFIXES.get(path.suffix.lower())
    if framework == "tensorflow" and kind not in ("keras", "safetensors"):
        return "objects"
    if kind is None:
        raise ConfigError(
            f"{path.name} does not have the suffix of a checkpoint: choose one of {', '.join(_SUFFIXES)}, or "
            "framework='tensorflow' for tf.train.Checkpoint"
        )
    return kind
