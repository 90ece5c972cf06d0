"""Registry of active runs, which are stopped and saved when the program ends."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import thread as pools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labdl.train.run.run import Run

log = logging.getLogger(__name__)


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
        for listener in list(self._listeners):
            try:
                listener(item)
            except Exception:  # an error of a listener must not stop the run
                log.exception("the listener %s failed at the start of run %s", listener, item.id)


active_runs = ActiveRuns()
_process = os.getpid()


def _stop_all() -> None:
    """Stop all active runs before the interpreter shuts down."""
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
    for run in runs:
        run._done.wait()


# `atexit` is too late: by then thread pools of concurrent.futures, which saving uses, accept no work. These callbacks run in
# reverse order, and importing concurrent.futures.thread registers that of the pools first.
assert pools
threading._register_atexit(_stop_all)  # type: ignore[attr-defined]
