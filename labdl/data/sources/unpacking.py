"""Archives of data sets unpacked into a folder: all members stay below it, and their number and size are bounded."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from labdl.bounded.archives import open_archive
from labdl.bounded.files import open_file, size_of
from labdl.errors import FileFormatError

_MOST_MEMBERS = 1_000_000
_EXPANSION, _LEAST = 40, 64 << 20  # bytes of all members: that many times those of the archive, or this number
_BLOCK = 1 << 20


def unpack(archive: Path, folder: Path, *, checked: bool = False) -> Path:
    """Unpack a zip or tar archive into a folder that appears when all is in it; links and devices are left out.

    ``checked`` says that the content has been compared with a published hash. Raises FileFormatError for a broken archive,
    for a member that leads out of the folder, and for one that unpacks to more than 40 times its size.
    """
    for abandoned in folder.parent.glob(f".{folder.name}.*"):  # by a process that was killed
        shutil.rmtree(abandoned, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with open_file(archive) as file:
            left = max(_LEAST, _EXPANSION * size_of(file))
            for count, (name, source) in enumerate(_members(file, archive.name, checked)):
                if count >= _MOST_MEMBERS:
                    raise FileFormatError(f"{archive.name} has more than {_MOST_MEMBERS:,} members")
                target = partial / check_name(name, archive.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                left = _copy(source, target, left, archive.name)
        os.chmod(partial, 0o755)
        os.replace(partial, folder)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, RuntimeError) as error:
        raise FileFormatError(f"{archive.name} is a broken archive: {error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _members(file: BinaryIO, name: str, checked: bool) -> Iterator[tuple[str, IO[bytes]]]:
    """Names and contents of the regular files."""
    if name.endswith(".zip"):
        # the table of contents of COCO has more bytes than open_archive takes
        with zipfile.ZipFile(file) if checked else open_archive(file) as archive:
            for info in archive.infolist():
                if not info.is_dir() and (info.external_attr >> 28) in (0, 8):
                    with archive.open(info) as source:
                        yield info.filename, source
        return
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for member in archive:
            archive.members = []  # type: ignore[attr-defined]  # tarfile would keep all of them in memory
            if member.isreg() and (source := archive.extractfile(member)) is not None:
                yield member.name, source


def check_name(name: str, archive: str) -> str:
    """The path of a member below the folder. Raises FileFormatError for one that leads out of it."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if name.startswith(("/", "\\")) or ".." in parts or not parts or re.match("[A-Za-z]:", name) or "\0" in name:
        raise FileFormatError(
            f"{archive} has the member {name!r:.100}, which leads out of its folder: nothing is unpacked"
        )
    return "/".join(parts)


def _copy(source: IO[bytes], target: Path, left: int, archive: str) -> int:
    """Copy a member; returns how many bytes may still follow."""
    try:
        with open(target, "xb") as file:
            while block := source.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    raise FileFormatError(
                        f"{archive} unpacks to more than {_EXPANSION} times its size and is not read further"
                    )
                file.write(block)
    except (FileExistsError, NotADirectoryError):
        raise FileFormatError(f"{archive} has two members {target.name!r:.80}") from None
    return left
