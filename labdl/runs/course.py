"""Where a run stands, from the events that were heard of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from labdl.runs import fields
from labdl.runs.eventfile import EVENTS
from labdl.runs.folder import works
from labdl.runs.summary import Summary, cleaned

ENDS = ("finished", "stopped", "failed")
LIVE = ("running", "paused", "stopping")
_PATIENCE = 60.0  # seconds in which a run should have written its first event


class Course:
    """Hears the events of a run in their order: how it began, what state it is in, how it ended, and its summary."""

    def __init__(self):
        self.start: dict[str, Any] = {}
        self.end: dict[str, Any] | None = None
        self.epochs: int | None = None
        self.time: float | None = None  # of the last event
        self._summary = Summary()
        self._state = "waiting"
        self._heard = {
            "start": self._on_start,
            "status": self._on_status,
            "epochs": self._on_epochs,
            "end": self._on_end,
        }

    def hear(self, event: dict[str, Any]) -> None:
        """Take an event into account."""
        self._summary.hear(event)
        self.time = fields.number(event["time"])
        hear = self._heard.get(event["kind"])
        if hear is not None:
            hear(event)

    def summary(self) -> dict[str, Any]:
        """As the event "end" has it; of one that has not ended, what it would be now."""
        ready = None if self.end is None else cleaned(self.end.get("summary"))
        return self._summary.told() if ready is None else ready

    def alive(self, folder: Path) -> bool:
        """Whether somebody works on it, as far as can be seen."""
        if self.end is not None:
            return False
        if self.start:
            return works(self.start)
        try:
            return time.time() - (folder / EVENTS).stat().st_mtime < _PATIENCE
        except OSError:
            return False

    def status(self, alive: bool) -> str:
        """waiting, running, paused, stopping, finished, stopped, failed, or lost: no end, and nobody works on it."""
        return self._state if alive or self.end is not None else "lost"

    @property
    def message(self) -> str | None:
        return None if self.end is None else fields.text(self.end.get("message"))

    def _on_start(self, event: dict[str, Any]) -> None:
        self.start, self.end, self._state = event, None, "running"
        self.epochs = fields.whole(event.get("epochs"))

    def _on_status(self, event: dict[str, Any]) -> None:
        if event.get("status") in LIVE and self.end is None:
            self._state = event["status"]

    def _on_epochs(self, event: dict[str, Any]) -> None:
        self.epochs = fields.whole(event.get("epochs")) or self.epochs

    def _on_end(self, event: dict[str, Any]) -> None:
        self.end = event
        self._state = event["status"] if event.get("status") in ENDS else "stopped"
        self._on_epochs(fields.mapping(event.get("summary")))  # where what was before has not been heard
