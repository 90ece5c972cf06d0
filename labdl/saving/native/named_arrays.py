"""The arrays of files that give each a name: those of PyTorch, PaddlePaddle and MindSpore, .safetensors and .npz."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.npz import ArrayFile
from labdl.errors import FileFormatError, StateDictError
from labdl.interop.key_map import Keys
from labdl.saving.native.contents import ParameterSearch
from labdl.saving.native.file_formats import file_of, format_of
from labdl.saving.native.formats import mindspore, paddle, safetensors, shards, torch, torch_legacy
from labdl.saving.native.formats.tree import Choose, by_path

PLAIN: dict[str, Any] = {
    "torch": torch,
    "paddle": paddle,
    "mindspore": mindspore,
    "safetensors": safetensors,
    "legacy": torch_legacy,
}


def read_by_name(path: Path, kind: str, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays that ``choose`` wants of a file of this format, or of the files of an index. Raises FileFormatError."""
    return shards.read(path, _read_part, choose) if kind == "index" else PLAIN[kind].read(path, choose)


def _read_part(path: Path) -> dict[str, np.ndarray]:
    kind = format_of(path)
    if kind not in ("torch", "legacy", "safetensors"):
        raise FileFormatError("it is a file of another format")
    return PLAIN[kind].read(path)


def read_arrays(
    path: str | Path, shapes: Mapping[str, tuple[int, ...] | None], *, prefix: str = "", keys: Keys | None = None
) -> dict[str, np.ndarray]:
    """The arrays of a file or folder, those of the dictionary in it that fits these names and shapes best.

    Nothing in the file is executed, and no framework is needed. ``prefix`` and ``keys`` are those of `load_checkpoint`. Raises
    FileFormatError for a file that is broken, numbers its layers (Keras, TensorFlow) or has code in the place of arrays,
    MissingFileError without a file, StateDictError where several dictionaries fit.
    """
    file = Path(path)
    choose = ParameterSearch(shapes, "torch", prefix, keys).choose
    try:
        if file.suffix.lower() == ".npz":
            with ArrayFile(file) as archive:
                return choose({(name,): archive[name] for name in archive.matching("*")})
        file = file_of(file)
        kind = format_of(file)
        if kind != "index" and kind not in PLAIN:
            raise FileFormatError(
                "it numbers its layers, and has no names of a published implementation: use "
                "labdl.load_checkpoint(model, file)"
            )
        return read_by_name(file, kind, choose)
    except FileFormatError as error:
        raise FileFormatError(f"{file.name} cannot be read: {error}") from error.__cause__
    except StateDictError as error:
        raise StateDictError(f"{file.name}: {error}") from None
