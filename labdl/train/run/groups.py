"""Groups of runs: the fields of their start events, and the file group.json (docs/runs.md)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import orjson

from labdl.bounded.atomic_write import replace_files
from labdl.errors import ConfigError
from labdl.runs.metadata import GROUP, group
from labdl.train.race import serialization

_LONGEST = 200  # characters of the repr of a value that is not JSON


def membership(group: Any, params: Any) -> dict[str, Any]:
    """Fields of the start event of a run in a group: its group and hyperparameters. Raises ConfigError."""
    if group is not None and (not isinstance(group, str) or not group):
        raise ConfigError(f"group wants a name, received {group!r}")
    if params is not None and (not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params)):
        raise ConfigError(f"params wants values by name, received {params!r}")
    return {
        **({} if group is None else {"group": group}),
        **({} if params is None else {"params": {name: to_json(value) for name, value in params.items()}}),
    }


def to_json(value: Any) -> Any:
    """Convert a value to JSON; other objects become their name or repr."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():  # a NumPy scalar
        value = item()
    try:
        plain = serialization.plain(value, "params")
        if not isinstance(plain, float) or math.isfinite(plain):
            orjson.dumps(plain)
            return plain
    except (ConfigError, TypeError):  # a class, a function, an integer of more than 64 bits
        pass
    return getattr(value, "__name__", None) or repr(value)[:_LONGEST]


def write_group(folder: Path, kind: Literal["race", "sweep"], **values: Any) -> None:
    """Write group.json for the runs in the folder. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, {"version": 1, "kind": kind, "name": folder.name, "time": time.time(), **values})


def end_group(folder: Path, status: str) -> None:
    """Write the final status of a group to group.json. Raises OSError."""
    if content := group(folder):
        _write(folder, {**content, "status": status})


def _write(folder: Path, content: dict[str, Any]) -> None:
    with replace_files(folder / GROUP) as (file,):
        file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2))
