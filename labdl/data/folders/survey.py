"""A look into a folder tree, of a limited number of entries and size of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from labdl.errors import ConfigError, DataError

MOST_LOOKED_AT = 4000  # entries of a folder tree


def scan(folder: Path) -> dict[str, bool]:
    """Names in a folder that are not hidden, and whether each is a folder; not more than are looked at."""
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                found[entry.name] = entry.is_dir()
            if len(found) >= MOST_LOOKED_AT:
                break
    return found


def walk(root: Path, entries: dict[str, bool]) -> Iterator[tuple[str, bool]]:
    """Names of files in lower case, and whether each is in a sub-folder; not more than are looked at, of each as many."""
    left = MOST_LOOKED_AT
    folders = [root / name for name, is_folder in entries.items() if is_folder]
    yield from ((name.lower(), False) for name, is_folder in entries.items() if not is_folder)
    each = max(8, MOST_LOOKED_AT // max(1, len(folders)))
    while folders and left > 0:
        folder = folders.pop(0)
        if folder.is_symlink() and folder.parent != root:
            continue
        with os.scandir(folder) as inside:
            for at, entry in enumerate(inside):
                if at >= each or left <= 0:
                    break
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                else:
                    yield entry.name.lower(), True


def has_files(folder: Path, suffixes: tuple[str, ...]) -> bool:
    """Whether a folder or one below it has a file of these suffixes."""
    return any(name.endswith(suffixes) for name, _ in walk(folder, scan(folder)))


def check_inside(path: Path, root: Path) -> Path:
    """The path, if it does not lead out of the folder."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise DataError(f"{path.name} is a link out of the folder {root.name}: put the files themselves into it")
    return path


def count_files(root: Path, most: int) -> int:
    """Number of files in a folder and those below, counted up to ``most``; links to folders are not followed."""
    count, folders = 0, [os.fspath(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                count += 1
                if count >= most:
                    return count
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return count


def check_size(file: Path, largest: int | None) -> None:
    """Raise ConfigError for a file of more than ``largest`` bytes."""
    if largest is not None and (size := file.stat().st_size) > largest:
        raise ConfigError(
            f"{file.name} has {size >> 20:,} MiB, more than {largest >> 20:,}: open it with the class of its format"
        )
