"""Error messages of a training with advice: out of memory, out of disk space, and unwritable files."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labdl.errors import LabDLError, message_of

_LONGEST = 2000  # characters of an error message
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
# the frameworks have no common error class: parts of their messages, and names of their classes
_NO_MEMORY = re.compile(
    r"out of memory|OOM when allocating|allocate memory|alloc memory|memory not enough", re.IGNORECASE
)
_NO_MEMORY_KINDS = {"OutOfMemoryError", "ResourceExhaustedError"}


def lacks_memory(error: BaseException) -> bool:
    """Return True for an out-of-memory error of Python or of a framework."""
    if isinstance(error, MemoryError) or type(error).__name__ in _NO_MEMORY_KINDS:
        return True
    return isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error)) is not None


def lacks_space(error: BaseException) -> bool:
    """Return True if the disk or the quota of the user is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def explain(error: BaseException, batch_size: int, accumulate: int = 1) -> BaseException:
    """Return an error with advice for a lack of memory or disk space; other errors are returned unchanged."""
    if lacks_memory(error):
        part = batch_size // accumulate
        option = (
            f", or the batch in more parts than accumulate={accumulate}"
            if accumulate > 1
            else ", or accumulate=2 with half of it for the same updates"
        )
        advice = (
            f"try a smaller batch_size, such as {part // 2}{option}"
            if part > 1
            else "try a smaller model or smaller samples"
        )
        better: BaseException = MemoryError(
            f"there was not enough memory for a step with batch_size={part}: {advice} ({first_line(error)})"
        )
    elif isinstance(error, OSError) and lacks_space(error):
        place = f" at {error.filename}" if error.filename else ""
        better = OSError(
            f"the disk is full{place}: files that were saved before are intact; free some space, and resume from the "
            "latest checkpoint with resume=True"
        )
        better.errno = error.errno  # type: ignore[attr-defined]
    else:
        return error
    better.__cause__ = error
    return better


@contextmanager
def explain_errors(batch_size: int, accumulate: int = 1) -> Iterator[None]:
    """A context that raises errors as returned by `explain`; a step has ``accumulate`` batches of ``batch_size``."""
    try:
        yield
    except Exception as error:
        better = explain(error, batch_size * accumulate, accumulate)
        if better is error:
            raise
        raise better from error


@contextmanager
def explain_write_errors(folder: str | Path) -> Iterator[None]:
    """A context that adds the folder and advice to errors of writing a checkpoint, except a full disk: see `explain`."""
    try:
        yield
    except OSError as error:
        if lacks_space(error):
            raise
        better = type(error)(
            f"no checkpoint could be written to {folder} ({error.strerror or error}): earlier ones are intact; make "
            "the folder writable, or resume from the latest one with another folder"
        )
        better.errno = error.errno
        raise better from error


def error_message(error: BaseException) -> str:
    """Message of an error for display; the traceback is in error.txt."""
    text = message_of(error).strip()[:_LONGEST]
    if isinstance(error, LabDLError | MemoryError | OSError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def first_line(error: BaseException) -> str:
    """First line of an error message; those of frameworks may be pages long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
