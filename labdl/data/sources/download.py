"""Download of files by pooch: a broken download goes on where it stopped, and the content is checked by its hash."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from labdl.data.sources.known_set import RemoteFile
from labdl.errors import DataError, FileFormatError, MissingFileError

_LARGEST = 64 << 30  # bytes of a download; the largest known file has 31 GB
_BLOCK = 1 << 16
_ATTEMPTS = 4  # connections for one file, as long as each brings some bytes
_TIMEOUT = (10, 60)  # seconds to connect, and to wait for the next bytes


class ResumingDownloader:
    """A downloader for pooch that keeps what arrived in a file ``part`` and asks for the rest by an HTTP range request.

    The rest is taken only if the server says that the file is the same, by its ETag or date, or if its hash will be checked.
    """

    def __init__(self, part: Path, *, checked: bool, progress: bool = True):
        self.part, self.checked, self.progress = part, checked, progress
        self.resumed = False
        self._version = part.with_name(part.name + ".version")

    def __call__(self, url: str, output_file: Any, pooch: Any, check_only: bool | None = None) -> None:
        """Download a file to a path. Raises requests.RequestException."""
        import requests

        before = -1
        for attempt in range(_ATTEMPTS):
            try:
                self._receive(url)
                break
            except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError, requests.Timeout):
                size = self._size()
                if attempt == _ATTEMPTS - 1 or size <= max(before, 0):
                    raise
                before = size
        os.replace(self.part, output_file)
        self._version.unlink(missing_ok=True)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _receive(self, url: str) -> None:
        import requests

        start = self._size()
        version = self._version.read_text("utf-8") if self._version.exists() else ""
        headers = {"Accept-Encoding": "identity"}  # or a range would be one of compressed bytes
        if start and (version or self.checked):
            headers["Range"] = f"bytes={start}-"
            if version:
                headers["If-Range"] = version
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                return self._restart(url)  # what arrived before is longer than the file: of another one
            response.raise_for_status()
            resumed = response.status_code == requests.codes.partial_content
            length = response.headers.get("Content-Length", "")
            if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                return self._restart(url)
            self.resumed |= resumed
            start = start if resumed else 0
            total = start + int(length) if length.isdecimal() else None
            self._check_room(url, total, start)
            self._version.write_text(_version_of(response.headers), "utf-8")
            self._write(response, "ab" if resumed else "wb", start, total)
        if total is not None and self._size() < total:
            raise requests.ConnectionError(f"the connection broke after {self._size():,} of {total:,} bytes")

    def _restart(self, url: str) -> None:
        self.part.unlink()  # without it no range is asked for
        self._receive(url)

    def _write(self, response: Any, mode: str, start: int, total: int | None) -> None:
        from tqdm.auto import tqdm

        name = self.part.name.removesuffix(".part")
        with (
            open(self.part, mode) as file,
            tqdm(total=total, initial=start, unit="B", unit_scale=True, desc=name, disable=not self.progress) as bar,
        ):
            response.raw.enforce_content_length = False  # or the last bytes before a break would be thrown away
            for block in response.iter_content(_BLOCK):
                start += len(block)
                if start > _LARGEST:
                    raise DataError(f"{response.url} is larger than {_LARGEST >> 30} GiB and is not downloaded")
                file.write(block)
                bar.update(len(block))

    def _check_room(self, url: str, total: int | None, start: int) -> None:
        free = shutil.disk_usage(self.part.parent).free
        if total is not None and total > _LARGEST:
            raise DataError(f"{url} is larger than {_LARGEST >> 30} GiB and is not downloaded")
        if total is not None and total - start > free:
            raise DataError(f"{url} wants {total - start:,} bytes in {self.part.parent}, which has {free:,} free")


def _version_of(headers: Any) -> str:
    """The strong ETag of an answer or its date, for If-Range; "" if the server sends none."""
    tag = headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")


def fetch(file: RemoteFile, folder: Path, *, title: str, progress: bool = True, otherwise: str = "") -> Path:
    """The path of a file in a folder, downloaded unless it is there with the right hash.

    Raises FileFormatError for a file with another hash or size, and MissingFileError, which says what to put where, if it
    cannot be downloaded; ``otherwise`` ends that sentence with another way, by default the folder of data sets.
    """
    otherwise = otherwise or f"name the folder that has {folder.name}/{file.name} by root= or LABDL_DATA"
    import requests

    path, reasons = folder / file.name, []
    if is_complete(path, file):
        return path
    if file.hash is None and path.exists():
        raise FileFormatError(f"{path} has {path.stat().st_size:,} bytes, {title} wants {file.size:,}: remove it")
    folder.mkdir(parents=True, exist_ok=True)
    for url in file.urls:
        try:
            _download(file, url, folder, progress)
        except requests.RequestException as error:
            reasons.append(_reason(url, error))
        except _OtherContentError:
            reasons.append(f"{url} has other content than the published hash says ({file.hash})")
            if url == file.urls[-1]:
                raise FileFormatError(_advice(file, path, title, reasons, otherwise)) from None
        else:
            if file.hash is None and not is_complete(path, file):
                raise FileFormatError(f"{url} has {path.stat().st_size:,} bytes, {title} wants {file.size:,}")
            return path
    raise MissingFileError(_advice(file, path, title, reasons, otherwise))


class _OtherContentError(Exception):
    """A download has another hash than the published one; pooch has removed it."""


def _download(file: RemoteFile, url: str, folder: Path, progress: bool) -> None:
    """Download a file from one address, once more from the start if the rest did not fit what arrived before."""
    import pooch
    import requests

    # pooch compares whole hashes only: a file whose hash is known in part keeps another name until it is compared
    name, digest = (f"{file.name}.unchecked", None) if is_prefix(file.hash) else (file.name, file.hash)
    source = pooch.create(folder, base_url="", registry={name: digest}, urls={name: url})  # type: ignore[arg-type]
    part = folder / f"{file.name}.part"
    while True:
        downloader = ResumingDownloader(part, checked=file.hash is not None, progress=progress)
        try:
            source.fetch(name, downloader=downloader)  # type: ignore[arg-type]  # its protocol has wrong names
            if name != file.name:
                _accept(folder / name, file)
            return
        except (DataError, requests.RequestException):
            raise
        except ValueError:
            if not downloader.resumed:
                raise _OtherContentError from None


def _accept(path: Path, file: RemoteFile) -> None:
    """Give a download its name. Raises ValueError, as pooch does, for another hash than the published part of it."""
    if not is_complete(path, file):
        path.unlink()
        raise ValueError(f"{file.name} has another hash")
    os.replace(path, path.with_name(file.name))


def is_complete(path: Path, file: RemoteFile) -> bool:
    """Whether a file is there with the published hash, or the known size where there is no hash."""
    import pooch

    if not path.is_file():
        return False
    if file.hash is None:
        return file.size is None or path.stat().st_size == file.size
    kind, _, digest = file.hash.rpartition(":")
    return pooch.file_hash(str(path), kind or "sha256").startswith(digest.lower())


def is_prefix(hash: str | None) -> bool:
    """Whether a hash is that of SHA-256 cut to its first digits, as in the names of PyTorch's files."""
    return hash is not None and hash.startswith("sha256:") and len(hash) < len("sha256:") + 64


def _reason(url: str, error: Exception) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"{url} answered {error.response.status_code} {error.response.reason}"
    return f"{url} cannot be reached ({type(error).__name__})"


def _advice(file: RemoteFile, path: Path, title: str, reasons: list[str], otherwise: str) -> str:
    unpacked = f" or unpack it into {path.parent / file.folder}" if file.folder else ""
    there = " The file there has another content." if path.exists() else ""
    return (
        f"{title} wants the file {file.name}: {'; '.join(reasons)}.{there} Download it from {' or '.join(file.urls)} and "
        f"put it at {path}{unpacked}, or {otherwise}"
    )
