"""A run as one table: a row for each step; the metrics of an epoch are in the row of its last step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labdl.runs.schema import metric_name

if TYPE_CHECKING:
    from labdl.runs.reading.record import Record


_OWN = ("step", "time", "epoch", "samples_per_second")


@dataclass(frozen=True)
class Cells:
    """A column and the mask of its non-empty rows; NaN in one of them is a number that was not finite."""

    values: np.ndarray
    there: np.ndarray


def table(record: Record) -> dict[str, Cells]:
    """The columns by their names: ``step``, ``time``, ``epoch``, ``learning_rate``, metrics of steps, and of epochs.

    Means over an epoch are in the row of its last step, with the prefix ``epoch_`` where single steps have a metric of that
    name too.
    """
    steps, epochs = record.steps, record.epochs
    ends = np.array([row["step"] for row in epochs], "int64")
    rows = np.union1d(steps["step"], ends)
    of_steps, of_epochs = np.searchsorted(rows, steps["step"]), np.searchsorted(rows, ends)
    found = {"step": Cells(rows, np.ones(len(rows), bool))}

    def add(name: str, places: np.ndarray, values: np.ndarray, there: np.ndarray | None = None) -> None:
        cells = found.setdefault(name, Cells(np.full(len(rows), np.nan), np.zeros(len(rows), bool)))
        cells.values[places], cells.there[places] = values, True if there is None else there

    add("time", of_epochs, np.array([row["time"] for row in epochs], "float64"))
    add("time", of_steps, record.times)
    numbers = np.array([row["epoch"] for row in epochs] + [epochs[-1]["epoch"] + 1 if epochs else 1], "int64")
    found["epoch"] = Cells(numbers[np.searchsorted(ends, rows)], np.ones(len(rows), bool))
    if len(record.rates["step"]):
        before = np.searchsorted(record.rates["step"], rows) - 1  # a rate applies to the steps after its own
        add("learning_rate", np.nonzero(before >= 0)[0], record.rates["value"][before[before >= 0]])
    for name, values in steps.items():
        if name != "step":
            column = _column(name)
            add(f"step_{column}" if column in found else column, of_steps, values)
    for name in dict.fromkeys(name for row in epochs for name in row):
        if name in ("epoch", "step", "time"):
            continue
        values = [row.get(name) for row in epochs]
        there = np.array([name in row and (value is not None) for row, value in zip(epochs, values, strict=True)], bool)
        column = _column(name)
        add(f"epoch_{column}" if column in found else column, of_epochs, np.array(values, "float64"), there)
    return found


def _column(key: str) -> str:
    """The name of a metric for its key in events, unless the table has a column of its own of that name."""
    name = metric_name(key)
    return key if name.lstrip("@") in _OWN else name
