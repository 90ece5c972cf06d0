"""Functions that log their calls on a tape, for frameworks without a hook for that (see `graph.lowering.tape.Tape`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class CallLog:
    """The tape that calls are logged on, if any, and whether a logged call is running."""

    def __init__(self):
        self.tape: Any = None
        self._inside = self.live = False

    def record(self, tape, function: Callable, live: bool = False):
        """Run the function while its calls are logged on the tape."""
        self.tape, self.live = tape, live
        try:
            return function()
        finally:
            self.tape = None

    def log_calls(
        self,
        function: Callable,
        target: Callable | str,
        *,
        bound: bool = False,
        writes: Callable | bool = False,
        live: bool = False,
    ):
        """Wrap a function to log its calls; calls that it makes itself are not logged.

        ``target`` and ``writes`` are those of `graph.lowering.program.Call`, or functions of the arguments that return
        them; with ``bound`` the first argument is the callee and not an argument of the call. With ``live`` calls are
        logged only in recordings that run in this process.
        """

        @functools.wraps(function)
        def run(*args, **kwargs):
            if self.tape is None or self._inside or live > self.live:
                return function(*args, **kwargs)
            self._inside = True
            try:
                result = function(*args, **kwargs)
            finally:
                self._inside = False
            name = target(*args) if callable(target) else target
            self.tape.call(name, args[bound:], kwargs, result, writes(*args) if callable(writes) else writes)
            return result

        return run

    def log_reads(self, method: Callable):
        """Wrap a method by which Python reads a tensor's values, to log the read."""

        @functools.wraps(method)
        def run(value, *args, **kwargs):
            if self.tape is not None and not self._inside:
                self.tape.read(value)
            return method(value, *args, **kwargs)

        return run
