"""Segments of shared memory, one for each batch that is under way."""

from __future__ import annotations

import errno
import os
import sys
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np

from labdl.errors import DataError

_FOLDER = Path("/dev/shm")


def create_segment(size: int) -> SharedMemory:
    """A segment whose pages exist, so that writing cannot fail later. Raises DataError if there is no room."""
    try:
        segment = SharedMemory(create=True, size=size)
    except OSError as error:
        raise _no_room(size, error) from None
    try:
        _reserve(segment, size)
    except OSError as error:
        segment.close()
        segment.unlink()
        raise _no_room(size, error) from None
    return segment


def _reserve(segment: SharedMemory, size: int) -> None:
    """Reserve the pages: without that a process that writes to a full file system is killed by SIGBUS."""
    file = _FOLDER / segment.name.lstrip("/")
    if not hasattr(os, "posix_fallocate") or not file.exists():  # only Linux has such a file system
        return
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.posix_fallocate(descriptor, 0, size)
    finally:
        os.close(descriptor)


def _no_room(size: int, error: OSError) -> DataError:
    if error.errno not in (errno.ENOSPC, errno.ENOMEM, errno.EFBIG):
        return DataError(f"no shared memory of {size / 2**20:,.1f} MiB for a batch: {error}")
    free = ""
    if _FOLDER.exists():
        place = os.statvfs(_FOLDER)
        free = f", {_FOLDER} has {place.f_bavail * place.f_frsize / 2**20:,.1f} MiB left"
    return DataError(
        f"no room in shared memory for a batch of {size / 2**20:,.1f} MiB{free}: use fewer workers or a smaller batch_size, "
        'worker_type="thread", or a larger shared memory (docker run --shm-size=…)'
    )


def attach_segment(name: str) -> SharedMemory:
    """A segment of another process, which alone removes it."""
    if sys.version_info >= (3, 13):
        return SharedMemory(name=name, track=False)
    register = resource_tracker.register
    resource_tracker.register = lambda name, rtype: None  # type: ignore[assignment]
    try:
        return SharedMemory(name=name)
    finally:
        resource_tracker.register = register


def address_of(segment: SharedMemory) -> int:
    """The address of the memory in this process."""
    buffer = segment.buf
    assert buffer is not None
    return np.frombuffer(buffer, np.uint8).ctypes.data
