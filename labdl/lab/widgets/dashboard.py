"""The live dashboard of a run as a notebook widget."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget

from labdl.errors import ConfigError
from labdl.lab.messages.base import read, write
from labdl.lab.messages.runs import CodeMessage, CodeRequest, CommandRequest, SyncRequest
from labdl.lab.runs_list import code
from labdl.lab.widgets import notebook_output
from labdl.lab.widgets.event_messages import EventSender
from labdl.lab.widgets.front_end import read_static

if TYPE_CHECKING:
    from labdl.train import Run
    from labdl.train.race.client import RaceRun

log = logging.getLogger(__name__)


class Dashboard(anywidget.AnyWidget):
    """The live dashboard of a run, or of one backend in a race: progress, curves and controls."""

    def __init__(self, run: Run | RaceRun):
        # read here and not in the class, so that labdl.lab can be imported before the front end is built
        self._esm, self._css = read_static("dashboard.js"), read_static("dashboard.css")
        super().__init__()
        self.run = run
        self._sender = EventSender(run, lambda *message: self.send(*message))
        self.on_msg(self._on_message)

    def _ipython_display_(self) -> None:
        notebook_output.show(self.run, notebook_output.mime_bundle(self))

    def close(self) -> None:
        """Stop following the run and remove the dashboard from the page; the run continues."""
        if not hasattr(self, "_sender"):
            return  # called by the garbage collector after `__init__` raised
        self._sender.close()
        super().close()

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
