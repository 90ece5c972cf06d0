"""One training of a sweep."""

from __future__ import annotations

import time
from typing import Any

from labdl.train import failures
from labdl.train.run.run import Run


class Trial:
    """One training of a sweep: its ``params``, its ``run``, None if it could not start, and its ``value``.

    ``status`` is that of its run, pruned, or failed if it has no run; ``error`` is the message of its ``exception``, both
    None if it has not failed.
    """

    def __init__(self, number: int, params: dict[str, Any]):
        self.number, self.params = number, params
        self.run: Run | None = None
        self.value: float | None = None
        self.pruned = False
        self.exception: BaseException | None = None
        self._began = time.monotonic()
        self._seconds: float | None = None

    @property
    def status(self) -> str:
        if self.run is None:
            return "failed"
        return "pruned" if self.pruned and not self.run.alive else self.run.status

    @property
    def seconds(self) -> float:
        """Time from its start to its end, or to now."""
        return time.monotonic() - self._began if self._seconds is None else self._seconds

    @property
    def error(self) -> str | None:
        return None if self.exception is None else failures.error_message(self.exception)

    def end(self, exception: BaseException | None) -> None:
        """Set the end of the trial, and its exception if it failed."""
        self._seconds, self.exception = time.monotonic() - self._began, exception

    def describe(self) -> str:
        """The number and the parameters of the trial."""
        return f"trial {self.number} ({', '.join(f'{k}={v!r}' for k, v in self.params.items())})"

    def __repr__(self) -> str:
        return f"Trial({self.number}: {self.status}, {', '.join(f'{k}={v!r}' for k, v in self.params.items())})"
