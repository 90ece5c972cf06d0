"""Opening of files from elsewhere: regular files only, so that no read waits for a writer or goes on forever."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

from labdl.errors import FileFormatError, MissingFileError, NotRegularFileError

_FLAGS = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))


def open_file(path: str | Path) -> io.BufferedReader:
    """Open a regular file for reading in binary mode; links are followed.

    Raises MissingFileError where there is none, NotRegularFileError for a folder, a device, a pipe, and links in a circle.
    """
    return os.fdopen(_open(path)[0], "rb")


def _open(path: str | Path) -> tuple[int, int]:
    """The descriptor of a regular file, and its size in bytes. Raises as `open_file`."""
    try:
        _check_regular(path, os.stat(path).st_mode)  # opening a device may already have an effect
        handle = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"there is no file {path}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotRegularFileError(f"{path} is a link in a circle of links, not a file") from None
        raise
    try:
        status = os.fstat(handle)
        _check_regular(path, status.st_mode)  # it may have been replaced in between
    except BaseException:
        os.close(handle)
        raise
    return handle, status.st_size


def size_of(file: BinaryIO) -> int:
    """Size in bytes of an open file."""
    return os.fstat(file.fileno()).st_size


def read_file(path: str | Path, most: int | None = None, what: str = "file of its kind") -> bytes:
    """Read the bytes of a regular file. Raises as `open_file`, and FileFormatError for one of more than ``most`` bytes."""
    handle, size = _open(path)
    try:
        if most is not None and size > most:
            raise FileFormatError(f"{Path(path).name} has {size:,} bytes, more than any {what} needs, and is not read")
        data = os.read(handle, size)  # half the time of a file object, which counts for pictures
        if len(data) == size:
            return data
        pieces = [data]  # the system gives two gigabytes at most, and less of some file systems
        while size > (length := sum(map(len, pieces))) and (data := os.read(handle, size - length)):
            pieces.append(data)
        return b"".join(pieces)
    finally:
        os.close(handle)


def _check_regular(path: str | Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise NotRegularFileError(f"{path} is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise NotRegularFileError(f"{path} is a device or a pipe, not a file")
