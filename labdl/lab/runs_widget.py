"""The runs of a folder as a widget: their list, their curves, races and sweeps, for notebooks outside of JupyterLab too."""

from __future__ import annotations

import logging
import threading
import weakref
from pathlib import Path
from typing import Any

import anywidget

from labdl.errors import ConfigError, LabDLError
from labdl.lab import outputs, runlist
from labdl.lab.telling import Telling
from labdl.lab.widgets import built
from labdl.runs import control
from labdl.runs.about import is_sweep
from labdl.runs.eventfile import EVENTS, EventReader
from labdl.runs.folder import Standing
from labdl.train.feed import Feed, Listener

LOOK_SECONDS = 0.5  # from one look at the folder to the next
log = logging.getLogger(__name__)


class _Watched:
    """A run that another process may write, followed by its file."""

    def __init__(self, folder: Path):
        self.folder, self._standing = folder, Standing(folder)
        self._reader = EventReader(folder / EVENTS)
        self._feed = Feed(self._reader.path, list, lambda: self._reader.offset)

    @property
    def alive(self) -> bool:
        try:
            return self._standing.alive()
        except OSError:
            return False

    def subscribe(self, listener: Listener):
        return self._feed.subscribe(listener)

    def look(self) -> None:
        """Tell what is new."""
        with self._feed.lock:
            while events := self._reader.read():
                self._feed.tell(events)


class Runs(anywidget.AnyWidget):
    """All runs below a folder, compared: a table, their curves over each other, what differs in their settings.

    ``of`` is a folder, or a race or a sweep, which are shown as such. Runs of other processes appear by themselves.
    """

    def __init__(self, of: Any = "."):
        folder = getattr(of, "folder", of)
        if not isinstance(folder, str | Path):
            raise ConfigError(f"Runs wants a folder, a race or a sweep, received {type(of).__name__}")
        self._esm, self._css = built("runs.js"), built("runs.css")
        super().__init__()
        self.folder = Path(folder)
        self._of = of if hasattr(of, "folder") else self
        self._list, self._token = runlist.Followed(self.folder), ""
        self._followed: dict[str, tuple[_Watched, Telling, bool | None]] = {}
        self._lock, self._over = threading.Lock(), threading.Event()
        self.on_msg(self._on_message)
        threading.Thread(
            target=_look_often, args=(weakref.ref(self), self._over), name="labdl-runs", daemon=True
        ).start()

    def _ipython_display_(self) -> None:
        outputs.show_runs(self._of, self.folder, outputs.forms(self))

    def close(self) -> None:
        """Take it off the page; the runs go on."""
        self._over.set()
        for _, telling, _ in self._followed.values():
            telling.close()
        super().close()

    def __repr__(self) -> str:
        return f"Runs({str(self.folder)!r})"

    # -- telling

    def _look(self) -> None:
        """Tell what is new in the list, and in the runs that pages follow."""
        with self._lock:
            self._tell_list(self._token)
            for path, (watched, telling, alive) in list(self._followed.items()):
                now = watched.alive  # before reading: nothing comes after the end
                watched.look()
                if now != alive:
                    self._followed[path] = watched, telling, now
                    telling.tell_standing()

    def _tell_list(self, since: str) -> None:
        try:
            answer = self._list.changes(since)
        except OSError as error:
            answer = {"trouble": f"{self.folder} could not be read: {error.strerror or error}", "token": since}
        self._token = answer["token"]
        if "unchanged" not in answer:
            self.send({"type": "runs", "folder": self.folder.name, "since": since, **answer})

    def _follow(self, path: str) -> Telling | None:
        if path not in self._followed:
            folder = self._inside(path)
            if folder is None:
                return None
            watched = _Watched(folder)
            watched.look()
            telling = Telling(watched, lambda message, buffers: self.send({**message, "path": path}, buffers))
            self._followed[path] = watched, telling, watched.alive
        return self._followed[path][1]

    def _inside(self, path: Any, sweeps: bool = False) -> Path | None:
        """The folder of one of the runs, or a sweep's where ``sweeps`` are meant too; a page has its paths from the list."""
        if not isinstance(path, str) or "\0" in path:
            return None
        root, folder = self.folder.resolve(), (self.folder / path).resolve()
        found = folder.is_relative_to(root) and ((folder / EVENTS).is_file() or (sweeps and is_sweep(folder)))
        return folder if found else None

    def _on_message(self, _widget, content: Any, _buffers) -> None:
        if not isinstance(content, dict):
            return
        path = content.get("path")
        with self._lock:
            match content.get("type"):
                case "list":
                    token = content.get("token")
                    self._tell_list(token if isinstance(token, str) else "")
                case "sync" if isinstance(path, str):
                    telling = self._follow(path)
                    if telling is not None:
                        telling.answer(content.get("after"))
                case "command":
                    self._command(content, self._inside(path, sweeps=True))
                case "code":
                    folder = self._inside(path)
                    self.send({"type": "code", "path": path, "files": {} if folder is None else runlist.code(folder)})
                case "write":
                    self._write(content, self._inside(path))

    def _command(self, content: dict[str, Any], folder: Path | None) -> None:
        try:
            if folder is not None:
                control.append(folder, content.get("command"), content.get("value"), content.get("id"))
        except (OSError, ConfigError) as error:  # a page of another version, say
            log.warning("run %s: %s", folder, error)

    def _write(self, content: dict[str, Any], folder: Path | None) -> None:
        """Name, tags and note: the answer has them as they are now where somebody else has written meanwhile."""
        answer: dict[str, Any] = {"type": "written", "id": content.get("id")}
        words, before = content.get("words"), content.get("before")
        try:
            if folder is None or not isinstance(words, dict):
                raise ConfigError("there is no such run any more")
            done, now = runlist.write(folder, words, before if isinstance(before, dict) else None)
            answer |= {"done": done, "about": now}
        except (OSError, LabDLError) as error:
            answer |= {"error": str(error)}
        self.send(answer)


def _look_often(board: weakref.ref[Runs], over: threading.Event) -> None:
    """As long as the widget is there."""
    while not over.wait(LOOK_SECONDS):
        widget = board()
        if widget is None:
            return
        try:
            widget._look()
        except Exception:  # whatever a dying connection raises
            log.warning("the runs of %s are not followed any more", widget.folder, exc_info=True)
            return
        del widget
