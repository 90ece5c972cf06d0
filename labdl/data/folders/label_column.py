"""Columns of tables of samples by name, and a column of labels as class numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.errors import ConfigError, FileFormatError, suggest_name

LABELS = ("label", "class", "target")  # usual names of a column of labels


def find_column(argument: str, name: str | None, known: Sequence[str], usual: Sequence[str], file: str) -> str | None:
    """A column by its name, or the first of some usual names. Raises ConfigError that lists the columns."""
    if name is None:
        return next((column for column in usual if column in known), None)
    if name not in known:
        raise ConfigError(
            f"{file} has the columns {join_names(known)}, received {argument}={name!r:.60}{suggest_name(name, known)}"
        )
    return name


def join_names(known: Sequence[str]) -> str:
    """Names for a message: the first 20."""
    return ", ".join(f"{name:.60}" for name in known[:20]) + (" …" if len(known) > 20 else "")


def read_labels(
    values: Sequence[Any], classes: Sequence[str] | None, column: str, file: str
) -> tuple[list[str] | None, list[Any]]:
    """Names of the classes, None for numbers, and the label of each row.

    Texts are numbered in the order of ``classes``, or of the alphabet; whole numbers become int, others float32.
    Raises FileFormatError for a row without a label, and ConfigError for one that is not in ``classes``.
    """
    missing = next((at for at, v in enumerate(values) if v is None or v == ""), None)
    if missing is not None:
        raise FileFormatError(f"{file}: the row {missing + 1:,} has no value in the column {column!r:.60}")
    if classes is None:
        numbers = [_number(v) for v in values]
        if all(n is not None for n in numbers):
            whole = all(n == int(n) for n in numbers if n is not None)
            return None, [int(n) if whole else np.float32(n) for n in numbers if n is not None]
    if not all(isinstance(v, str | int | bool) for v in values):
        raise FileFormatError(f"{file}: the column {column!r:.60} wants a text or a number in each row")
    texts = [str(v).strip() for v in values]
    names = sorted(set(texts)) if classes is None else list(classes)
    places = {name: number for number, name in enumerate(names)}
    unknown = next((text for text in texts if text not in places), None)
    if unknown is not None:
        raise ConfigError(
            f"{file} has the label {unknown!r:.60}, none of classes={names[:10]}{suggest_name(unknown, names)}"
        )
    return names, [places[text] for text in texts]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and "_" not in str(value) else None
