"""A fair lock, by which the threads of a process compute one at a time, in the order of their requests."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """A reentrant lock that is passed to the thread that has waited longest; with `threading.RLock` one could starve.

    Steps of two models must not overlap: compilation temporarily replaces operators of a backend in the whole process, and
    MindSpore mixes up operations of different threads. The lock is reentrant for callbacks that call `labdl.predict`.
    """

    def __init__(self):
        self._own, self._holder, self._depth = threading.Lock(), 0, 0
        self._waiting: deque[tuple[int, threading.Lock]] = deque()

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._own:
            if self._holder in (0, me):
                self._holder, self._depth = me, self._depth + 1
                return
            granted = threading.Lock()
            granted.acquire()
            self._waiting.append((me, granted))
        try:
            granted.acquire()  # blocks until the holder before releases it
        except BaseException:  # Ctrl-C: leave the queue, or pass the lock on if it has been granted
            with self._own:
                if self._holder == me:
                    self._pass_on()
                else:
                    self._waiting.remove((me, granted))
            raise

    def __exit__(self, *_) -> None:
        with self._own:
            self._depth -= 1
            if not self._depth:
                self._pass_on()

    def _pass_on(self) -> None:
        self._holder, self._depth = 0, 0
        if self._waiting:
            self._holder, granted = self._waiting.popleft()
            self._depth = 1
            granted.release()


compute_lock = FairLock()
