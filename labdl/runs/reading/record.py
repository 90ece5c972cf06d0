"""A recorded run, in progress or ended."""

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
from labdl.runs.schema import RESERVED, StartEvent, metric_name

if TYPE_CHECKING:
    import plotly.graph_objects


def open_run(folder: str | Path) -> Record:
    """The run of a folder, which may be in progress: `Record.refresh` reads what is new.

    Raises FileNotFoundError where there is no run, FileFormatError for one of a newer LabDL.
    """
    folder = Path(folder)
    folder = folder.parent if folder.name == EVENTS else folder
    if not (folder / EVENTS).is_file():
        raise FileNotFoundError(f"{folder} is not the folder of a run: it has no {EVENTS}")
    return Record(folder)


class Record:
    """A run read from its folder (docs/runs.md), in progress or ended; no framework is needed.

    ``steps`` has NumPy arrays: ``step`` and each metric of single steps. ``epochs`` has a row for each epoch, ``history`` a
    list over epochs for each metric. In ``steps`` and ``epochs`` a metric named as a field beside it, such as "step", is under
    ``@step``; ``step_metrics`` and ``history`` have metrics alone, under their names. ``rates`` are the learning rates,
    ``marks`` the actions of people, and ``events(kind)`` the events of another kind, such as "pace", "system", "alert" and
    "confusion". Events after the step from which a run resumed in the same folder are discarded.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self._reader = EventReader(self.folder / EVENTS)
        self._data, self._restarted = RunData(), False
        self.refresh()

    def refresh(self) -> Record:
        """Read what has been recorded since. Raises OSError where the file cannot be read."""
        while (self.folder / EVENTS).exists():  # what was read is kept if the folder has vanished
            before = self._reader.offset
            events = self._reader.read()
            self._restarted = self._restarted or self._reader.restarted
            if events and self._restarted:
                self._data, self._restarted = RunData(), False
            try:
                for event in events:
                    check_version(event, self.folder)
            except FileFormatError:
                self._reader.offset = before  # so that the next read fails again
                raise
            self._data.update(events)
            if self._reader.offset == before:
                break
        return self

    # -- identity

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.folder.name or self.folder.resolve().name

    @property
    def start(self) -> dict[str, Any]:
        """The last start event as written in the file; empty before it is written."""
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
        """Software versions, platform and hardware of the training."""
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

    # -- state

    @property
    def alive(self) -> bool:
        """True while a process works on it; a run on another computer counts as alive until its end event."""
        return self._data.status.alive(self.folder)

    @property
    def status(self) -> str:
        """waiting, running, paused, stopping, finished, stopped, failed, or lost: no end event, and no process."""
        return self._data.status.status(self.alive)

    @property
    def error(self) -> str | None:
        """The error that ended the run."""
        return self._data.status.message

    @property
    def place(self) -> dict[str, Any] | None:
        """Location of a failure in the model, ``node`` and ``what``, if known."""
        end = self._data.status.end
        return None if end is None or end.place is None else end.place.model_dump()

    @property
    def checkpoint(self) -> Path | None:
        """The newest checkpoint that was recorded and still exists, for ``resume=``; None if there is none."""
        event = self._data.checkpoint
        if event is None:
            return None
        path = Path(event.path)
        # a folder of runs may have moved with the checkpoints in it
        places = (path, self.folder / "checkpoints" / path.name)
        return next((place for place in places if place.is_dir()), None)

    @property
    def total_epochs(self) -> int | None:
        """The planned number of epochs."""
        return self._data.status.epochs

    def summary(self) -> dict[str, Any]:
        """``step``, ``epoch``, ``seconds``, last value (``figures``) and ``best`` of each metric, ``spark``: the loss"""
        return self._data.status.summary()

    @property
    def step(self) -> int:
        """The number of training steps."""
        return self._data.step

    @property
    def seconds(self) -> float:
        """Training time up to the last event, without pauses."""
        return self.summary()["seconds"]

    @property
    def time(self) -> float | None:
        """Start time in seconds since 1970; of a resumed run, when it resumed."""
        return None if (start := self._data.status.start) is None else start.time

    # -- what was recorded

    @property
    def steps(self) -> dict[str, np.ndarray]:
        """Arrays of equal length: ``step`` and each metric of single steps, NaN where it is missing or not finite."""
        return self._data.steps.arrays()

    @property
    def step_metrics(self) -> dict[str, np.ndarray]:
        """The arrays of ``steps`` without ``step``: each metric of single steps by its name."""
        return self._data.steps.metrics()

    @property
    def times(self) -> np.ndarray:
        """Time of each step in seconds since 1970, to about a fifth of a second."""
        return self._data.steps.times()

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """A row for each epoch: ``epoch``, ``step``, ``time``, ``samples_per_second`` and its metrics."""
        return list(self._data.epochs)

    @property
    def history(self) -> dict[str, list[float]]:
        """A list over epochs for each metric, ``val_`` before those of the validation data; NaN where one is missing."""
        keys = dict.fromkeys(key for row in self._data.epochs for key in row if key not in RESERVED)
        return {metric_name(key): [row.get(key, math.nan) for row in self._data.epochs] for key in keys}

    @property
    def rates(self) -> dict[str, np.ndarray]:
        """The learning rate: ``value`` from the update after ``step`` on."""
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
    def throughput(self) -> list[dict[str, Any]]:
        return self.events("pace")

    @property
    def system(self) -> list[dict[str, Any]]:
        return self.events("system")

    def events(self, kind: str) -> list[dict[str, Any]]:
        """All events of a kind; those about layers with the names of the layers."""
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
        """An image of its curves of at most ``limit`` bytes, also written to a file: see `labdl.runs.snapshot.snapshot`."""
        from labdl.runs.snapshot.snapshot import to_svg

        return to_svg(self, path, limit=limit)

    def to_png(self, path: str | Path | None = None, *, width: int = 1440) -> bytes:
        """The same image as PNG: see `labdl.runs.snapshot.snapshot`."""
        from labdl.runs.snapshot.snapshot import to_png

        return to_png(self, path, width=width)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"Record({self.id}: {self.status}, epoch {len(self._data.epochs)}, step {self._data.step})"
