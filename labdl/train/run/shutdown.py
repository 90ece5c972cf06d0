"""Runs at the end of the program: they are stopped after the step under way, and what they keep is saved."""

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


class Running(weakref.WeakSet):
    """The runs that have not ended yet."""

    def __init__(self):
        super().__init__()
        self.over = False  # whether the program has come to its end
        self._watchers: list[Callable[[Run], None]] = []

    def watch(self, heard: Callable[[Run], None]) -> Callable[[], None]:
        """Call ``heard`` with each run that begins from now on; returns the end of that."""
        self._watchers.append(heard)
        return lambda: self._watchers.remove(heard) if heard in self._watchers else None

    def add(self, item: Run) -> None:
        super().add(item)
        for heard in list(self._watchers):
            try:
                heard(item)
            except Exception:  # who looks on must not keep a run from training
                log.exception("%s raised an error when run %s began", heard, item.id)


running = Running()
_process = os.getpid()


def _stop_all() -> None:
    """Stop what still runs while a step can still use all that it needs."""
    if os.getpid() != _process:  # the runs of a process that was forked off stayed behind
        return
    running.over = True
    runs = list(running)
    for run in runs:
        log.warning(
            "the program has come to its end: run %s is stopped after the step under way; call its wait() to let it "
            "finish",
            run.id,
        )
        run.stop()
    for run in runs:
        run._done.wait()


# `atexit` comes too late: by then Python's own pools take no work any more, and saving has one. Python calls what stands
# here in reverse order, so that behind the pools' own entry, which importing them has made, this one comes first.
assert pools
threading._register_atexit(_stop_all)  # type: ignore[attr-defined]
