"""The runs of a folder as a notebook widget: list, curves, races and sweeps."""

from __future__ import annotations

import logging
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError, LabDLError, message_of
from labdl.lab import runs_list
from labdl.lab.messages.base import read, write
from labdl.lab.messages.runs import (
    CodeMessage,
    CodeRequest,
    CommandRequest,
    ListMessage,
    ListRequest,
    SyncRequest,
    WriteRequest,
    WrittenMessage,
)
from labdl.lab.widgets import notebook_output
from labdl.lab.widgets.base import NotebookWidget
from labdl.lab.widgets.event_messages import EventSender
from labdl.lab.widgets.interactive_page import has_page
from labdl.runs import control
from labdl.runs.folder import LiveStatus
from labdl.runs.metadata import is_sweep
from labdl.runs.reading.event_file import EVENTS, EventReader
from labdl.train.run.event_stream import EventStream, Listener
from labdl.translation import translate

if TYPE_CHECKING:
    from labdl.train.race.race import Race
    from labdl.train.tuning.sweep import Sweep

LOOK_SECONDS = 0.5  # between updates of the list
log = logging.getLogger(__name__)


class _RunFile:
    """A run that another process may write, read from its file."""

    def __init__(self, folder: Path):
        self.folder, self._standing = folder, LiveStatus(folder)
        self._reader = EventReader(folder / EVENTS)
        self._feed = EventStream(self._reader.path, list, lambda: self._reader.offset)

    @property
    def alive(self) -> bool:
        try:
            return self._standing.alive()
        except OSError:
            return False

    def subscribe(self, listener: Listener):
        return self._feed.subscribe(listener)

    def look(self) -> None:
        """Read new events."""
        with self._feed.lock:
            while events := self._reader.read():
                self._feed.publish(events)


class Runs(NotebookWidget):
    """Comparison of all runs below a folder: a table, overlaid curves, differences of their settings.

    ``of`` is a folder, or a race or a sweep, which have their own views. Runs of other processes are included.
    """

    def __init__(self, of: Any = "."):
        folder = getattr(of, "folder", of)
        if not isinstance(folder, str | Path):
            raise ConfigError(f"Runs wants a folder, a race or a sweep, received {type(of).__name__}")
        self.folder = Path(folder)
        super().__init__("runs")
        self._of = of if hasattr(of, "folder") else self
        self._list, self._token = runs_list.FolderListing(self.folder), ""
        self._followed: dict[str, tuple[_RunFile, EventSender, bool | None]] = {}
        self._lock, self._over = threading.Lock(), threading.Event()
        self.on_msg(self._on_message)
        threading.Thread(
            target=_look_regularly, args=(weakref.ref(self), self._over), name="labdl-runs", daemon=True
        ).start()

    def _ipython_display_(self) -> None:
        notebook_output.show_runs(self._of, self.folder, notebook_output.mime_bundle(self), self._keep)

    def _keep(self, table: str) -> None:
        self._snapshot = {"text": table}

    def close(self) -> None:
        """Remove the widget from the page; the runs continue."""
        if not hasattr(self, "_over"):
            return  # called by the garbage collector after `__init__` raised
        self._over.set()
        for _, sender, _ in self._followed.values():
            sender.close()
        super().close()

    def __repr__(self) -> str:
        return f"Runs({str(self.folder)!r})"

    # -- messages to the pages

    def _look(self) -> None:
        """Send changes of the list, and new events of the runs that pages follow."""
        with self._lock:
            self._send_list(self._token)
            for path, (run_file, sender, alive) in list(self._followed.items()):
                now = run_file.alive  # before reading: no events follow the end
                run_file.look()
                if now != alive:
                    self._followed[path] = run_file, sender, now
                    sender.send_status()

    def _send_list(self, since: str) -> None:
        try:
            answer = self._list.changes(since)
        except OSError as error:
            problem = f"The folder {self.folder} could not be read: {error.strerror or error}."
            answer = {"trouble": translate(problem, self._language), "token": since}
        self._token = answer["token"]
        if "unchanged" not in answer:
            self.send(write(ListMessage, {"type": "runs", "folder": self.folder.name, "since": since, **answer}))

    def _follow(self, path: str) -> EventSender | None:
        if path not in self._followed:
            folder = self._inside(path)
            if folder is None:
                return None
            run_file = _RunFile(folder)
            run_file.look()
            sender = EventSender(run_file, lambda message, buffers: self.send({**message, "path": path}, buffers))
            self._followed[path] = run_file, sender, run_file.alive
        return self._followed[path][1]

    def _inside(self, path: Any, sweeps: bool = False) -> Path | None:
        """The folder of one of the runs, or of a sweep if ``sweeps``; the page takes paths from the list."""
        if not isinstance(path, str) or "\0" in path:
            return None
        root, folder = self.folder.resolve(), (self.folder / path).resolve()
        found = folder.is_relative_to(root) and ((folder / EVENTS).is_file() or (sweeps and is_sweep(folder)))
        return folder if found else None

    def _on_message(self, _widget, content: Any, _buffers) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        with self._lock:
            try:
                if kind == "list":
                    self._send_list(read(ListRequest, content).token)
                elif kind == "sync":
                    self._sync(read(SyncRequest, content))
                elif kind == "command":
                    self._command(read(CommandRequest, content))
                elif kind == "code":
                    self._send_code(read(CodeRequest, content))
                elif kind == "write":
                    self._write(read(WriteRequest, content))
            except (OSError, ConfigError) as error:  # for example a page of another version
                log.warning("runs of %s: %s", self.folder, error)

    def _sync(self, asked: SyncRequest) -> None:
        sender = None if asked.path is None else self._follow(asked.path)
        if sender is not None:
            sender.send_after(asked.after)

    def _command(self, asked: CommandRequest) -> None:
        folder = self._inside(asked.path, sweeps=True)
        if folder is not None:
            control.append(folder, asked.command, asked.value, asked.id)

    def _send_code(self, asked: CodeRequest) -> None:
        folder = self._inside(asked.path)
        files = {} if folder is None else runs_list.code(folder)
        self.send(write(CodeMessage, {"type": "code", "path": asked.path, "files": files}))

    def _write(self, asked: WriteRequest) -> None:
        """Write name, tags and note; the answer has the current ones if they were changed meanwhile."""
        answer: dict[str, Any] = {"type": "written", "id": asked.id}
        folder = self._inside(asked.path)
        try:
            if folder is None:
                raise ConfigError("this run no longer exists")
            done, now = runs_list.write(folder, asked.words, asked.before)
            answer |= {"done": done, "about": now}
        except (OSError, LabDLError) as error:
            answer |= {"error": translate(message_of(error), self._language)}
        self.send(write(WrittenMessage, answer))


def display(of: Race | Sweep) -> None:
    """Display runs in the running cell, or only their table where no page can show a widget."""
    if has_page():
        Runs(of)._ipython_display_()
    else:
        notebook_output.show_runs(of, Path(of.folder), {})


def _look_regularly(board: weakref.ref[Runs], over: threading.Event) -> None:
    """Look for changes as long as the widget exists."""
    while not over.wait(LOOK_SECONDS):
        widget = board()
        if widget is None:
            return
        try:
            widget._look()
        except Exception:  # any error of a closing connection
            log.warning("the runs of %s are no longer followed", widget.folder, exc_info=True)
            return
        del widget
