"""Runs that belong together: what each of them tells of it, and the file in the folder that holds them (docs/runs.md)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import orjson

from labdl.errors import ConfigError
from labdl.runs.metadata import GROUP, group
from labdl.saving.atomic_write import replace_files
from labdl.train.race import serialization

_LONGEST = 200  # characters of a value that no JSON can hold


def membership(group: Any, params: Any) -> dict[str, Any]:
    """Group and trial parameters of a run, for its start event. Raises ConfigError."""
    if group is not None and (not isinstance(group, str) or not group):
        raise ConfigError(f"group wants a name, received {group!r}")
    if params is not None and (not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params)):
        raise ConfigError(f"params wants values by name, received {params!r}")
    return {
        **({} if group is None else {"group": group}),
        **({} if params is None else {"params": {name: told(value) for name, value in params.items()}}),
    }


def told(value: Any) -> Any:
    """A value as JSON has it: that of an object is what it prints as."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():  # a number of NumPy
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
    """Say that the runs in the folder belong together. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, {"version": 1, "kind": kind, "name": folder.name, "time": time.time(), **values})


def end_group(folder: Path, status: str) -> None:
    """Say how it came to its end. Raises OSError."""
    if there := group(folder):
        _write(folder, {**there, "status": status})


def _write(folder: Path, content: dict[str, Any]) -> None:
    with replace_files(folder / GROUP) as (file,):
        file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2))
