"""Runs of a folder for pages: changes since their last request, and edits of names, tags and notes."""

from __future__ import annotations

import dataclasses
import secrets
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import orjson

from labdl.runs.folder import LiveStatus
from labdl.runs.listing.listing import Catalog
from labdl.runs.listing.summary_row import Brief
from labdl.runs.metadata import About, about, group, write_about

FOLDERS = 16  # folders with cached listings
CHOICES, CHOICE_BYTES = 200, 4000  # of one setting of a sweep
GONE = 1000  # deleted runs that are remembered
FILES, FILE_LIMIT = 32, 256 * 1024


class FolderListing:
    """The runs of a folder, each with the number of the update in which it last changed."""

    def __init__(self, folder: Path):
        self.folder, self._catalog = folder, Catalog(folder)
        self._lock = threading.Lock()  # requests run concurrently, in threads
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
            # an unknown token, of another server or from before a restart: send everything
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
                "truncated": self._catalog.truncation,
            }

    def _update(self) -> None:
        """Read the folder and count updates with changes. Unchanged runs are the same objects."""
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


_listings: OrderedDict[Path, FolderListing] = OrderedDict()
_lock = threading.Lock()


def changes(folder: Path, seen: str) -> dict[str, Any]:
    """Changes to the runs under a folder since the answer with the token `seen`. Raises OSError."""
    with _lock:
        followed = _listings.get(folder) or FolderListing(folder)
        _listings[folder] = followed
        _listings.move_to_end(folder)
        while len(_listings) > FOLDERS:
            _listings.popitem(last=False)
    return followed.changes(seen)


def is_alive(folder: Path) -> bool:
    return LiveStatus(folder).alive()


def write(folder: Path, words: dict[str, Any], before: dict[str, Any] | None) -> tuple[bool, dict[str, Any]]:
    """Write name, tags or note unless they differ from ``before``; returns whether they were written, and the current ones."""
    with _lock:  # excludes other pages of this server, not other programs
        now = _about_fields(about(folder))
        if before is not None and any(now[key] != before.get(key, now[key]) for key in words if words[key] != now[key]):
            return False, now
        write_about(folder, **words)
        return True, _about_fields(about(folder))


def _about_fields(there: About) -> dict[str, Any]:
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
    planned = trials if isinstance(trials, int) and 0 < trials < 1e6 else None
    return words | {"time": told["time"], "trials": planned, "choices": _choices(told.get("space"))}


def _choices(space: Any) -> dict[str, list[Any]]:
    """The settings in the space of a sweep that have a list of choices, those with few and small ones."""
    named = list(space.items())[:CHOICES] if isinstance(space, dict) else ()
    return {name: values for name, values in named if isinstance(values, list) and _is_small(values)}


def _is_small(values: list[Any]) -> bool:
    try:
        return len(values) <= CHOICES and len(orjson.dumps(values)) <= CHOICE_BYTES
    except orjson.JSONEncodeError:  # nested too deeply
        return False


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
    except (OSError, RuntimeError):  # removed, not readable, or a cycle of links
        return None
    text = data[:FILE_LIMIT].decode("utf-8", errors="replace")
    return text if len(data) <= FILE_LIMIT else f"{text}\n# … truncated"
