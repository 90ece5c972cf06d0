"""Nested plain data as JSON text and an arrays' dictionary, and back: nothing that is read can be more than data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.errors import FileFormatError, ModelError

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DEPTH = 50  # deeper than any state is: a hostile file


def encode(value: Any) -> tuple[str, dict[str, np.ndarray]]:
    """JSON text that every reader understands, and the arrays that it names by their places.

    Takes dictionaries with texts as keys, lists, tuples, texts, numbers, None, NumPy's arrays and scalars; raises ModelError
    that says where something else stands.
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
            found = [plain(v, f"{place}/{i}".lstrip("/")) for i, v in enumerate(value)]
            return {"$tuple": found} if isinstance(value, tuple) else found
        raise ModelError(
            f"{place} holds a {type(value).__name__}, which cannot be saved: numbers, texts, arrays, and lists "
            "and dictionaries of them can"
        )

    return json.dumps(plain(value, ""), indent=1, allow_nan=False), arrays


def decode(text: str | bytes, arrays: Mapping[str, np.ndarray] | None, name: str = "the file") -> Any:
    """Decode a value; without ``arrays`` they are None. Raises FileFormatError for invalid data."""

    def full(value, depth: int = 0):
        if depth > _DEPTH:
            raise FileFormatError(f"{name} is nested deeper than any state")
        if isinstance(value, list):
            return [full(v, depth + 1) for v in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1 and next(iter(value)).startswith("$"):
            ((kind, inner),) = value.items()
            if kind == "$number" and isinstance(inner, str) and inner in _SPECIAL:
                return _SPECIAL[inner]
            if kind == "$tuple" and isinstance(inner, list):
                return tuple(full(v, depth + 1) for v in inner)
            if kind in ("$array", "$scalar") and arrays is None:
                return None
            if kind in ("$array", "$scalar") and isinstance(inner, str) and arrays and inner in arrays:
                return arrays[inner] if kind == "$array" else arrays[inner][()]
            raise FileFormatError(f"{name} names {kind} {inner!r:.50}, which is not there")
        return {key: full(v, depth + 1) for key, v in value.items()}

    try:
        return full(json.loads(text))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{name} is not readable as JSON: {error}") from error
