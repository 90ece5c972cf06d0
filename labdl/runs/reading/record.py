"""A run as it stands in its folder, whether it is under way or over."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import FileFormatError
from labdl.runs.listing.summary_row import parent_of
from labdl.runs.metadata import About, about
from labdl.runs.reading.event_file import EVENTS, EventReader, check_version
from labdl.runs.reading.run_data import RunData
from labdl.runs.schema import RESERVED, StartEvent

if TYPE_CHECKING:
    import plotly.graph_objects


def open_run(folder: str | Path) -> Record:
    """The run of a folder, which may be under way: `Record.refresh` reads what is new.

    Raises FileNotFoundError where there is no run, FileFormatError for one of a newer LabDL.
    """
    folder = Path(folder)
    folder = folder.parent if folder.name == EVENTS else folder
    if not (folder / EVENTS).is_file():
        raise FileNotFoundError(f"{folder} is not the folder of a run: it has no {EVENTS}")
    return Record(folder)


class Record:
    """A run read from its folder (docs/runs.md), in progress or over; no framework is needed.

    ``steps`` has NumPy arrays: ``step`` and each figure of single steps. ``epochs`` has a row for each epoch, ``history`` a
    list an epoch for each figure. ``rates`` are the learning rates, ``marks`` what people did, and ``events(kind)`` gives what
    is told now and then, such as "pace", "system", "alert" and "confusion". What was recorded behind the step from which a run
    went on in the same folder does not count.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self._reader = EventReader(self.folder / EVENTS)
        self._data, self._restarted = RunData(), False
        self.refresh()

    def refresh(self) -> Record:
        """Read what has been recorded since. Raises OSError where the file cannot be read."""
        while (self.folder / EVENTS).exists():  # what was read stays where the folder has vanished
            before = self._reader.offset
            events = self._reader.read()
            self._restarted = self._restarted or self._reader.restarted
            if events and self._restarted:
                self._data, self._restarted = RunData(), False
            try:
                for event in events:
                    check_version(event, self.folder)
            except FileFormatError:
                self._reader.offset = before  # it is refused again, and not passed over
                raise
            self._data.update(events)
            if self._reader.offset == before:
                break
        return self

    # -- what it is

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.folder.name or self.folder.resolve().name

    @property
    def start(self) -> dict[str, Any]:
        """The last start event as it stands in the file, empty before there is one."""
        return self._data.start

    @property
    def _start(self) -> StartEvent:
        return self._data.status.start or StartEvent(kind="start", time=0.0)

    @property
    def model(self) -> str | None:
        return self._start.model

    @property
    def backend(self) -> str | None:
        return self._start.backend

    @property
    def settings(self) -> dict[str, Any]:
        return self._start.settings

    @property
    def environment(self) -> dict[str, Any]:
        """Versions, the platform and the hardware on which it trained."""
        environment = self._start.environment
        return {} if environment is None else environment.model_dump(exclude_unset=True)

    @property
    def metrics(self) -> list[str]:
        return self._start.metrics

    @property
    def parent(self) -> dict[str, Any] | None:
        """The run from which it branched: ``id``, ``folder`` (relative) and ``step``."""
        return parent_of(self._start)

    @property
    def about(self) -> About:
        """Name, tags and note, as they are now."""
        return about(self.folder)

    # -- how it stands

    @property
    def alive(self) -> bool:
        """True while a process works on it; a run on another computer counts as alive until its end event."""
        return self._data.status.alive(self.folder)

    @property
    def status(self) -> str:
        """waiting, running, paused, stopping, finished, stopped, failed, or lost: no end, and nobody works on it."""
        return self._data.status.status(self.alive)

    @property
    def error(self) -> str | None:
        """The error that ended it."""
        return self._data.status.message

    @property
    def place(self) -> dict[str, Any] | None:
        """Where in the model a failure was, ``node`` and ``what``, if that is known."""
        end = self._data.status.end
        return None if end is None or end.place is None else end.place.model_dump()

    @property
    def planned(self) -> int | None:
        """The number of epochs planned in all."""
        return self._data.status.epochs

    def summary(self) -> dict[str, Any]:
        """``step``, ``epoch``, ``seconds``, last value (``figures``) and ``best`` of each metric, ``spark``: the loss"""
        return self._data.status.summary()

    @property
    def step(self) -> int:
        """The number of steps made."""
        return self._data.step

    @property
    def seconds(self) -> float:
        """Trained, without pauses, up to the last event."""
        return self.summary()["seconds"]

    @property
    def time(self) -> float | None:
        """When it began, in seconds since 1970; where it went on in the same folder, when that was."""
        return None if (start := self._data.status.start) is None else start.time

    # -- what was recorded

    @property
    def steps(self) -> dict[str, np.ndarray]:
        """Arrays of equal length: ``step`` and each figure of single steps, NaN where it is missing or not finite."""
        return self._data.steps.arrays()

    @property
    def times(self) -> np.ndarray:
        """When each of the steps was made, in seconds since 1970, to about a fifth of a second."""
        return self._data.steps.times()

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """A row for each epoch: ``epoch``, ``step``, ``time``, ``samples_per_second`` and its figures."""
        return list(self._data.epochs)

    @property
    def history(self) -> dict[str, list[float]]:
        """A list an epoch for each figure, of the validation data with ``val_`` before the name; NaN where one has none."""
        names = dict.fromkeys(name for row in self._data.epochs for name in row if name not in RESERVED)
        return {name: [row.get(name, math.nan) for row in self._data.epochs] for name in names}

    @property
    def rates(self) -> dict[str, np.ndarray]:
        """The learning rate: ``value`` from the update behind ``step`` on."""
        columns = np.array(self._data.rates, "float64").reshape(-1, 2)
        return {"step": columns[:, 0].astype("int64"), "value": columns[:, 1]}

    @property
    def marks(self) -> list[dict[str, Any]]:
        """Actions of people during training, each with its ``step``; of kind "resumed" where the run resumed."""
        return list(self._data.marks)

    @property
    def alerts(self) -> list[dict[str, Any]]:
        return self.events("alert")

    @property
    def pace(self) -> list[dict[str, Any]]:
        return self.events("pace")

    @property
    def system(self) -> list[dict[str, Any]]:
        return self.events("system")

    def events(self, kind: str) -> list[dict[str, Any]]:
        """All events of a kind that is told now and then; those about layers with their names."""
        return list(self._data.events.get(kind, ()))

    def figure(self, **options: Any) -> plotly.graph_objects.Figure:
        """A Plotly figure: see `labdl.runs.exports.figure`."""
        from labdl.runs.exports import figure

        return figure([self], **options)

    def to_csv(self, path: str | Path) -> Path:
        """A table of steps and epochs: see `labdl.runs.exports.to_csv`."""
        from labdl.runs.exports import to_csv

        return to_csv(self, path)

    def to_arrow(self, path: str | Path) -> Path:
        """The same table for pandas, Polars, DuckDB and R: see `labdl.runs.exports.to_arrow`."""
        from labdl.runs.exports import to_arrow

        return to_arrow(self, path)

    def to_tensorboard(self, folder: str | Path) -> Path:
        """A log that TensorBoard shows: see `labdl.runs.exports.to_tensorboard`."""
        from labdl.runs.exports import to_tensorboard

        return to_tensorboard(self, folder)

    def to_svg(self, path: str | Path | None = None, *, limit: int = 20_000) -> str:
        """A picture of its curves of at most so many bytes, also written to a file: see `labdl.runs.snapshot.snapshot`."""
        from labdl.runs.snapshot.snapshot import to_svg

        return to_svg(self, path, limit=limit)

    def to_png(self, path: str | Path | None = None, *, width: int = 1440) -> bytes:
        """The same picture in pixels: see `labdl.runs.snapshot.snapshot`."""
        from labdl.runs.snapshot.snapshot import to_png

        return to_png(self, path, width=width)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"Record({self.id}: {self.status}, epoch {len(self._data.epochs)}, step {self._data.step})"
