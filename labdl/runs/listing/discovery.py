"""Search for runs below a folder: folders with events.jsonl."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from labdl.runs.reading.event_file import EVENTS

DEPTH, FOLDERS, RUNS = 8, 10_000, 5_000  # limits of the search
PRUNED = frozenset({"node_modules", "site-packages", "__pycache__", "checkpoints", "code", "control", "venv", "env"})
_GRAIN = 2_000_000_000  # resolution of modification times, in nanoseconds


@dataclass
class _Folder:
    changed: int  # nanoseconds since 1970
    certain: bool  # a later change is certain to alter `changed`
    run: bool = False
    below: list[str] = field(default_factory=list)


class Finder:
    """Finds the runs below a folder; again, it reads only those folders that have changed.

    Folders that are hidden, of virtual environments, or inside a run are skipped, and links are not followed.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.truncation: str | None = None
        self._known: dict[str, _Folder] = {}

    def find(self) -> list[str]:
        """Relative paths of the runs, with slashes; "." is the folder itself."""
        self.truncation = None
        found: list[str] = []
        known: dict[str, _Folder] = {}
        level = ["."]
        for depth in range(DEPTH + 1):
            below: list[str] = []
            for path in level:
                seen = self._look_at(path)
                if seen is None:
                    continue
                known[path] = seen
                if seen.run:
                    found.append(path)
                else:
                    below += [name if path == "." else f"{path}/{name}" for name in seen.below]
                if len(found) >= RUNS or len(known) >= FOLDERS:
                    self._leave_out(f"more than {RUNS:,} runs or {FOLDERS:,} folders")
                    below = []
                    break
            if below and depth == DEPTH:
                self._leave_out(f"folders more than {DEPTH} deep")
            level = below
        self._known = known
        return found

    def _leave_out(self, what: str) -> None:
        self.truncation = self.truncation or f"{what} below {self.folder} are left out"

    def _look_at(self, path: str) -> _Folder | None:
        full = os.path.join(self.folder, path)
        known = self._known.get(path)
        if known is not None and known.run and _is_file(os.path.join(full, EVENTS)):
            return known
        try:
            changed = os.stat(full).st_mtime_ns
            if known is not None and known.certain and known.changed == changed and not known.run:
                return known
            return _scan(full, changed)
        except OSError:  # it was removed, or is not readable
            return None


def _scan(full: str, changed: int) -> _Folder:
    seen = _Folder(changed, time.time_ns() - changed > _GRAIN)
    with os.scandir(full) as entries:
        for entry in entries:
            name = entry.name
            if name == EVENTS and entry.is_file(follow_symlinks=False):
                seen.run = True
            elif name == "pyvenv.cfg":
                seen.below = []
                return seen
            elif name[0] != "." and name not in PRUNED and _readable(name) and entry.is_dir(follow_symlinks=False):
                seen.below.append(name)
    seen.below.sort()
    return seen


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _readable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # not a valid name in Unicode
        return False
    return True
