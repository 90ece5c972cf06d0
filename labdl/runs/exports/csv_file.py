"""A run as CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from labdl.runs.exports.table import Cells, table

if TYPE_CHECKING:
    from labdl.runs.reading.record import Record


def to_csv(record: Record, path: str | Path) -> Path:
    """Write a run as a table with a row for each step, and return its path.

    The columns are ``step``, ``time`` (seconds since 1970, to about a fifth of a second), ``epoch``, ``learning_rate``, the
    metrics of single steps by their names, and in the row of an epoch's last step its means (``epoch_loss``), the metrics of
    the validation data (``val_loss``) and ``samples_per_second``. A cell is empty where there is no value, and NaN where it was
    not finite. A dashboard's curve is ``frame.plot(x="step", y="loss")`` in pandas.
    """
    columns = table(record)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(_texts(name, cells) for name, cells in columns.items()), strict=True))
    return Path(path)


def _texts(name: str, cells: Cells) -> Iterator[str]:
    for value, there in zip(cells.values.tolist(), cells.there.tolist(), strict=True):
        yield "" if not there else "NaN" if math.isnan(value) else f"{value:.3f}" if name == "time" else repr(value)
