"""Rows of a .csv file as numbers: gaps filled or left out, texts as categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from labdl.data.csv_reader import Table
from labdl.data.preprocessing import standardize
from labdl.errors import FileFormatError

Missing = Literal["error", "drop", "mean", "median", "most_frequent"]
Encode = Literal["none", "one_hot", "ordinal"]
CHOICES = {"missing": get_args(Missing), "encode": get_args(Encode)}  # of arguments of `labdl.data.csv`
_MOST = 10_000  # numbers of a sample


@dataclass(frozen=True)
class Features:
    """Columns of a table by name: float64 with NaN, or texts with None; and the rows that are used."""

    file: str
    columns: dict[str, np.ndarray]
    rows: np.ndarray

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(name for name, values in self.columns.items() if values.dtype == object)

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(name for name, values in self.columns.items() if values.dtype != object)


def read_features(table: Table, places: Sequence[int], target: int, missing: Missing, encode: Encode) -> Features:
    """The columns at ``places``, and the rows that are kept: with ``missing="drop"`` those without a gap, also in the target.

    Raises FileFormatError for texts where there are to be numbers, and for gaps where they are an error.
    """
    columns: dict[str, np.ndarray] = {}
    rows = np.ones(len(table), bool)
    if missing == "drop":
        rows &= ~table.gaps(target)
    for at in places:
        name, gaps = table.columns[at], table.gaps(at)
        if gaps.all():
            raise FileFormatError(f"{table.name}: the column {name!r:.60} has no values: leave it out")
        if not table.is_text(at):
            columns[name] = table.numbers(at, gaps=missing != "error")
        elif encode == "none":
            table.refuse_text(at)
        elif missing == "error" and gaps.any():
            table.refuse_gap(at)
        else:
            columns[name] = np.array(table.texts[at], object)
            columns[name][gaps] = None
        if missing == "drop":
            rows &= ~gaps
    if not rows.any():
        raise FileFormatError(f"{table.name}: every line has a gap, so that missing='drop' leaves none")
    return Features(table.name, columns, np.flatnonzero(rows))


def encode_features(
    features: Features, train: np.ndarray, scale: bool, missing: Missing, encode: Encode
) -> tuple[np.ndarray, float]:
    """The used rows as float32 (rows, features), and the largest magnitude of the numbers before they were scaled.

    What fills gaps, the categories and the scale are those of the rows ``train``. Raises FileFormatError.
    """
    from labdl.data import transforms as T  # it imports this package

    columns = {name: values[features.rows] for name, values in features.columns.items()}
    if missing not in ("error", "drop"):
        for name in features.numbers:
            if np.isnan(columns[name][train]).all():
                raise FileFormatError(
                    f"{features.file}: the column {name!r:.60} has no values among the training samples: leave it out"
                )
        filled = features.numbers if missing != "most_frequent" else tuple(columns)
        columns = T.Impute(filled, strategy=missing).fit(_rows(columns, train))(columns) if filled else columns
    numbers = np.stack([columns[name] for name in features.numbers], 1) if features.numbers else None
    largest = 0.0 if numbers is None else float(np.abs(numbers).max())
    parts = [] if numbers is None else [standardize(numbers, train) if scale else numbers.astype("float32")]
    if features.categories:
        parts += _encode(columns, features, train, encode)
    if sum(part.shape[1] for part in parts) > _MOST:
        raise FileFormatError(
            f"{features.file}: the categories of {', '.join(map(repr, features.categories))!s:.80} make more than {_MOST:,} "
            "numbers of a sample: leave out columns of texts that differ, or encode='ordinal'"
        )
    return np.concatenate(parts, 1), largest


def _encode(columns: dict[str, np.ndarray], features: Features, train: np.ndarray, encode: Encode) -> list[np.ndarray]:
    from labdl.data import transforms as T  # it imports this package

    if encode == "one_hot":
        indicators = T.OneHotEncode(features.categories, handle_unknown="ignore").fit(_rows(columns, train))(columns)
        return [indicators[name] for name in features.categories]
    coder = T.OrdinalEncode(features.categories, handle_unknown="use_encoded_value").fit(_rows(columns, train))
    codes = coder(columns)
    return [
        np.where(codes[name] < 0, codes[name][train].max() + 1, codes[name]).astype("float32")[:, None]
        for name in features.categories
    ]


def _rows(columns: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: values[rows] for name, values in columns.items()}
