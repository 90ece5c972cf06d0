"""Files of the Hugging Face Hub by their addresses, ``hf://owner/name[@revision][/file]``, with plain HTTP requests.

The Hub answers a request for the head of a large file with the file's SHA-256, which the download is compared with. The
cache of the package huggingface_hub is used where it has the file, and is not written to.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urljoin

from labdl.errors import ConfigError, MissingFileError

if TYPE_CHECKING:
    from labdl.data.sources.known_set import RemoteFile

HUB = "hub"  # folder of its files
_SCHEME = "hf://"
_WORD = r"(?!\.)[\w.-]{1,96}"
_ADDRESS = re.compile(rf"hf://({_WORD})/({_WORD})(?:@({_WORD}))?((?:/(?!\.)[\w.+-]{{1,200}}){{0,10}})", re.ASCII)
# what save_pretrained writes, the safe format first; an index names the parts of a large file
_USUAL = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?')
_REDIRECTS = 3  # of a repository that was renamed
_TIMEOUT = (10, 60)  # seconds


class HubAddress(NamedTuple):
    """A repository of the Hub, and a file in it if one is named."""

    owner: str
    name: str
    revision: str
    file: str

    @property
    def repository(self) -> str:
        """Owner and name."""
        return f"{self.owner}/{self.name}"

    def url(self, file: str) -> str:
        """The address of a file on the web; HF_ENDPOINT names another server, as for huggingface_hub."""
        server = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        return f"{server}/{self.repository}/resolve/{quote(self.revision)}/{quote(file)}"


def is_hub_address(weights: object) -> bool:
    """Whether a value is an address of the Hub."""
    return isinstance(weights, str) and weights.startswith(_SCHEME)


def parse_address(address: str) -> HubAddress:
    """The parts of an address. Raises ConfigError for anything else."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ConfigError(
            f"{address[:120]!r} is no address of the Hugging Face Hub: write hf://owner/name, hf://owner/name/file, or "
            "hf://owner/name@revision/file"
        )
    owner, name, revision, file = match.groups()
    return HubAddress(owner, name, revision or "main", file.removeprefix("/"))


def provide_hub_file(address: str, folder: Path, *, progress: bool = True) -> Path:
    """The path of a file of the Hub, or without one in the address of the weights in the repository's usual files.

    A file in ``folder`` (as owner/name/revision/file) or in the cache of huggingface_hub is used without a network, and not
    compared with what the Hub has now. Raises MissingFileError, which says what to
    put where, FileFormatError for a download that differs from the Hub's hash, ConfigError for another address.
    """
    place = parse_address(address)
    home = folder / place.owner / place.name / place.revision
    names = (place.file,) if place.file else _USUAL
    path = next((path for name in names if (path := _local(place, home, name)) is not None), None)
    return path or _download_first(place, home, names, progress)


def provide_part(address: str, index: Path, name: str, folder: Path, *, progress: bool = True) -> Path:
    """The path of a file that an index of the Hub names, beside the index. Raises as `provide_hub_file`."""
    place = parse_address(address)
    home = folder / place.owner / place.name / place.revision
    if index.with_name(name).is_file():
        return index.with_name(name)
    if not index.is_relative_to(home):
        raise MissingFileError(
            f"{index.parent} lacks {name}, which its index names: run `hf download {place.repository}`"
        )
    return _download_first(place, home, (index.with_name(name).relative_to(home).as_posix(),), progress)


def _local(place: HubAddress, home: Path, name: str) -> Path | None:
    """A file that is on this machine already, in our folder or in the cache of huggingface_hub."""
    if (home / name).is_file():
        return home / name
    cache = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub"
    repository = Path(cache).expanduser() / f"models--{place.owner}--{place.name}"
    reference = repository / "refs" / place.revision
    try:
        commit = reference.read_text("utf-8").strip()[:64] if reference.is_file() else place.revision
        file = repository / "snapshots" / commit / name
        return file if re.fullmatch(_WORD, commit) and file.is_file() else None
    except (OSError, UnicodeDecodeError):
        return None  # the cache of another program is of no use as it is


def _download_first(place: HubAddress, home: Path, names: tuple[str, ...], progress: bool) -> Path:
    """Download the first of the files that the repository has."""
    import requests
    from filelock import FileLock

    from labdl.data.sources.download import fetch

    title, path = f"{_SCHEME}{place.repository}", home / names[0]
    try:
        file = next((file for name in names if (file := _look_up(place, name)) is not None), None)
    except requests.RequestException as error:
        reason = f"{place.url(names[0])} cannot be reached ({type(error).__name__})"
        raise MissingFileError(_advice(title, names, reason, place, path)) from None
    if file is None:
        raise MissingFileError(_advice(title, names, "the Hub has no such file", place, path))
    target = home / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_name(f".{target.name}.lock")):  # another process may be downloading it
        flat = replace(file, name=target.name)
        return fetch(flat, target.parent, title=title, progress=progress, otherwise=_other_ways(place))


def _look_up(place: HubAddress, name: str) -> RemoteFile | None:
    """Ask the Hub for the size of a file, and for the hash of a large one; None if it has none of the name.

    Raises MissingFileError for a repository that is not open to everyone.
    """
    import requests

    from labdl.data.sources.known_set import RemoteFile

    url = place.url(name)
    for _ in range(_REDIRECTS):
        # of a large file the answer is a redirection to a store; the hash is in the answer before it
        answer = requests.head(url, headers={"Accept-Encoding": "identity"}, allow_redirects=False, timeout=_TIMEOUT)
        location = answer.headers.get("Location", "")
        if not answer.is_redirect or not location.startswith("/"):
            break
        url = urljoin(url, location)
    else:
        raise requests.TooManyRedirects(f"{place.url(name)} is redirected again and again")
    if answer.status_code == requests.codes.not_found:
        return None
    if answer.status_code in (requests.codes.unauthorized, requests.codes.forbidden):
        raise MissingFileError(
            f"the repository {place.repository} does not exist, or is not open to everyone: ask for access there, run "
            f"`hf download {place.repository}` with your token, and LabDL finds the files in that cache"
        )
    answer.raise_for_status()
    digest = _SHA256.fullmatch(answer.headers.get("X-Linked-Etag", ""))
    size = answer.headers.get("X-Linked-Size") or (
        "" if answer.is_redirect else answer.headers.get("Content-Length", "")
    )
    return RemoteFile(name, (url,), digest and f"sha256:{digest[1]}", int(size) if size.isdecimal() else None)


def _advice(title: str, names: tuple[str, ...], reason: str, place: HubAddress, path: Path) -> str:
    listed = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
    return (
        f"{title} wants the file {listed}: {reason}. Download {names[0]} from "
        f"{place.url(names[0])} and put it at {path}, or {_other_ways(place)}"
    )


def _other_ways(place: HubAddress) -> str:
    return f'run `hf download {place.repository}`, or write weights="path/of/the/file"'
