"""Notebook output of a run: the live dashboard if there is a kernel or a folder, otherwise a static image of its curves.

The output has several forms, of which a page shows the one it knows best: ours, by which JupyterLab finds the folder of the
run whatever has become of the kernel; the widget, for other programs with a kernel; and a picture of at most 20 KB, for pages
with neither, such as GitHub and nbviewer.
"""

from __future__ import annotations

import contextvars
import html
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget

from labdl import runs
from labdl.errors import LabDLError

RUN, FOLDER = "application/vnd.labdl.run.v1+json", "application/vnd.labdl.runs.v1+json"
PICTURE = "image/svg+xml"
_SOON = 2.0  # seconds to the first new picture; from then on they come at doubling intervals
log = logging.getLogger(__name__)


def place(folder: Path) -> dict[str, Any]:
    """Where a folder lies: from the folder in which the kernel works, which mostly is the notebook's, and from the root."""
    whole = folder.resolve()
    beside = Path(os.path.relpath(whole)).as_posix() if whole.anchor == Path.cwd().anchor else None
    return {"version": 1, "folder": whole.as_posix(), "beside": beside}


def picture(folder: Path) -> dict[str, Any]:
    """The run so far as the forms of an output that stay the same when nobody is there."""
    record = runs.open(folder)
    return {RUN: {**place(folder), "final": not record.alive}, PICTURE: record.to_svg()}


class Output:
    """A run in the output of a cell, whose picture is renewed while it goes on, and when it has ended.

    ``publish(data, update)`` sends all forms of the output, to be shown or to replace what was shown before.
    """

    def __init__(self, run: Any, widget: dict[str, Any], publish: Callable[[dict[str, Any], bool], None]):
        self._run, self._widget, self._publish = run, widget, publish
        self._wait, self._next = _SOON, time.monotonic() + _SOON
        publish(self._forms(), False)
        self._shown = threading.Event()
        self._leave = run.subscribe(self._hear)
        self._shown.set()

    def _hear(self, events: list[dict[str, Any]]) -> None:
        """In a thread of the run."""
        ended = any(event["kind"] == "end" for event in events)
        if not ended and (not self._shown.is_set() or time.monotonic() < self._next):
            return
        try:
            # not as a message of the cell that began the run: who runs a notebook without a page hears the cell at work only
            contextvars.Context().run(self._publish, self._forms(ended), True)
        except Exception:  # whatever a dying connection raises; training does not end with its notebook
            log.warning("the output of run %s is not renewed any more", self._run.folder, exc_info=True)
            self._leave()
        self._wait *= 2
        self._next = time.monotonic() + self._wait

    def _forms(self, ended: bool = False) -> dict[str, Any]:
        forms = {**self._widget, "text/plain": repr(self._run), RUN: {**place(self._run.folder), "final": False}}
        try:
            forms |= picture(self._run.folder)
        except (OSError, LabDLError):  # nothing is there yet, or nothing any more
            log.debug("no picture of run %s", self._run.folder, exc_info=True)
        if ended:
            forms[RUN]["final"] = True
        return forms


def mime_bundle(widget: anywidget.AnyWidget) -> dict[str, Any]:
    """Those of a widget by itself."""
    bundle = widget._repr_mimebundle_()
    return bundle[0] if isinstance(bundle, tuple) else bundle or {}


def show(run: Any, widget: dict[str, Any]) -> None:
    """Show a run in the cell at work, in all forms; ``widget`` are those of the widget."""
    shell = _shell()
    if shell is None:
        print(run)
        return
    identity = secrets.token_hex(16)

    def publish(data: dict[str, Any], update: bool) -> None:
        shell.display_pub.publish(data=data, metadata={}, transient={"display_id": identity}, update=update)

    Output(run, widget, publish)


def show_runs(of: Any, folder: Path, widget: dict[str, Any]) -> None:
    """Show the runs of a folder in the cell at work; where nobody is there to show them, ``of`` says how they stood."""
    shell = _shell()
    if shell is None:
        print(of)
        return
    identity = secrets.token_hex(16)

    def publish(update: bool) -> None:
        table = of._repr_html_() if hasattr(of, "_repr_html_") else f"<pre>{html.escape(str(runs.list(folder)))}</pre>"
        data = {**widget, "text/plain": repr(of), "text/html": table, FOLDER: place(folder)}
        shell.display_pub.publish(data=data, metadata={}, transient={"display_id": identity}, update=update)

    def last() -> None:
        of.wait()
        publish(True)

    publish(False)
    if getattr(of, "alive", False):  # a race or a sweep: when it is over, the notebook keeps how it ended
        threading.Thread(target=last, name="labdl-output", daemon=True).start()


def _shell():
    from IPython.core.getipython import get_ipython

    return get_ipython()
