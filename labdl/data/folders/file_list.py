"""The files of a folder tree, with a class for each sub-folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from labdl.errors import ConfigError, DataError, MissingFileError, suggest_name

_DEEPEST = 16  # folders inside of each other


def find_classes(root: Path) -> list[str]:
    """Names of the sub-folders, in alphabetical order; hidden ones are left out."""
    with os.scandir(root) as entries:
        return sorted(e.name for e in entries if e.is_dir() and not e.name.startswith("."))


def list_files(root: Path, suffixes: Sequence[str]) -> Iterator[str]:
    """Paths of the files of these suffixes in a folder and those below, relative to it, in alphabetical order.

    Links to folders are not followed, so that a link cannot lead out of the tree or around in a circle.
    """
    yield from _list(os.fspath(root), "", tuple(suffixes), _DEEPEST)


def _list(folder: str, prefix: str, suffixes: tuple[str, ...], depth: int) -> Iterator[str]:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda e: e.name)
    for entry in listed:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _list(entry.path, f"{prefix}{entry.name}/", suffixes, depth - 1)
        elif entry.name.lower().endswith(suffixes):
            yield prefix + entry.name


class FileList:
    """Files of a folder, and the class number of each (None without classes).

    Raises MissingFileError if there is no folder, DataError if it has no files of these suffixes.
    """

    _linked: frozenset[str] = frozenset()  # folders of classes that are links

    def __init__(
        self, root: str | Path, suffixes: Sequence[str], *, what: str, labels: bool, classes: Sequence[str] | None
    ):
        self.root = Path(root)
        if not self.root.is_dir():
            raise MissingFileError(f"there is no folder {self.root}")
        self.paths: list[str] = []
        self.labels: list[int] | None = [] if labels else None
        self.classes: list[str] | None = None
        if not labels:
            self.paths = list(list_files(self.root, suffixes))
            if classes is not None:
                raise ConfigError(
                    "classes= names the classes of folders, and labels=False reads none: leave one of them out"
                )
        else:
            self._read_classes(suffixes, what, classes)
        if not self.paths:
            raise DataError(f"{self.root} has no {what} ({', '.join(suffixes)})")

    def _read_classes(self, suffixes: Sequence[str], what: str, classes: Sequence[str] | None) -> None:
        found = find_classes(self.root)
        if not found:
            raise DataError(
                f"{self.root} has no folder for each class: sort the {what} into folders, or read them with labels=False"
            )
        chosen = found if classes is None else list(classes)
        for name in chosen:
            if name not in found:
                raise ConfigError(f"{self.root} has no folder for the class {name!r:.80}{suggest_name(name, found)}")
        self.classes, self.labels = chosen, []
        self._linked = frozenset(name for name in chosen if (self.root / name).is_symlink())
        for number, name in enumerate(chosen):
            files = [f"{name}/{path}" for path in list_files(self.root / name, suffixes)]
            self.paths += files
            self.labels += [number] * len(files)

    def renumber(self, classes: Sequence[str]) -> None:
        """Number the classes in the order of ``classes``, which has all of them."""
        if self.labels is not None and self.classes is not None:
            numbers = [classes.index(name) for name in self.classes]
            self.labels, self.classes = [numbers[label] for label in self.labels], list(classes)

    @classmethod
    def of_paths(cls, root: Path, paths: Sequence[str], labels: Sequence[int], classes: Sequence[str]) -> FileList:
        """Files that are listed elsewhere, relative to a folder, with the class number of each."""
        files = cls.__new__(cls)
        files.root, files.paths, files.labels, files.classes = root, list(paths), list(labels), list(classes)
        return files

    def path(self, index: int, *, follow_links: bool) -> Path:
        """The path of a file. Raises DataError for a link that leads out of the folder."""
        return Path(self.location(index, follow_links=follow_links))

    def location(self, index: int, *, follow_links: bool) -> str:
        """The path of a file as a text, which costs a picture a twentieth less of its time than a Path. Raises as `path`."""
        name = self.paths[index]
        location = os.path.join(self.root, name)
        linked = not follow_links and (os.path.islink(location) or name.partition("/")[0] in self._linked)
        if linked and not Path(location).resolve().is_relative_to(self.root.resolve()):
            raise DataError(f"{name} is a link out of the folder: read it with follow_links=True")
        return location
