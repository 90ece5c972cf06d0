"""Columns of dates as numbers."""

from __future__ import annotations

import datetime
import math
from typing import Any, ClassVar, Literal

import numpy as np

from labdl.data.transforms.table.columns import Column, ColumnTransform, Kind, is_missing
from labdl.data.transforms.transform import transform
from labdl.errors import ConfigError, DataError

Name = Literal[
    "year", "quarter", "month", "day", "dayofyear", "weekday", "is_weekend", "hour", "minute", "second", "timestamp"
]
_PARTS = {
    "year": lambda date: date.year,
    "quarter": lambda date: (date.month - 1) // 3 + 1,
    "month": lambda date: date.month,
    "day": lambda date: date.day,
    "dayofyear": lambda date: date.timetuple().tm_yday,
    "weekday": lambda date: date.weekday(),
    "is_weekend": lambda date: date.weekday() >= 5,
    "hour": lambda date: date.hour,
    "minute": lambda date: date.minute,
    "second": lambda date: date.second,
}
# first value and number of values of what comes round again
_CYCLES = {
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "dayofyear": (1, 366),
    "weekday": (0, 7),
    "hour": (0, 24),
    "minute": (0, 60),
    "second": (0, 60),
}


@transform
class DateParts(ColumnTransform):
    """Replace a date by numbers, an array of year, month, day, weekday (Monday is 0) or others; float32.

    Dates are texts of ISO 8601 or of ``format`` as in ``strptime``, datetime objects, or numpy.datetime64; missing ones
    become NaN. ``cyclic`` gives two numbers, sine and cosine, for each part that comes round again, so that December is near
    January. Source: pandas.Series.dt.
    """

    kind: ClassVar[Kind] = "date"

    parts: tuple[Name, ...] = ("year", "month", "day", "weekday")
    format: str | None = None
    cyclic: bool = False

    def check_settings(self) -> None:
        if not self.parts or len(set(self.parts)) != len(self.parts):
            raise ConfigError(f"DateParts wants parts, each once, received {self.parts}")
        super().check_settings()

    def _fits(self, values: list[Any]) -> bool:
        try:
            for value in values[:100]:
                self._date(value, "")
        except DataError:
            return False
        return not all(isinstance(value, int | float) for value in values)

    def fit_column(self, values: list[Any], name: Column) -> Any:
        for value in values:
            self._date(value, name)

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        return np.array([self._numbers(self._date(value, name)) for value in values], "float32").reshape(
            len(values), -1
        )

    def _numbers(self, date: datetime.datetime | None) -> list[float]:
        numbers: list[float] = []
        for part in self.parts:
            number = math.nan if date is None else float(_PARTS[part](date))
            if self.cyclic and part in _CYCLES:
                first, count = _CYCLES[part]
                angle = 2 * math.pi * (number - first) / count
                numbers += [math.sin(angle), math.cos(angle)]
            else:
                numbers.append(number)
        return numbers

    def _date(self, value: Any, name: Column) -> datetime.datetime | None:
        if is_missing(value):
            return None
        if isinstance(value, datetime.datetime):
            return value
        if isinstance(value, datetime.date):
            return datetime.datetime(value.year, value.month, value.day)
        try:
            if isinstance(value, np.datetime64):
                return value.astype("datetime64[us]").item()
            if isinstance(value, str):
                text = value.strip()
                return (
                    datetime.datetime.strptime(text, self.format)
                    if self.format
                    else datetime.datetime.fromisoformat(text)
                )
        except (ValueError, OverflowError):
            pass
        wanted = f"of the format {self.format}" if self.format else "such as 2026-03-01 or 2026-03-01T12:30"
        raise DataError(f"DateParts: the column {name!r} wants dates {wanted}, received {value!r:.80}")
