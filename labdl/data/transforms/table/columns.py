"""Columns of tables: rows, arrays and whole tables as what a transform is fitted to and changes."""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from labdl.data.parts import Part
from labdl.data.transforms.sample_parts import replace, select
from labdl.data.transforms.transform import Transform
from labdl.errors import ConfigError, DataError, suggest_name

Column = str | int
_TARGETS = ("label", "target")
Kind = Literal["number", "category", "date"]


def is_missing(value: Any) -> bool:
    """True for None, NaN, NaT and empty texts."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def kind_of(value: Any) -> Kind | None:
    """Kind of a value of a column; None for what is no column, such as a picture."""
    if isinstance(value, np.ndarray):
        return {"U": "category", "S": "category", "O": "category", "M": "date"}.get(
            value.dtype.kind, "number" if value.dtype.kind in "biuf" and type(value) is np.ndarray else None
        )  # type: ignore[return-value]
    if isinstance(value, str):
        return "category"
    if isinstance(value, datetime.date | np.datetime64):
        return "date"
    return "number" if isinstance(value, bool | int | float | np.number) else None


@dataclasses.dataclass(repr=False)
class ColumnTransform(Transform):
    """Fields and methods of the transforms of tables; `fit` reads the training part only.

    A sample is a row, which is a dictionary of columns or an array (columns,), a tuple with a row first, or a dictionary
    with the row as its part ``key``. Arrays in place of single values, (rows,) or (rows, columns), are changed at once.
    ``columns`` are names, or positions in arrays; None takes all columns of the kind when it is fitted, but for "label" and
    "target".
    """

    kind: ClassVar[Kind] = "number"
    on_columns: ClassVar[bool] = True  # a whole table may be changed at once

    columns: tuple[Column, ...] | None = None
    key: str | None = None

    def check_settings(self) -> None:
        if self.columns is not None and len(set(self.columns)) != len(self.columns):
            raise ConfigError(f"{type(self).__name__} wants each column once, received {self.columns}")
        self._state: dict[str, Any] = {}

    # -- what it is fitted to

    def fit(self, rows: Any) -> Self:
        """Fit to rows, a dictionary of columns, an array (rows, columns) or a DataFrame; returns the transform."""
        table = self._read(rows)
        self.load_state_dict(
            {"columns": list(table), "values": [self.fit_column(values, name) for name, values in table.items()]}
        )
        return self

    @property
    def is_fitted(self) -> bool:
        """Whether the transform knows what it changes columns by."""
        return bool(self._state)

    def fit_column(self, values: list[Any], name: Column) -> Any:
        """Plain values that a column is changed by."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Plain values that files hold: the columns, and for each of them what it is changed by."""
        return self._state

    def load_state_dict(self, state: Any) -> None:
        """Restore the values of `state_dict`. Raises ConfigError for a state of another shape."""
        if not isinstance(state, Mapping) or not all(
            isinstance(state.get(name), list) for name in ("columns", "values")
        ):
            raise ConfigError(
                f'{type(self).__name__} wants a state with "columns" and "values", received {state!r:.80}'
            )
        if len(state["columns"]) != len(state["values"]):
            raise ConfigError(f"{type(self).__name__} wants a state of as many values as columns")
        try:
            self._fitted = dict(zip(state["columns"], map(self.prepare, state["values"]), strict=True))
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise ConfigError(f"{type(self).__name__} cannot use its state: {error!r:.200}") from None
        self._state = {"columns": list(state["columns"]), "values": list(state["values"])}

    def prepare(self, values: Any) -> Any:
        """The plain values of a column as `change_column` takes them."""
        return values

    def _read(self, rows: Any) -> dict[Column, list[Any]]:
        name = type(self).__name__
        if hasattr(rows, "to_columns"):  # data.Table, whose texts are no categories
            texts = {column for column, kind in getattr(rows, "kinds", {}).items() if kind == "text"}
            found = rows.to_columns()
            rows = {c: values for c, values in found.items() if c not in texts or c in (self.columns or ())}
        if hasattr(rows, "columns") and hasattr(rows, "to_dict"):  # a DataFrame
            rows = {column: rows[column].tolist() for column in rows.columns}
        if isinstance(rows, Mapping):
            table: dict[Column, list[Any]] = {column: list(values) for column, values in rows.items()}
        elif isinstance(rows, np.ndarray) and rows.ndim == 2:
            table = {at: rows[:, at].tolist() for at in range(rows.shape[1])}
        else:
            table = self._gather(rows)
        if self.columns is None:
            table = {
                column: values for column, values in table.items() if column not in _TARGETS and self._fits(values)
            }
            if not table:
                raise DataError(f"{name} wants rows with a column of the kind {self.kind}, received none")
        for column in self.columns or ():
            if column not in table:
                raise DataError(f"{name}: {self._no_column(column, table)}")
        chosen = {column: table[column] for column in self.columns or table}
        for column, values in chosen.items():
            if not values or all(is_missing(value) for value in values):
                raise DataError(f"{name}: the column {column!r} has no values in the training part")
        return chosen

    def _gather(self, rows: Iterable[Any]) -> dict[Column, list[Any]]:
        table: dict[Column, list[Any]] = {}
        for count, sample in enumerate(rows):
            row = self._row(sample)
            values: Mapping[Any, Any] = row if isinstance(row, Mapping) else dict(enumerate(row.tolist()))
            if count == 0:
                table = {column: [] for column in values}
            for column, found in table.items():
                if column not in values:
                    raise DataError(f"{type(self).__name__}: row {count} has no column {column!r}")
                found.append(values[column])
        return table

    def _fits(self, values: list[Any]) -> bool:
        kinds = {kind_of(value) for value in values[:1000] if not is_missing(value)}
        return kinds == {self.kind}

    # -- what it changes

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if not self._state:
            raise ConfigError(f"{type(self).__name__} has to be fitted to the training part first: write fit(rows)")
        row = self._row(sample)
        result = self._change_array(row) if isinstance(row, np.ndarray) else self._change_row(row)
        if self.key is None and isinstance(sample, dict):
            return result
        return replace(sample, self.key, result)

    def _row(self, sample: Any) -> Any:
        row = sample if self.key is None and isinstance(sample, dict) else select(self, sample, self.key)
        if isinstance(row, Part):
            row = row.array
        if isinstance(row, Mapping) or (isinstance(row, np.ndarray) and row.ndim in (1, 2)):
            return row
        raise DataError(f"{type(self).__name__} wants a row, a dictionary or an array (columns,), received {row!r:.80}")

    def _change_row(self, row: Mapping[Any, Any]) -> dict[Any, Any]:
        result = dict(row)
        for column, fitted in self._fitted.items():
            if column not in row:
                raise DataError(f"{type(self).__name__}: {self._no_column(column, row)}")
            value = row[column]
            if isinstance(value, np.ndarray):
                if value.ndim != 1:
                    raise DataError(
                        f"{type(self).__name__}: {column!r} wants one value a row, received the shape {value.shape}"
                    )
                result[column] = self.change_column(value, fitted, column)
            else:
                result[column] = self.change_column([value], fitted, column)[0]
        return result

    def _change_array(self, rows: np.ndarray) -> np.ndarray:
        table = rows[None] if rows.ndim == 1 else rows
        parts: list[np.ndarray] = []
        for at in range(table.shape[1]):
            values = table[:, at]
            changed = self.change_column(values, self._fitted[at], at) if at in self._fitted else values
            parts.append(changed[:, None] if changed.ndim == 1 else changed)
        missing = [column for column in self._fitted if not isinstance(column, int) or column >= table.shape[1]]
        if missing:
            raise DataError(
                f"{type(self).__name__}: {self._no_column(missing[0], dict.fromkeys(range(table.shape[1])))}"
            )
        joined = np.concatenate(parts, 1)
        return joined[0] if rows.ndim == 1 else joined

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        """The values (rows,) of a column, changed: (rows,) or (rows, numbers)."""
        raise NotImplementedError

    def numbers(self, values: Any, name: Column) -> np.ndarray:
        """Values of a column as float64, NaN where they are missing. Raises DataError for what is no number."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            return values.astype("float64")
        try:
            return np.array([math.nan if is_missing(value) else float(value) for value in values])
        except (TypeError, ValueError):
            wrong = next(value for value in values if not is_missing(value) and kind_of(value) != "number")
            raise DataError(
                f"{type(self).__name__}: the column {name!r} wants numbers, received {wrong!r:.80}"
            ) from None

    def _no_column(self, column: Column, table: Mapping[Any, Any]) -> str:
        listed = ", ".join(map(str, list(table)[:20]))
        hint = suggest_name(column, [str(name) for name in table]) if isinstance(column, str) else ""
        return f"there is no column {column!r}, the columns are {listed}{hint}"
