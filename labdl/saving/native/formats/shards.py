"""Checkpoints in several files: an index in JSON says which file of its folder has which array."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from labdl.bounded import plain_json
from labdl.bounded.files import open_file, read_file
from labdl.errors import FileFormatError
from labdl.saving.native.formats.tree import Choose, by_path

SUFFIX = ".index.json"
_MOST = 1 << 24  # bytes of an index
_NAMES, _FILES = 500_000, 10_000


def read(
    path: Path, read_file_of: Callable[[Path], dict[str, np.ndarray]], choose: Choose = by_path
) -> dict[str, np.ndarray]:
    """The arrays that ``choose`` wants of the files of an index, each of which ``read_file_of`` reads.

    Raises FileFormatError for an index that names other files than those beside it, or arrays that they do not have.
    """
    names: dict[str, list[str]] = {}
    for name, file in _table(path).items():
        names.setdefault(_file_name(file), []).append(name)
    if len(names) > _FILES:
        raise FileFormatError(f"its index names {len(names):,} files")
    found: dict[tuple[str, ...], np.ndarray] = {}
    places: set[tuple[int, int]] = set()
    for file, inside in names.items():
        with open_file(path.with_name(file)) as part:
            status = os.fstat(part.fileno())
        if (status.st_dev, status.st_ino) in places:
            raise FileFormatError(f"its index names one file under two names, the second {file}")
        places.add((status.st_dev, status.st_ino))
        try:
            arrays = read_file_of(path.with_name(file))
        except FileFormatError as error:
            raise FileFormatError(f"its part {file} cannot be read: {error}") from error.__cause__
        if missing := [name for name in inside if name not in arrays]:
            raise FileFormatError(f"its part {file} lacks {missing[0]:.200}, which the index places there")
        found |= {(name,): arrays[name] for name in inside}
    return choose(found)


def file_names(path: Path) -> list[str]:
    """The names of the files of an index, which lie beside it. Raises FileFormatError as `read`."""
    return list(dict.fromkeys(map(_file_name, _table(path).values())))


def _table(path: Path) -> dict:
    try:
        data = read_file(path, _MOST, "index")
        if data.count(b'"') > 4 * _NAMES + 100:
            raise FileFormatError(f"its index has more than {_NAMES:,} names")
        content = plain_json.loads(data)
    except FileFormatError:
        raise
    except ValueError as error:
        raise FileFormatError(f"it is not an index in JSON: {str(error)[:200]}") from error
    table = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(table, dict) or not table:
        raise FileFormatError("it is not an index of a checkpoint: it has no table weight_map")
    return table


def _file_name(file) -> str:
    """The name of a file in the folder of the index. Raises FileFormatError for any other."""
    is_name = (
        isinstance(file, str) and file not in ("", ".", "..") and file.isprintable() and not set(file) & set("/\\:")
    )
    if not is_name or len(file) > 255 or file.endswith(SUFFIX):
        raise FileFormatError(f"its index names {file!r:.100}, which is not a file beside it")
    return file
