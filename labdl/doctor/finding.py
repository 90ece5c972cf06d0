"""A finding of `labdl doctor`: a fact about this environment, and the command that mends it where it is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "note", "broken"]


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Examples:
        >>> Finding("NumPy", "1.26.4")
        Finding(topic='NumPy', message='1.26.4', status='ok', command=None)
    """

    topic: str
    message: str
    status: Status = "ok"
    """``"note"`` for what some people want and nothing needs, ``"broken"`` for what does not work."""

    command: str | None = None
    """A command that mends it."""


Check = Callable[[], Iterable[Finding]]


def fault(topic: str, message: str, command: str) -> Finding:
    """A finding that `command` mends."""
    return Finding(topic, message, "broken", command)
