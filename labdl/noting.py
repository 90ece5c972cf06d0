"""Functions that note their calls, for frameworks that tell nobody what they are asked (see `labdl.graph.flat.Tape`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class Notes:
    """The tape that is written to, if any, and whether a call within a noted call is under way."""

    def __init__(self):
        self.tape: Any = None
        self._inside = self.live = False

    def onto(self, tape, function: Callable, live: bool = False):
        """Run the function while its calls are noted on the tape."""
        self.tape, self.live = tape, live
        try:
            return function()
        finally:
            self.tape = None

    def noting(self, function: Callable, target: Callable | str, *, bound: bool = False, writes: Callable | bool = False,
               live: bool = False):  # fmt: skip
        """The function, noting each call; of what it calls itself nothing is noted.

        ``target`` and ``writes`` are those of `labdl.graph.flat.Call`, or functions of the arguments that give them; with
        ``bound`` the first argument is what is called and no argument of the call. With ``live`` calls are noted only in
        recordings that are to run in this process.
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

    def reading(self, method: Callable):
        """A method by which Python looks at a tensor's values, telling the tape."""

        @functools.wraps(method)
        def run(value, *args, **kwargs):
            if self.tape is not None and not self._inside:
                self.tape.read(value)
            return method(value, *args, **kwargs)

        return run
