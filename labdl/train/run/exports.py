"""Base class of `Run` and `RaceRun`: the recording of a run and its exports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.runs.reading.record import Record, open_run

if TYPE_CHECKING:
    import plotly.graph_objects


class RecordedRun:
    """A run that is recorded in ``folder``; its exports are those of `labdl.runs.Record`."""

    folder: Path

    @property
    def record(self) -> Record:
        """The recording so far, as `labdl.runs.open` returns it."""
        return open_run(self.folder)

    def figure(self, **options: Any) -> plotly.graph_objects.Figure:
        """The curves as a Plotly figure: see `labdl.runs.figure`, which takes several ``record``."""
        return self.record.figure(**options)

    def to_csv(self, path: str | Path) -> Path:
        """Write the values as a table: see `labdl.runs.Record.to_csv`."""
        return self.record.to_csv(path)

    def to_arrow(self, path: str | Path) -> Path:
        """Write the values as an Arrow file: see `labdl.runs.Record.to_arrow`."""
        return self.record.to_arrow(path)

    def to_tensorboard(self, folder: str | Path) -> Path:
        """Write event files for TensorBoard: see `labdl.runs.Record.to_tensorboard`."""
        return self.record.to_tensorboard(folder)

    def to_svg(self, path: str | Path | None = None, *, limit: int = 20_000) -> str:
        """The curves as an SVG image of at most ``limit`` bytes: see `labdl.runs.Record.to_svg`."""
        return self.record.to_svg(path, limit=limit)

    def to_png(self, path: str | Path | None = None, *, width: int = 1440) -> bytes:
        """The curves as a PNG image: see `labdl.runs.Record.to_png`."""
        return self.record.to_png(path, width=width)
