"""The label of a table: class numbers with names, or numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labdl.data.tables.column import Column, Kind
from labdl.errors import ConfigError, suggest_name

_CLASSES = 20  # a label of whole numbers with at most so many different ones is a class


def read_label_column(
    column: Column, name: str, kind: Kind | None, classes: Sequence[str] | None, table: str
) -> tuple[list[str] | None, np.ndarray]:
    """Names of the classes, None for numbers, and the labels: int64, or float32."""
    values = column.values
    if column.kind == "date":
        raise ConfigError(f"{table}: the label {name!r:.60} has dates: a label is a number or a category")
    whole = column.kind == "number" and values.dtype.kind == "i"
    if (
        column.kind == "number"
        and classes is None
        and (kind == "number" or not whole or len(np.unique(values)) > _CLASSES)
    ):
        return None, values.astype("float32")
    texts = [str(value) for value in values]
    names = (
        list(classes) if classes is not None else [str(v) for v in np.unique(values)] if whole else sorted(set(texts))
    )
    places = {known: number for number, known in enumerate(names)}
    unknown = next((text for text in texts if text not in places), None)
    if unknown is not None:
        raise ConfigError(
            f"{table} has the label {unknown!r:.60}, none of classes={names[:10]}{suggest_name(unknown, names)}"
        )
    return names, np.array([places[text] for text in texts], "int64")


def known_rows(column: Column) -> np.ndarray:
    """True for the rows that have a value."""
    values = column.values
    return np.array([v is not None for v in values]) if values.dtype.kind == "O" else values == values
