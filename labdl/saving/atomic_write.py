"""Atomic file writes: a crash leaves the old file or the new file, never a partial one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replace_files(*paths: str | Path) -> Iterator[tuple[BinaryIO, ...]]:
    """Open temporary files beside the targets; when the block ends they replace the targets, one after the other.

    All are completely on disk before the first replaces its target. If anything fails before that, the targets are unchanged
    and no temporary file remains. Links are followed: the file that a link points to is replaced.
    """
    targets = [Path(os.path.realpath(path)) for path in paths]
    parts = [target.with_name(f".{target.name}.{secrets.token_hex(4)}.part") for target in targets]
    with ExitStack() as cleaning:
        with ExitStack() as opened:
            files = []
            for part in parts:
                files.append(opened.enter_context(open(part, "xb")))
                cleaning.callback(part.unlink, missing_ok=True)
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


def flush_folder(folder: Path) -> None:
    """Sync a folder to disk: a rename changes the folder, and a power failure could undo it."""
    if os.name == "posix":  # elsewhere a folder cannot be opened, and the system orders renames itself
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
