"""Metrics of single steps, in arrays that grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from labdl.runs.reading import values
from labdl.runs.schema import MAX_METRICS, StepsEvent, metric_key

_NOT_COLUMNS = ("kind", "time")


class Column:
    """An array to which values are appended; views of it do not change afterwards."""

    def __init__(self, dtype: str = "float64"):
        self._values = np.empty(1024, dtype)
        self._count = self._shown = 0  # values, and those of them that a view has

    def __len__(self) -> int:
        return self._count

    def extend(self, values: np.ndarray) -> None:
        self._reserve(self._count + len(values))[self._count :] = values
        self._count += len(values)

    def pad(self, count: int) -> None:
        """Append NaN up to so many values."""
        if self._count < count:
            self._reserve(count)[self._count :] = np.nan
            self._count = count

    def truncate(self, count: int) -> None:
        self._count = min(self._count, count)

    def _reserve(self, end: int) -> np.ndarray:
        """The array up to ``end``; another one where it is too short, or where a view has what would be overwritten."""
        if end > len(self._values) or self._shown > self._count:
            size = len(self._values) if end <= len(self._values) else max(end, 2 * len(self._values))
            larger = np.empty(size, self._values.dtype)
            larger[: self._count] = self._values[: self._count]
            self._values, self._shown = larger, 0
        return self._values[:end]

    @property
    def last(self) -> int:
        return int(self._values[self._count - 1])

    def search(self, value: int) -> int:
        """The number of values up to ``value``, in ascending order."""
        return int(np.searchsorted(self._values[: self._count], value, side="right"))

    def view(self) -> np.ndarray:
        self._shown = max(self._shown, self._count)
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
                self._columns[name] = Column()
            if name in self._columns:
                self._columns[name].pad(rows)
                self._columns[name].extend(column)

    def truncate(self, step: int) -> None:
        """Discard the rows after a step."""
        count = self._step.search(step)
        for column in (self._step, self._time, *self._columns.values()):
            column.truncate(count)

    @property
    def last(self) -> int:
        return self._step.last if len(self._step) else -1

    def arrays(self) -> dict[str, np.ndarray]:
        """``step`` and each metric, under the keys of events."""
        return {"step": self._step.view(), **{metric_key(name): column for name, column in self.metrics().items()}}

    def metrics(self) -> dict[str, np.ndarray]:
        """Each metric by name."""
        for column in self._columns.values():
            column.pad(len(self._step))
        return {name: column.view() for name, column in self._columns.items()}

    def times(self) -> np.ndarray:
        """The time of each step in seconds since 1970, spread evenly between two events."""
        return self._time.view()
