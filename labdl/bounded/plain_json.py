"""JSON from elsewhere, with as many lists, levels and digits as a program can handle."""

from __future__ import annotations

import json
from typing import Any

_CONTAINERS = 1_000_000  # lists and objects, each of which takes thirty times its bytes in memory
_DIGITS = 1000  # of an integer; Python refuses to write integers of more than 4,300
DEPTH = 128  # levels of lists and objects


def loads(data: bytes | str) -> Any:
    """Decode JSON. Raises ValueError for what is not JSON, or too deep or too large."""
    openings = (b"[", b"{") if isinstance(data, bytes) else ("[", "{")
    if sum(data.count(opening) for opening in openings) > _CONTAINERS:  # type: ignore[arg-type]
        raise ValueError(f"it has more than {_CONTAINERS:,} lists and objects")
    try:
        value = json.loads(data, parse_int=_integer)
    except RecursionError:
        value = None
    else:
        if not depth_over(value, DEPTH):
            return value
    raise ValueError(f"it is nested more than {DEPTH} deep")


def depth_over(content: Any, limit: int) -> bool:
    """True when plain data is nested deeper than ``limit``, which recursive functions could not handle."""
    level = [content]
    for _ in range(limit):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list | tuple)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"it has an integer of {len(digits):,} digits")
    return int(digits)
