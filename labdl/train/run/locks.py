"""A fair lock: the threads of a process compute one at a time, in the order of their requests."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """A lock that is handed on to whoever has waited longest; a plain lock would let one thread take it again and again.

    Compiling puts other operators in the place of a backend's own for a moment, in the whole process, and MindSpore mixes up
    the operations of threads: steps of two models must not overlap. Who has the turn may take it again inside of it, as a
    callback does that predicts.
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
            handed = threading.Lock()
            handed.acquire()
            self._waiting.append((me, handed))
        try:
            handed.acquire()  # until the one before hands on
        except BaseException:  # Ctrl-C: nobody must hand on to who has gone
            with self._own:
                if self._holder == me:
                    self._hand_on()
                else:
                    self._waiting.remove((me, handed))
            raise

    def __exit__(self, *_) -> None:
        with self._own:
            self._depth -= 1
            if not self._depth:
                self._hand_on()

    def _hand_on(self) -> None:
        self._holder, self._depth = 0, 0
        if self._waiting:
            self._holder, handed = self._waiting.popleft()
            self._depth = 1
            handed.release()


turns = FairLock()
