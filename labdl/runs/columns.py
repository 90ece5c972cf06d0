"""Figures of single steps, in arrays that grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from labdl.runs import fields

_OF_EVENTS = ("kind", "time")  # no columns
_NAMES = 500  # columns; a file with more is not a training's


class Column:
    """An array to which values are added; what it gives away is not changed by what comes after."""

    def __init__(self, dtype: str = "float64", fill: int = 0):
        self._values = np.full(max(1024, fill), np.nan if dtype == "float64" else 0, dtype)
        self._count = fill

    def __len__(self) -> int:
        return self._count

    def extend(self, values: np.ndarray) -> None:
        end = self._count + len(values)
        if end > len(self._values):
            larger = np.empty(max(end, 2 * len(self._values)), self._values.dtype)
            larger[: self._count] = self._values[: self._count]
            self._values = larger
        self._values[self._count : end] = values
        self._count = end

    def cut(self, count: int) -> None:
        self._values, self._count = self._values[:count].copy(), count

    def view(self) -> np.ndarray:
        view = self._values[: self._count]
        view.flags.writeable = False
        return view


Spans = tuple[list[int], list[float]]  # how many rows were told at which times


def joined(events: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Spans | None]]:
    """The same events, those with steps in a row made one: a training of slow steps has a line for each of them."""
    group: dict[str, Any] | None = None
    counts, times = list[int](), list[float]()
    for event in events:
        if event["kind"] == "steps" and (count := _rows(event)):
            time = fields.number(event["time"]) or 0.0
            if group is not None and group.keys() == event.keys():
                for name, values in event.items():
                    if name not in _OF_EVENTS:
                        group[name] += values
                group["time"] = event["time"]
                counts.append(count)
                times.append(time)
                continue
            if group is not None:
                yield group, (counts, times)
            group, counts, times = event, [count], [time]
            continue
        if group is not None:
            yield group, (counts, times)
            group = None
        yield event, None
    if group is not None:
        yield group, (counts, times)


def _rows(event: dict[str, Any]) -> int:
    """How many rows an event of steps has, 0 where its columns are not lists of one length."""
    step = event.get("step")
    count = len(step) if type(step) is list else 0
    for name, values in event.items():
        if name not in _OF_EVENTS and (type(values) is not list or len(values) != count):
            return 0
    return count


class Steps:
    """Rows of steps in ascending order with their times and figures; NaN where one is missing or not finite."""

    def __init__(self):
        self._step, self._time = Column("int64"), Column()
        self._columns: dict[str, Column] = {}

    def add(self, event: dict[str, Any], before: float | None, spans: Spans | None = None) -> None:
        """The rows of an event, made between a time and that of the event; those that do not come after the last are left."""
        step = fields.steps(event.get("step"))
        if step is None:
            return
        columns = {name: column for name, values in event.items() if name not in fields.NOT_FIGURES
                   and (column := fields.numbers(values)) is not None}  # fmt: skip
        count = min([len(step), *map(len, columns.values())])
        counts, times = spans or ([count], [fields.number(event["time"]) or 0.0])
        begin = times[0] if before is None else min(before, times[0])
        time = np.interp(np.arange(1, count + 1), np.cumsum([0, *counts]), [begin, *times])
        step, columns = step[:count], {name: column[:count] for name, column in columns.items()}
        last = self.last
        if count and (step[0] <= last or np.any(step[1:] <= step[:-1])):
            good = step > np.maximum.accumulate(np.concatenate([[last], step[:-1]]))
            step, time = step[good], time[good]
            columns = {name: column[good] for name, column in columns.items()}
        if not len(step):
            return
        self._time.extend(time)
        rows = len(self._step)
        self._step.extend(step)
        for name, column in columns.items():
            if name not in self._columns and len(self._columns) < _NAMES:
                self._columns[name] = Column(fill=rows)
            if name in self._columns:
                self._columns[name].extend(column)
        for column in self._columns.values():
            if len(column) < len(self._step):
                column.extend(np.full(len(step), np.nan))

    def cut(self, step: int) -> None:
        """Forget what lies behind a step."""
        count = int(np.searchsorted(self._step.view(), step, side="right"))
        for column in (self._step, self._time, *self._columns.values()):
            column.cut(count)

    @property
    def last(self) -> int:
        return int(self._step.view()[-1]) if len(self._step) else -1

    def arrays(self) -> dict[str, np.ndarray]:
        """``step`` and each figure."""
        return {"step": self._step.view(), **{name: column.view() for name, column in self._columns.items()}}

    def times(self) -> np.ndarray:
        """Of each step, in seconds since 1970: those between two events are spread evenly."""
        return self._time.view()
