"""Zip archives from elsewhere: the table of contents, which takes twenty times its bytes in memory, is bounded."""

from __future__ import annotations

import struct
import zipfile
from typing import Any, BinaryIO, cast

_TABLE = 1 << 23  # bytes of a table of contents: about 100,000 members


def open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Open the archive in an open file, which stays the caller's. Raises zipfile.BadZipFile and OSError."""
    try:
        archive = zipfile.ZipFile(cast(Any, _BoundedReads(file)))
    except (
        NotImplementedError,
        ValueError,
        OverflowError,
        struct.error,
    ) as error:  # of a table of contents that is wrong
        raise zipfile.BadZipFile(str(error)) from error
    archive.fp = file  # type: ignore[misc]
    return archive


class _BoundedReads:
    """A file without large reads, which while an archive is opened are those of its table of contents."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(_TABLE + 1 if size < 0 else min(size, _TABLE + 1))
        if len(data) > _TABLE:
            raise zipfile.BadZipFile(f"its table of contents has more than {_TABLE:,} bytes")
        return data
