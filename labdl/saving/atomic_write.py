"""Writing files so that a crash leaves the old one or the new one, never half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(*paths: str | Path) -> Iterator[tuple[BinaryIO, ...]]:
    """Empty files beside the targets, to write into; when the block ends they take the targets' places, one after the other.

    All are whole on the disk before the first takes its place. If anything fails before that, the targets are as they were
    and nothing is left behind. A link is followed: the file that it leads to is replaced.
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
    """Put the names in a folder on the disk: a rename is a change of the folder, which a power failure could undo."""
    if os.name == "posix":  # elsewhere a folder cannot be opened, and the system orders renames itself
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
