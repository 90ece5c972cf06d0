"""Registry of active runs, which are stopped and saved when the program ends."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import thread as pools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labdl.train.run.run import Run

log = logging.getLogger(__name__)
GRACE = 10.0  # seconds after a SIGTERM in which runs end and are saved; a second one ends the process at once


class ActiveRuns(weakref.WeakSet):
    """The runs that have not ended yet."""

    def __init__(self):
        super().__init__()
        self.exiting = False  # True when the program ends
        self._listeners: list[Callable[[Run], None]] = []

    def watch(self, listener: Callable[[Run], None]) -> Callable[[], None]:
        """Call the listener with each run that starts from now on; returns a function that ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def add(self, item: Run) -> None:
        super().add(item)
        _handle_sigterm()
        for listener in list(self._listeners):
            try:
                listener(item)
            except Exception:  # an error of a listener must not stop the run
                log.exception("the listener %s failed at the start of run %s", listener, item.id)


active_runs = ActiveRuns()
_process = os.getpid()


def _stop_all(grace: float | None = None) -> None:
    """Stop all active runs before the interpreter shuts down, and wait for them, at most ``grace`` seconds."""
    if os.getpid() != _process:  # a forked process does not have the threads of the runs
        return
    active_runs.exiting = True
    runs = list(active_runs)
    for run in runs:
        log.warning(
            "the program ends: run %s is stopped after the current step; call its wait() to let it finish",
            run.id,
        )
        run.stop()
    end = None if grace is None else time.monotonic() + grace
    for run in runs:
        run._done.wait(None if end is None else max(0.0, end - time.monotonic()))


def _handle_sigterm() -> None:
    """Stop and save the runs at a SIGTERM, unless the program has a handler of its own.

    Jupyter sends it to a kernel that is restarted while a cell is executed, and so do `kill` and batch systems; a process
    that has no handler for it ends without the callbacks below.
    """
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def _on_sigterm(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _stop_all(GRACE)
    os.kill(os.getpid(), signal.SIGTERM)


# `atexit` is too late: by then thread pools of concurrent.futures, which saving uses, accept no work. These callbacks run in
# reverse order, and importing concurrent.futures.thread registers that of the pools first.
assert pools
threading._register_atexit(_stop_all)  # type: ignore[attr-defined]
