"""Atomic file writes: a crash leaves the old file or the new file, never a partial one."""

from __future__ import annotations

import glob
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from labdl.bounded.files import open_file
from labdl.errors import MissingFileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_ABANDONED_SECONDS = 60.0  # since the last write to a temporary file that no process has locked


@contextmanager
def replace_files(*paths: str | Path) -> Iterator[tuple[BinaryIO, ...]]:
    """Open temporary files beside the targets; when the block ends they replace the targets, one after the other.

    All are completely on disk before the first replaces its target. If anything fails before that, the targets are unchanged
    and no temporary file remains; one that a killed process left is removed by the next write of its target. Links are
    followed: the file that a link points to is replaced.
    """
    targets = [Path(os.path.realpath(path)) for path in paths]
    parts = [target.with_name(f".{target.name}.{secrets.token_hex(4)}.part") for target in targets]
    with ExitStack() as cleaning:
        with ExitStack() as opened:
            files = []
            for part, target in zip(parts, targets, strict=True):
                files.append(opened.enter_context(_create(part, target)))
                cleaning.callback(part.unlink, missing_ok=True)
                _lock(files[-1])
            for target in targets:
                _remove_abandoned_parts(target)
            yield tuple(files)
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        for part, target in zip(parts, targets, strict=True):
            if target.exists():
                os.chmod(part, target.stat().st_mode & 0o777)
        for part, target in zip(parts, targets, strict=True):
            os.replace(part, target)
        for folder in dict.fromkeys(target.parent for target in targets):
            flush_folder(folder)


def _create(part: Path, target: Path) -> BinaryIO:
    """Create a temporary file. Errors name its target, and the folder that does not exist."""
    try:
        return open(part, "xb")
    except FileNotFoundError:
        raise MissingFileError(f"there is no folder {target.parent}: create it first") from None
    except OSError as error:
        error.filename = str(target)
        raise


def _remove_abandoned_parts(target: Path) -> None:
    """Remove temporary files of a target that no process is writing, because the one that did was killed."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part")
    for path in [p for p in target.parent.glob(f".{glob.escape(target.name)}.*.part") if name.fullmatch(p.name)]:
        with suppress(OSError):  # another process removed it, or Windows, where an open file cannot be removed
            if time.time() - path.stat().st_mtime < _ABANDONED_SECONDS:
                continue  # perhaps not locked yet
            with open_file(path) as file:  # a pipe of that name would wait for its writer
                free = _lock(file)
            if free:
                path.unlink()


def _lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; False if another process has locked it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def flush_folder(folder: Path) -> None:
    """Sync a folder to disk: a rename changes the folder, and a power failure could undo it."""
    if os.name == "posix":  # elsewhere a folder cannot be opened, and the system orders renames itself
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
