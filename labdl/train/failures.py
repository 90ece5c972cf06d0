"""Error messages of a training that say what to do: memory, disk space and files."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labdl.errors import LabDLError

_LONGEST = 2000  # characters of somebody else's message
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
# the frameworks have no error class in common: their messages and names
_NO_MEMORY = re.compile(
    r"out of memory|OOM when allocating|allocate memory|alloc memory|memory not enough", re.IGNORECASE
)
_NO_MEMORY_KINDS = {"OutOfMemoryError", "ResourceExhaustedError"}


def lacks_memory(error: BaseException) -> bool:
    """Whether this is Python's own error for a lack of memory, or a framework's."""
    if isinstance(error, MemoryError) or type(error).__name__ in _NO_MEMORY_KINDS:
        return True
    return isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error)) is not None


def lacks_space(error: BaseException) -> bool:
    """Whether a disk, or somebody's share of it, is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def explain(error: BaseException, batch_size: int, accumulate: int = 1) -> BaseException:
    """The error to raise instead: with advice where memory or disk space ran out, else the same error."""
    if lacks_memory(error):
        part = batch_size // accumulate
        known = (
            f", or the batch in more parts than accumulate={accumulate}"
            if accumulate > 1
            else ", or accumulate=2 with half of it for the same updates"
        )
        advice = (
            f"try a smaller batch_size, such as {part // 2}{known}"
            if part > 1
            else "try a smaller model or smaller samples"
        )
        better: BaseException = MemoryError(
            f"there was not enough memory for a step with batch_size={part}: {advice} ({first_line(error)})"
        )
    elif isinstance(error, OSError) and lacks_space(error):
        place = f" at {error.filename}" if error.filename else ""
        better = OSError(
            f"the disk is full{place}: what was saved before is whole; free some space, and go on from the latest "
            "checkpoint with resume=True"
        )
        better.errno = error.errno  # type: ignore[attr-defined]
    else:
        return error
    better.__cause__ = error
    return better


@contextmanager
def explain_errors(batch_size: int, accumulate: int = 1) -> Iterator[None]:
    """A context that raises errors as `explain` returns them; a step has ``accumulate`` batches of ``batch_size``."""
    try:
        yield
    except Exception as error:
        better = explain(error, batch_size * accumulate, accumulate)
        if better is error:
            raise
        raise better from error


@contextmanager
def explain_write_errors(folder: str | Path) -> Iterator[None]:
    """A context that adds the folder and advice to errors of writing a checkpoint; a full disk is left to `explain`."""
    try:
        yield
    except OSError as error:
        if lacks_space(error):
            raise
        better = type(error)(
            f"no checkpoint could be written to {folder} ({error.strerror or error}): those before are whole; "
            "make room for it there, or go on from the latest one with another folder"
        )
        better.errno = error.errno
        raise better from error


def error_message(error: BaseException) -> str:
    """The message of an error for display; the traceback is in error.txt."""
    text = str(error).strip()[:_LONGEST]
    if isinstance(error, LabDLError | MemoryError | OSError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def first_line(error: BaseException) -> str:
    """The first line of an error message, which may be pages long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
