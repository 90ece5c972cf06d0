"""Metrics of single steps, in arrays that grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from labdl.runs.reading import values
from labdl.runs.schema import MAX_METRICS, StepsEvent

_NOT_COLUMNS = ("kind", "time")


class Column:
    """An array to which values are appended; views of it do not change afterwards."""

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

    def truncate(self, count: int) -> None:
        self._values, self._count = self._values[:count].copy(), count

    def view(self) -> np.ndarray:
        view = self._values[: self._count]
        view.flags.writeable = False
        return view


Spans = tuple[list[int], list[float]]  # how many rows were written at which times


def merge_steps(events: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Spans | None]]:
    """The same events, with consecutive "steps" events merged: a training of slow steps has a line for each step."""
    group: dict[str, Any] | None = None
    counts, times = list[int](), list[float]()
    for event in events:
        if event["kind"] == "steps" and (count := _rows(event)):
            time = values.number(event["time"]) or 0.0
            if group is not None and group.keys() == event.keys():
                for name, column in event.items():
                    if name not in _NOT_COLUMNS:
                        group[name] += column
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
    """The number of rows of a "steps" event, 0 where its columns are not lists of one length."""
    step = event.get("step")
    count = len(step) if type(step) is list else 0
    for name, column in event.items():
        if name not in _NOT_COLUMNS and (type(column) is not list or len(column) != count):
            return 0
    return count


class StepColumns:
    """Rows of steps in ascending order with their times and metrics; NaN where a value is missing or not finite."""

    def __init__(self):
        self._step, self._time = Column("int64"), Column()
        self._columns: dict[str, Column] = {}

    def add(self, event: StepsEvent, before: float | None, spans: Spans | None = None) -> None:
        """Append the rows of an event, recorded between the time ``before`` and its own; rows that do not come after the
        last one are dropped."""
        step, columns = event.step, event.metrics
        count = min([len(step), *map(len, columns.values())])
        counts, times = spans or ([count], [event.time])
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
            if name not in self._columns and len(self._columns) < MAX_METRICS:
                self._columns[name] = Column(fill=rows)
            if name in self._columns:
                self._columns[name].extend(column)
        for column in self._columns.values():
            if len(column) < len(self._step):
                column.extend(np.full(len(step), np.nan))

    def truncate(self, step: int) -> None:
        """Discard the rows after a step."""
        count = int(np.searchsorted(self._step.view(), step, side="right"))
        for column in (self._step, self._time, *self._columns.values()):
            column.truncate(count)

    @property
    def last(self) -> int:
        return int(self._step.view()[-1]) if len(self._step) else -1

    def arrays(self) -> dict[str, np.ndarray]:
        """``step`` and each metric."""
        return {"step": self._step.view(), **{name: column.view() for name, column in self._columns.items()}}

    def times(self) -> np.ndarray:
        """The time of each step in seconds since 1970, spread evenly between two events."""
        return self._time.view()
