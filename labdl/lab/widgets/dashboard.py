"""The live dashboard of a run as a notebook widget."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl import runs
from labdl.errors import ConfigError, LabDLError
from labdl.lab.messages.base import read, write
from labdl.lab.messages.runs import CodeMessage, CodeRequest, CommandRequest, SyncRequest
from labdl.lab.runs_list import code
from labdl.lab.widgets import notebook_output
from labdl.lab.widgets.base import NotebookWidget
from labdl.lab.widgets.event_messages import EventSender
from labdl.lab.widgets.interactive_page import has_page

if TYPE_CHECKING:
    from labdl.train import Run
    from labdl.train.race.client import RaceRun

log = logging.getLogger(__name__)


class Dashboard(NotebookWidget):
    """The live dashboard of a run, or of one backend in a race: progress, curves and controls."""

    def __init__(self, run: Run | RaceRun):
        super().__init__("dashboard", _snapshot={"text": repr(run)})
        self.run = run
        self._saved_end = False
        self._sender = EventSender(run, self._send_events)
        if not run.alive:
            self._save_end()
        self.on_msg(self._on_message)

    def _ipython_display_(self) -> None:
        notebook_output.show(self.run, notebook_output.mime_bundle(self))

    def close(self) -> None:
        """Stop following the run and remove the dashboard from the page; the run continues."""
        if not hasattr(self, "_sender"):
            return  # called by the garbage collector after `__init__` raised
        self._sender.close()
        super().close()

    def _send_events(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        self.send(message, buffers)
        if not self._saved_end and any(event["kind"] == "end" for event in message["events"]):
            self._save_end()

    def _save_end(self) -> None:
        """Keep the picture of the ended run for pages without the kernel."""
        self._saved_end = True
        try:
            self._snapshot = {"picture": runs.open(self.run.folder).to_svg()}
        except (OSError, LabDLError):  # deleted
            log.warning("there is no picture of run %s", self.run.folder, exc_info=True)

    def _on_message(self, _widget, content: Any, _buffers) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        try:
            if kind == "sync":
                self._sender.send_after(read(SyncRequest, content).after)
            elif kind == "code":
                read(CodeRequest, content)
                self.send(write(CodeMessage, {"type": "code", "files": code(Path(self.run.folder))}))
            elif kind == "command":
                asked = read(CommandRequest, content)
                self.run.send_command(asked.command, asked.value, asked.id)
        except ConfigError as error:  # for example a page of another version
            log.warning("run %s: %s", self.run.folder, error)


def display(run: Run | RaceRun) -> None:
    """Display the dashboard of a run in the running cell, or only its curves where no page can show a widget."""
    if has_page():
        Dashboard(run)._ipython_display_()
    else:
        notebook_output.show(run, {})
