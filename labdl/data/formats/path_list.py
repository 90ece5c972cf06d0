"""The files of a data set: one path, or a list of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path

from labdl.errors import ConfigError

Paths = str | Path | Iterable[str | Path]


def list_paths(paths: Paths) -> list[Path]:
    """The paths as a list. Raises ConfigError if there is none."""
    found = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not found:
        raise ConfigError("a data set wants a file or several, received an empty list")
    return found


class Places:
    """Where samples are in several files: ``starts`` are the numbers of the first sample of each, and the total."""

    def __init__(self, counts: Iterable[int]):
        self.starts = [0]
        for count in counts:
            self.starts.append(self.starts[-1] + count)

    def __len__(self) -> int:
        return self.starts[-1]

    def find(self, index: int) -> tuple[int, int]:
        """The file of a sample, and its number there."""
        file = bisect_right(self.starts, index) - 1
        return file, index - self.starts[file]
