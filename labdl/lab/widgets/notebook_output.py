"""Notebook output of a run: the live dashboard if there is a kernel or a folder, otherwise a static image of its curves.

The output has several MIME types, of which a page shows the best that it supports: LabDL's own, with which JupyterLab finds
the folder of the run without the kernel; the widget, for other programs with a kernel; and an image of at most 20 KB, for
pages with neither, such as GitHub and nbviewer. Without a page, as nbconvert runs a notebook, there is no widget in the output.
"""

from __future__ import annotations

import contextlib
import contextvars
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
from labdl.lab.widgets.base import VIEW

RUN, FOLDER = "application/vnd.labdl.run.v1+json", "application/vnd.labdl.runs.v1+json"
PICTURE = "image/svg+xml"
_SOON = 2.0  # seconds to the first new image; then at doubling intervals
log = logging.getLogger(__name__)


def place(folder: Path) -> dict[str, Any]:
    """Paths of a folder: relative to the kernel's working folder, mostly the notebook's, and absolute."""
    whole = folder.resolve()
    beside = Path(os.path.relpath(whole)).as_posix() if whole.anchor == Path.cwd().anchor else None
    return {"version": 1, "folder": whole.as_posix(), "beside": beside}


class Output:
    """A run in the output of a cell, whose image is updated during the run and at its end.

    ``publish(data, update)`` sends all MIME types of the output, to display or to update it. Without a page messages between
    two cells are lost: ``after_cell(function)`` calls a function after the next cell, which sends the end once more.
    """

    def __init__(
        self,
        run: Any,
        widget: dict[str, Any],
        publish: Callable[[dict[str, Any], bool], None],
        after_cell: Callable[[Callable[[], None]], None] = lambda function: None,
    ):
        self._run, self._widget, self._publish, self._after_cell = run, widget, publish, after_cell
        self._wait, self._next = _SOON, time.monotonic() + _SOON
        publish(self._forms(), False)
        self._shown = threading.Event()
        self._leave = run.subscribe(self._on_events)
        self._shown.set()

    def _on_events(self, events: list[dict[str, Any]]) -> None:
        """Update the output from a thread of the run."""
        ended = any(event["kind"] == "end" for event in events)
        if not ended and (not self._shown.is_set() or time.monotonic() < self._next):
            return
        try:
            # sent as a message of the running cell: without a page, only messages of that cell are received
            contextvars.Context().run(self._publish, self._forms(ended), True)
        except Exception:  # any error of a closing connection; it must not end the training
            log.warning("the output of run %s is no longer updated", self._run.folder, exc_info=True)
            self._leave()
        if ended:
            self._after_cell(lambda: self._publish(self._forms(ended), True))
        self._wait *= 2
        self._next = time.monotonic() + self._wait

    def _forms(self, ended: bool = False) -> dict[str, Any]:
        forms = {**self._widget, "text/plain": repr(self._run), RUN: {**place(self._run.folder), "final": False}}
        try:
            record = runs.open(self._run.folder)
            forms |= {RUN: {**place(self._run.folder), "final": not record.alive}, PICTURE: record.to_svg()}
            if record.status == "failed" and record.error:
                forms["text/plain"] += f"\n{record.error}"
        except (OSError, LabDLError):  # not written yet, or deleted
            log.debug("no image of run %s", self._run.folder, exc_info=True)
        if ended:
            forms[RUN]["final"] = True
        return forms


def mime_bundle(widget: anywidget.AnyWidget) -> dict[str, Any]:
    """The MIME data of a widget."""
    bundle = widget._repr_mimebundle_()
    return bundle[0] if isinstance(bundle, tuple) else bundle or {}


def show(run: Any, widget: dict[str, Any]) -> None:
    """Show a run in the running cell, in all MIME types; without a page the MIME data ``widget`` have no view."""
    shell = _shell()
    if shell is None:
        print(run)
        return
    identity = secrets.token_hex(16)

    def publish(data: dict[str, Any], update: bool) -> None:
        shell.display_pub.publish(data=data, metadata={}, transient={"display_id": identity}, update=update)

    def after_cell(function: Callable[[], None]) -> None:
        def call(_result: Any) -> None:
            shell.events.unregister("post_run_cell", call)
            function()

        shell.events.register("post_run_cell", call)

    Output(run, widget, publish, *([] if VIEW in widget else [after_cell]))


def show_runs(of: Any, folder: Path, widget: dict[str, Any], keep: Callable[[str], None] = lambda table: None) -> None:
    """Show the runs of a folder in the running cell; without a kernel the text of ``of`` is shown.

    ``keep`` receives the table as text, whenever it is published. Without a page messages between two cells are lost: the
    end is sent once more after the cell in which it was reached.
    """
    shell = _shell()
    if shell is None:
        print(of)
        return
    identity = secrets.token_hex(16)

    def publish(update: bool) -> None:
        listed = of.table() if hasattr(of, "table") else runs.list(folder)
        table = listed._repr_html_()
        keep(str(listed))
        data = {**widget, "text/plain": repr(of), "text/html": table, FOLDER: place(folder)}
        shell.display_pub.publish(data=data, metadata={}, transient={"display_id": identity}, update=update)

    def last() -> None:
        with contextlib.suppress(Exception):  # the error of a trial, where all have failed; the table has it too
            of.wait()
        publish(True)

    def after_cell(_result: Any) -> None:
        if not of.alive:
            shell.events.unregister("post_run_cell", after_cell)
            publish(True)

    publish(False)
    if getattr(of, "alive", False):  # a race or a sweep: the notebook keeps its final state
        if VIEW not in widget:
            shell.events.register("post_run_cell", after_cell)
        threading.Thread(target=last, name="labdl-output", daemon=True).start()


def _shell():
    from IPython.core.getipython import get_ipython

    return get_ipython()
