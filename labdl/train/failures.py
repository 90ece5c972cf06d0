"""What ended a run, as a sentence that a person can act on."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from labdl.errors import LabDLError

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

_LONGEST = 2000  # characters of somebody else's message
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
# the frameworks have no class of error in common: what each of them says, or calls its error
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


def explained(error: BaseException, batch_size: int, accumulate: int = 1) -> BaseException:
    """The error to raise instead: with advice where memory or space ran out, else the same."""
    if lacks_memory(error):
        part = batch_size // accumulate
        known = f", or the batch in more parts than accumulate={accumulate}" if accumulate > 1 else \
            ", or accumulate=2 with half of it for the same updates"  # fmt: skip
        advice = (
            f"try a smaller batch_size, such as {part // 2}{known}"
            if part > 1
            else "try a smaller model or smaller samples"
        )
        made: BaseException = MemoryError(f"there was not enough memory for a step with batch_size={part}: {advice} "
                                          f"({first_line(error)})")  # fmt: skip
    elif isinstance(error, OSError) and lacks_space(error):
        place = f" at {error.filename}" if error.filename else ""
        made = OSError(f"the disk is full{place}: what was saved before is whole; free some space, and go on from the latest "
                       "checkpoint with resume=True")  # fmt: skip
        made.errno = error.errno  # type: ignore[attr-defined]
    else:
        return error
    made.__cause__ = error
    return made


@contextmanager
def explaining(trainer: Trainer, batch_size: int | None = None) -> Iterator[None]:
    """Raise what `explained` makes of an error inside; ``batch_size`` is that of the training where it is given one."""
    settings = trainer.settings
    try:
        yield
    except Exception as error:
        size = settings.batch_size if batch_size is None else batch_size
        made = explained(error, size * settings.accumulate, settings.accumulate)
        if made is error:
            raise
        raise made from error


@contextmanager
def keeping(folder: str | Path) -> Iterator[None]:
    """Say of an error in writing a checkpoint where that was, and what is still there; a full disk is `explained`."""
    try:
        yield
    except OSError as error:
        if lacks_space(error):
            raise
        made = type(error)(f"no checkpoint could be written to {folder} ({error.strerror or error}): those before are whole; "
                           "make room for it there, or go on from the latest one with another folder")  # fmt: skip
        made.errno = error.errno
        raise made from error


def sentence(error: BaseException) -> str:
    """What to show of an error; the traceback stands in error.txt."""
    text = str(error).strip()[:_LONGEST]
    if isinstance(error, LabDLError | MemoryError | OSError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def first_line(error: BaseException) -> str:
    """The first words of an error, of which a framework may have pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
