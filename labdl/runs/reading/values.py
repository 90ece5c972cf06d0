"""Validation of plain values from untrusted JSON: each function returns None for a value of the wrong type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

LARGEST = 2**53  # integers that a double holds
MAX_TEXT = 20_000  # characters of a text that a training logs


def number(value: Any) -> float | None:
    """A finite number."""
    if type(value) is bool or not isinstance(value, int | float):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def count(value: Any) -> int | None:
    """An integer, 0 or more."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= LARGEST and found == int(found) else None


def text(value: Any, limit: int = 1000) -> str | None:
    """A string, truncated to ``limit`` characters. Halves of surrogate pairs, which no file can hold, are replaced."""
    return value[:limit].encode("utf-8", "replace").decode() if isinstance(value, str) else None


def texts(value: Any, limit: int = 1000) -> list[str]:
    """The strings of a list; an empty list for anything else."""
    items = value[:limit] if isinstance(value, list | tuple) else ()
    return [found for item in items if (found := text(item)) is not None]


def mapping(value: Any) -> dict[str, Any]:
    """A dict; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def column(values: Any) -> np.ndarray | None:
    """A float64 array of shape (n,), NaN where a number is not finite."""
    if not isinstance(values, list | np.ndarray | Sequence) or isinstance(values, str | bytes):
        return None
    try:
        found = np.asarray(values, "float64")
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found.ndim == 1 else None


def step_column(values: Any) -> np.ndarray | None:
    """An int64 array of steps, not empty."""
    found = column(values)
    if found is None or not len(found) or not np.all((found >= 0) & (found <= LARGEST)):
        return None
    return found.astype("int64")


def round_digits(value: float, digits: int) -> float:
    """``value`` to so many significant digits, unless that is more than a double holds."""
    short = float(f"{value:.{digits}g}")
    return short if math.isfinite(short) else float(value)
