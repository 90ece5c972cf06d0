"""The runs of a folder for pages that watch it: what has changed since they were answered last, and what people write."""

from __future__ import annotations

import dataclasses
import secrets
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from labdl.runs.folder import LiveStatus
from labdl.runs.listing.listing import Catalog
from labdl.runs.listing.summary_row import Brief
from labdl.runs.metadata import About, about, group, write_about

FOLDERS = 16  # followed at a time; one more is listed anew
GONE = 1000  # runs that are remembered as deleted
FILES, FILE_LIMIT = 32, 256 * 1024


class Followed:
    """A folder's runs, each with the number of the look in which it was found to have changed."""

    def __init__(self, folder: Path):
        self.folder, self._catalog = folder, Catalog(folder)
        self._lock = threading.Lock()  # pages ask at the same time, in threads
        self._begin()

    def _begin(self) -> None:
        self._name, self._look = secrets.token_hex(4), 0
        self._runs: dict[str, tuple[Brief, int]] = {}
        self._gone: dict[str, int] = {}
        self._group: dict[str, Any] | None = None

    def changes(self, seen: str) -> dict[str, Any]:
        with self._lock:
            self._update()
            name, _, look = seen.partition(":")
            # a token of another server, or of before it began anew, tells nothing: all is told
            after = int(look) if name == self._name and look.isdecimal() and len(look) < 19 else -1
            token = f"{self._name}:{self._look}"
            if after >= self._look:
                return {"unchanged": True, "token": token}
            return {
                "token": token,
                "whole": after < 0,
                "runs": [dataclasses.asdict(run) for run, look in self._runs.values() if look > after],
                "gone": [path for path, look in self._gone.items() if look > after >= 0],
                "group": self._group,
                "truncated": self._catalog.truncated,
            }

    def _update(self) -> None:
        """Count a look in which something was new. Runs that have not changed are the same objects."""
        found = {run.path: run for run in self._catalog.look()}
        changed = {path: run for path, run in found.items() if path not in self._runs or self._runs[path][0] is not run}
        gone = self._runs.keys() - found.keys()
        if len(self._gone) + len(gone) > GONE:
            self._begin()
            changed, gone = found, set()
        belongs = _group(self.folder)
        if changed or gone or belongs != self._group or not self._look:
            self._look += 1
        self._group = belongs
        for path in gone:
            del self._runs[path]
            self._gone[path] = self._look
        for path, run in changed.items():
            self._runs[path] = (run, self._look)
            self._gone.pop(path, None)


_followed: OrderedDict[Path, Followed] = OrderedDict()
_lock = threading.Lock()


def changes(folder: Path, seen: str) -> dict[str, Any]:
    """Changes to the runs under a folder since the answer with the token `seen`. Raises OSError."""
    with _lock:
        followed = _followed.get(folder) or Followed(folder)
        _followed[folder] = followed
        _followed.move_to_end(folder)
        while len(_followed) > FOLDERS:
            _followed.popitem(last=False)
    return followed.changes(seen)


def is_alive(folder: Path) -> bool:
    return LiveStatus(folder).alive()


def write(folder: Path, words: dict[str, Any], before: dict[str, Any] | None) -> tuple[bool, dict[str, Any]]:
    """Whether what was written is kept, and what is there now: not where it is no more what the writer saw before."""
    with _lock:  # between two pages of this server; a program elsewhere may still come between
        now = _told(about(folder))
        if before is not None and any(now[key] != before.get(key, now[key]) for key in words if words[key] != now[key]):
            return False, now
        write_about(folder, **words)
        return True, _told(about(folder))


def _told(there: About) -> dict[str, Any]:
    return {"name": there.name, "tags": list(there.tags), "note": there.note}


def _group(folder: Path) -> dict[str, Any] | None:
    """Validated content of group.json."""
    told = group(folder)
    if told is None:
        return None
    words = {
        key: told[key]
        for key in ("kind", "name", "method", "metric", "mode", "status")
        if isinstance(told.get(key), str)
    }
    trials = told.get("trials")
    return words | {"time": told["time"], "trials": trials if isinstance(trials, int) and 0 < trials < 1e6 else None}


def code(folder: Path) -> dict[str, str]:
    """Source files of a run by name, and error.txt of a failed one, truncated if it is long."""
    outside = folder.resolve()
    inside = (folder / "code").resolve()
    names = [folder / "error.txt"]
    if inside.is_dir() and inside.is_relative_to(outside):
        kept = sorted(path for path in inside.iterdir() if path.suffix == ".py" or path.name == "settings.json")
        names += kept[:FILES]
    return {path.name: text for path in names if (text := _text(path, outside)) is not None}


def _text(path: Path, inside: Path) -> str | None:
    try:
        if not path.is_file() or not path.resolve().is_relative_to(inside):
            return None
        with open(path, "rb") as file:
            data = file.read(FILE_LIMIT + 1)
    except (OSError, RuntimeError):  # it went away, may not be read, or links lead to each other
        return None
    text = data[:FILE_LIMIT].decode("utf-8", errors="replace")
    return text if len(data) <= FILE_LIMIT else f"{text}\n# … the rest is left out here"
