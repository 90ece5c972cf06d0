"""Serialization of nested plain data as JSON and a dictionary of arrays; reading never executes code."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.bounded.plain_json import loads
from labdl.errors import FileFormatError, ModelError

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DEPTH = 50  # largest nesting depth, which protects against malicious files


def encode(value: Any) -> tuple[str, dict[str, np.ndarray]]:
    """Encode a value as standard JSON and a dictionary of arrays, which the JSON refers to by their paths.

    Accepts dictionaries with strings as keys, lists, tuples, strings, numbers, None, and NumPy's arrays and scalars. Raises
    ModelError with the path of any other value.
    """
    arrays: dict[str, np.ndarray] = {}

    def plain(value, place: str):
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcU":
            while place in arrays:  # keys may hold slashes
                place += "'"
            arrays[place] = np.asarray(value)
            return {"$array" if isinstance(value, np.ndarray) else "$scalar": place}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$number": repr(value)}
        if isinstance(value, dict) and all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: plain(v, f"{place}/{key}".lstrip("/")) for key, v in value.items()}
        if isinstance(value, list | tuple):
            items = [plain(v, f"{place}/{i}".lstrip("/")) for i, v in enumerate(value)]
            return {"$tuple": items} if isinstance(value, tuple) else items
        raise ModelError(
            f"{place} holds a {type(value).__name__}, which cannot be saved: only numbers, strings, arrays, "
            "and lists and dictionaries of them can"
        )

    return json.dumps(plain(value, ""), indent=1, allow_nan=False), arrays


def decode(text: str | bytes, arrays: Mapping[str, np.ndarray] | None, name: str = "the file") -> Any:
    """Decode a value; without ``arrays``, arrays are None. Raises FileFormatError for invalid data."""

    def restore(value, depth: int = 0):
        if depth > _DEPTH:
            raise FileFormatError(f"{name} is nested too deeply")
        if isinstance(value, list):
            return [restore(v, depth + 1) for v in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1 and next(iter(value)).startswith("$"):
            ((kind, inner),) = value.items()
            if kind == "$number" and isinstance(inner, str) and inner in _SPECIAL:
                return _SPECIAL[inner]
            if kind == "$tuple" and isinstance(inner, list):
                return tuple(restore(v, depth + 1) for v in inner)
            if kind in ("$array", "$scalar") and arrays is None:
                return None
            if kind in ("$array", "$scalar") and isinstance(inner, str) and arrays and inner in arrays:
                return arrays[inner] if kind == "$array" else arrays[inner][()]
            raise FileFormatError(f"{name} refers to {kind} {inner!r:.50}, which does not exist")
        return {key: restore(v, depth + 1) for key, v in value.items()}

    try:
        return restore(loads(text))
    except ValueError as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{name} is not readable as JSON: {error}") from error
