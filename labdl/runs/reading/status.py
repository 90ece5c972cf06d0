"""Status of a run, from its events."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from labdl.runs.folder import is_process_alive
from labdl.runs.reading.event_file import EVENTS
from labdl.runs.reading.summary import Summary
from labdl.runs.schema import EndEvent, EpochsEvent, Event, StartEvent, StatusEvent

_PATIENCE = 60.0  # seconds after which a run without events counts as lost


class RunStatus:
    """Follows the events of a run: how it started, its state, how it ended, and its summary."""

    def __init__(self):
        self.start: StartEvent | None = None
        self.end: EndEvent | None = None
        self.epochs: int | None = None
        self.time: float | None = None  # time of the last event
        self._summary = Summary()
        self._state = "waiting"

    def update(self, event: Event) -> None:
        """Apply the next event."""
        self._summary.update(event)
        self.time = event.time
        if isinstance(event, StartEvent):
            self.start, self.end, self._state = event, None, "running"
            self.epochs = event.epochs
        elif isinstance(event, StatusEvent) and self.end is None:
            self._state = event.status
        elif isinstance(event, EpochsEvent):
            self.epochs = event.epochs or self.epochs
        elif isinstance(event, EndEvent):
            self.end, self._state = event, event.status
            if event.summary is not None and event.summary.epochs:  # events before it may not have been read
                self.epochs = event.summary.epochs

    def summary(self) -> dict[str, Any]:
        """The summary in the end event; before it, its current value."""
        ready = self.end.summary if self.end is not None else None
        return self._summary.to_dict() if ready is None else ready.model_dump()

    def alive(self, folder: Path) -> bool:
        """Check for a process that works on the run, as far as this computer can tell."""
        if self.end is not None:
            return False
        if self.start is not None:
            return is_process_alive(self.start, folder)
        try:
            return time.time() - (folder / EVENTS).stat().st_mtime < _PATIENCE
        except OSError:
            return False

    def status(self, alive: bool) -> str:
        """waiting, running, paused, stopping, finished, stopped, failed, or lost: no end event, and no process."""
        return self._state if alive or self.end is not None else "lost"

    @property
    def message(self) -> str | None:
        """Why the run failed."""
        return None if self.end is None else self.end.message
