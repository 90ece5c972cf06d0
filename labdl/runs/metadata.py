"""about.json and group.json: the name, tags and note of a run, and groups of runs (docs/runs.md)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from labdl.errors import ConfigError
from labdl.runs.reading import values

ABOUT, GROUP = "about.json", "group.json"
NAME, TAG, TAGS, NOTE = 200, 50, 50, 20_000  # maximum lengths, and number of tags
_BYTES = 256 * 1024


@dataclass(frozen=True)
class About:
    """Name, tags and note that people gave a run; empty by default."""

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""


def about(folder: str | Path) -> About:
    """Name, tags and note of a run; those of a missing or broken file are empty."""
    told = _read(Path(folder) / ABOUT)
    tags = dict.fromkeys(tag[:TAG] for tag in values.texts(told.get("tags"), TAGS))
    return About(values.text(told.get("name"), NAME) or "", tuple(tags), values.text(told.get("note"), NOTE) or "")


def check_name(name: str) -> str:
    """The name of a run on one line. Raises ConfigError for one that is too long, or that is no text."""
    return _line("name", name, NAME)


def write_about(
    folder: str | Path, *, name: str | None = None, tags: Sequence[str] | None = None, note: str | None = None
) -> About:
    """Change the name, tags or note of a run. Raises ConfigError for values that are too long, and OSError."""
    folder, now = Path(folder), about(folder)
    new = About(
        now.name if name is None else check_name(name),
        now.tags if tags is None else _tags(tags),
        now.note if note is None else _text("note", note, NOTE),
    )
    there = _read(folder / ABOUT)  # with keys of later versions
    written = orjson.dumps(
        {**there, "version": 1, "name": new.name, "tags": list(new.tags), "note": new.note}, option=orjson.OPT_INDENT_2
    )
    beside = folder / f".{ABOUT}-{secrets.token_hex(4)}"
    try:
        beside.write_bytes(written)
        os.replace(beside, folder / ABOUT)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return new


def group(folder: str | Path) -> dict[str, Any] | None:
    """Contents of group.json: ``kind``, ``name``, ``time``, and the search space of a sweep; None where there is no group."""
    told = _read(Path(folder) / GROUP)
    if told.get("kind") not in ("race", "sweep"):
        return None
    name = values.text(told.get("name"), NAME) or Path(folder).name
    return {**told, "name": name, "time": values.number(told.get("time"))}


def is_sweep(folder: Path) -> bool:
    """Check for the folder of a sweep, which takes commands itself."""
    told = group(folder)
    return told is not None and told["kind"] == "sweep"


def _read(path: Path) -> dict[str, Any]:
    """The object in a small file of JSON, an empty one where there is none."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _BYTES:
            return {}
        return values.mapping(orjson.loads(path.read_bytes()))
    except (OSError, ValueError):
        return {}


def _tags(tags: Any) -> tuple[str, ...]:
    if isinstance(tags, str) or not isinstance(tags, Sequence) or len(tags) > TAGS:
        raise ConfigError(f"tags wants a list of at most {TAGS} texts, received {tags!r:.80}")
    return tuple(dict.fromkeys(tag for one in tags if (tag := _line("a tag", one, TAG))))


def _line(what: str, value: Any, limit: int) -> str:
    return " ".join(_text(what, value, limit).split())


def _text(what: str, value: Any, limit: int) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{what} wants a text, received {value!r:.80}")
    if len(value) > limit:
        raise ConfigError(f"{what} wants at most {limit:,} characters, received {len(value):,}")
    return value.encode("utf-8", "replace").decode()
