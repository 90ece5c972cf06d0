"""Memory of one sample that serves the next one, instead of being returned to the system and cleared by it again."""

from __future__ import annotations

import functools

import numpy as np

_LARGEST = 32 << 20  # bytes, the most that glibc learns from
_HEADER = 8192


@functools.cache
def keep_freed_memory() -> None:
    """Let the C library keep memory that is freed, once for the process.

    glibc returns arrays above 128 KiB to the system, until the first large one has been freed: from then on it keeps
    all up to that size, and up to twice as much in total for each thread. The pages of a fresh array cost more time
    than the transforms that fill it. Other C libraries decide on their own. Source: mallopt(3), M_MMAP_THRESHOLD.
    """
    np.empty(_LARGEST - _HEADER, np.uint8)  # freed at once; its pages are never touched
