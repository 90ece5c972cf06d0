"""Values of events as they ought to be: of anything else nothing is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

LARGEST = 2**53  # integers that a double holds
NOT_FIGURES = frozenset({"kind", "time", "step", "epoch", "samples_per_second"})


def number(value: Any) -> float | None:
    """A finite number, or None."""
    if type(value) is bool or not isinstance(value, int | float):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def rounded(value: float, digits: int) -> float:
    """To so many digits, unless that is more than a double holds."""
    short = float(f"{value:.{digits}g}")
    return short if math.isfinite(short) else float(value)


def whole(value: Any) -> int | None:
    """A number to count with, 0 or more, or None."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= LARGEST and found == int(found) else None


def text(value: Any, limit: int = 1000) -> str | None:
    """A text, cut at a limit, or None. Halves of surrogate pairs, which no file can hold, are replaced."""
    return value[:limit].encode("utf-8", "replace").decode() if isinstance(value, str) else None


def texts(value: Any, limit: int = 1000) -> list[str]:
    """The texts of a list, none where it is no list."""
    listed = value[:limit] if isinstance(value, list | tuple) else ()
    return [found for one in listed if (found := text(one)) is not None]


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def numbers(values: Any) -> np.ndarray | None:
    """A column, NaN where a number is not finite; None for what is no column."""
    if not isinstance(values, list | np.ndarray | Sequence) or isinstance(values, str | bytes):
        return None
    try:
        column = np.asarray(values, "float64")
    except (TypeError, ValueError, OverflowError):
        return None
    return column if column.ndim == 1 else None


def steps(values: Any) -> np.ndarray | None:
    """A column of steps, or None."""
    column = numbers(values)
    if column is None or not len(column) or not np.all((column >= 0) & (column <= LARGEST)):
        return None
    return column.astype("int64")


def figures(event: dict[str, Any]) -> dict[str, float]:
    """The figures of an epoch by their names; NaN where one is not finite."""
    found = {}
    for name, value in event.items():
        if name not in NOT_FIGURES and (value is None or (isinstance(value, int | float) and type(value) is not bool)):
            value = number(value)
            found[name] = math.nan if value is None else value
    return found
