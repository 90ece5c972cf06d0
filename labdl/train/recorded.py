"""What becomes of a run's recording: methods that `Run` and `Racer` share, each that of `labdl.runs.Record`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from labdl.runs.record import Record, open_run

if TYPE_CHECKING:
    import plotly.graph_objects


class _Recorded(Protocol):
    folder: Path


def _record(run: _Recorded) -> Record:
    """What is known of it from its folder, as other programs read it (`labdl.runs.open`)."""
    return open_run(run.folder)


record = property(_record)


def figure(run: _Recorded, **options: Any) -> plotly.graph_objects.Figure:
    """Its curves as a Plotly figure: see `labdl.runs.figure`, which takes several ``record``."""
    return _record(run).figure(**options)


def to_csv(run: _Recorded, path: str | Path) -> Path:
    """Write its figures as a table: see `labdl.runs.Record.to_csv`."""
    return _record(run).to_csv(path)


def to_arrow(run: _Recorded, path: str | Path) -> Path:
    """Write its figures as an Arrow file: see `labdl.runs.Record.to_arrow`."""
    return _record(run).to_arrow(path)


def to_tensorboard(run: _Recorded, folder: str | Path) -> Path:
    """Write it for TensorBoard: see `labdl.runs.Record.to_tensorboard`."""
    return _record(run).to_tensorboard(folder)


def to_svg(run: _Recorded, path: str | Path | None = None, *, limit: int = 20_000) -> str:
    """A picture of its curves of at most so many bytes: see `labdl.runs.Record.to_svg`."""
    return _record(run).to_svg(path, limit=limit)


def to_png(run: _Recorded, path: str | Path | None = None, *, width: int = 1440) -> bytes:
    """The same picture in pixels: see `labdl.runs.Record.to_png`."""
    return _record(run).to_png(path, width=width)
