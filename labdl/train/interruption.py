"""Ctrl-C, or a notebook's stop button, during a training in the cell or script itself."""

from __future__ import annotations

import signal
import threading
from typing import Any, Self


class Interruption:
    """Counts the presses of Ctrl-C within a block, and raises KeyboardInterrupt from the second one on.

    Frameworks do not expect Python exceptions at any place: PaddlePaddle turns a KeyboardInterrupt into an OSError, and an
    update that is left in the middle changes a part of the parameters. So a training looks at ``count`` after each step, and
    a second Ctrl-C ends what takes too long. A handler of SIGINT that the program has installed itself is left alone.
    """

    def __init__(self):
        self.count = 0
        self._installed = False

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, number: int, frame: Any) -> None:
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt
