"""Files of the Hugging Face Hub, by the library huggingface_hub, which keeps them in its cache on this machine.

Each file that is downloaded is compared with the SHA-256 that the Hub tells of it.
"""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from labdl.bounded.files import open_file
from labdl.errors import BackendError, ConfigError, FileFormatError, MissingFileError

# what save_pretrained writes, in the order in which they are looked for; an index names the parts of a large file
WEIGHT_FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
_SCHEME = "hf://"
_WORD = r"[A-Za-z0-9](?:[\w-]|\.(?!\.)){0,95}"
_NAME = re.compile(rf"(?:{_WORD}/)?{_WORD}", re.ASCII)
_ADDRESS = re.compile(rf"hf://({_WORD}/{_WORD})(?:@({_WORD}))?((?:/(?!\.)[\w.+-]{{1,200}}){{0,10}})", re.ASCII)


class HubAddress(NamedTuple):
    """A repository of the Hub, and a file in it if one is named."""

    repository: str  # owner/name
    revision: str | None
    file: str


def is_hub_name(name: str) -> bool:
    """Whether a text can be the name of a repository."""
    return _NAME.fullmatch(name) is not None


def is_hub_address(weights: object) -> bool:
    """Whether a value is an address of a file of the Hub."""
    return isinstance(weights, str) and weights.startswith(_SCHEME)


def parse_address(address: str) -> HubAddress:
    """The parts of ``hf://owner/name[@revision][/file]``. Raises ConfigError for anything else."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ConfigError(
            f"{address[:120]!r} is no address of the Hugging Face Hub: write hf://owner/name, hf://owner/name/file, or "
            "hf://owner/name@revision/file"
        )
    repository, revision, file = match.groups()
    return HubAddress(repository, revision, file.removeprefix("/"))


def provide_weights(address: str, *, progress: bool = True) -> Path:
    """The path of a file of the Hub, or without one in the address of the first of `WEIGHT_FILES` in the repository.

    The files that an index names are beside it. Raises as `provide_files`, and ConfigError for another address.
    """
    place = parse_address(address)
    return provide_files(
        place.repository, (place.file,) if place.file else WEIGHT_FILES, revision=place.revision, progress=progress
    )


def provide_files(
    repository: str,
    alternatives: Sequence[str],
    beside: Collection[str] = (),
    *,
    revision: str | None = None,
    progress: bool = True,
) -> Path:
    """The path of the first of the ``alternatives`` that a repository has, with the files ``beside`` it that there are.

    Where the Hub cannot be reached, files of an earlier download are used. Raises MissingFileError, which says which files to
    put where, FileFormatError for a download with another hash than the Hub tells, BackendError without huggingface_hub.
    """
    try:
        import huggingface_hub  # imported lazily: an extra
        from huggingface_hub import errors
    except ImportError:
        raise BackendError(f'reading {repository} from the Hugging Face Hub needs: pip install "labdl[hub]"') from None
    files = _describe_files(alternatives, beside)
    with _explained_errors(repository, files, revision), _progress_bars(progress):
        try:
            # one question for the whole list: `list_repo_files` tries for half a minute where there is no connection
            siblings = huggingface_hub.HfApi().model_info(repository, revision=revision, files_metadata=True).siblings
        except _connection_errors() as error:
            if isinstance(error, errors.RepositoryNotFoundError | errors.RevisionNotFoundError):
                raise  # it was reached
            path = _cached_path(repository, alternatives, revision)
            if path is None:
                raise
            return path
        hashes = {entry.rfilename: entry.lfs.sha256 if entry.lfs else None for entry in siblings or []}
        name = next((name for name in alternatives if name in hashes), None)
        if name is None:
            raise MissingFileError(f"{repository} on the Hub has not {files}")

        def download(names: Collection[str]) -> Path:
            return _download(repository, revision, {name: hashes[name] for name in names})

        folder = download({name, *(hashes.keys() & set(beside))})
        if parts := _parts_of(folder / name):
            missing = [part for part in parts if part not in hashes]
            if missing:
                raise MissingFileError(f"{repository} on the Hub lacks {missing[0]:.200}, which its {name} names")
            download(parts)
    return folder / name


def _parts_of(path: Path) -> list[str]:
    """The names in the repository of the files that an index lists; none for another file."""
    from labdl.saving.native.formats.shards import SUFFIX, file_names  # models are below saving

    return file_names(path) if path.name.endswith(SUFFIX) else []


def _download(repository: str, revision: str | None, hashes: dict[str, str | None]) -> Path:
    """The folder of a revision with files of it; those that were not on this machine are compared with their hashes."""
    import huggingface_hub

    new = {name for name in hashes if not _cached_path(repository, (name,), revision)}
    patterns = [glob.escape(name) for name in hashes]
    folder = Path(huggingface_hub.snapshot_download(repository, revision=revision, allow_patterns=patterns))
    for name in new:
        _check_hash(folder / name, hashes[name], repository)
    return folder


def _check_hash(path: Path, sha256: str | None, repository: str) -> None:
    if sha256 is None:  # of a small file the Hub tells none
        return
    with open_file(path) as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual == sha256:
        return
    stored = path.resolve()
    path.unlink()
    stored.unlink(missing_ok=True)  # the link and what it leads to, or the next download is content with it
    raise FileFormatError(
        f"{path.name} of {repository} has other content than the published hash ({actual[:12]}… for {sha256[:12]}…): it was "
        "removed; try again"
    )


def _cached_path(repository: str, names: Sequence[str], revision: str | None) -> Path | None:
    """The first of some files that an earlier download left on this machine."""
    import huggingface_hub

    paths = (huggingface_hub.try_to_load_from_cache(repository, name, revision=revision) for name in names)
    return next((Path(path) for path in paths if isinstance(path, str)), None)


@contextmanager
def _explained_errors(repository: str, files: str, revision: str | None) -> Iterator[None]:
    """Errors of huggingface_hub in a sentence that says what to do."""
    from huggingface_hub import errors

    try:
        yield
    except errors.HFValidationError as error:
        raise ConfigError(f"{repository!r:.100} is no name of a model on the Hub: {error!s:.200}") from None
    except errors.RevisionNotFoundError:
        raise MissingFileError(f"{repository} on the Hub has no revision {revision!r:.80}") from None
    except errors.GatedRepoError:
        raise MissingFileError(
            f"the model {repository} of the Hub wants its conditions accepted: do so at https://huggingface.co/{repository}, "
            "and log in with `hf auth login`"
        ) from None
    except errors.RepositoryNotFoundError:
        raise MissingFileError(
            f"the Hub has no model {repository}, or it is private: check the name, or log in with `hf auth login`"
        ) from None
    except (MissingFileError, FileFormatError):
        raise
    except (OSError, *_connection_errors()) as error:
        raise MissingFileError(
            f"{repository} is not on this machine, and the Hub cannot be reached ({type(error).__name__}): download {files} "
            f"of https://huggingface.co/{repository} elsewhere, put it into a folder, and give its path"
        ) from None


def _describe_files(alternatives: Sequence[str], beside: Collection[str]) -> str:
    first = alternatives[0] if len(alternatives) == 1 else f"one of {', '.join(alternatives)}"
    return f"{first}, and of {', '.join(beside)} those that there are" if beside else first


def _connection_errors() -> tuple[type[Exception], ...]:
    """Errors of a network, of huggingface_hub and of the libraries beneath it, which its versions let through."""
    import importlib

    from huggingface_hub import errors

    kinds: list[type[Exception]] = [
        ConnectionError,
        TimeoutError,
        errors.OfflineModeIsEnabled,
        errors.LocalEntryNotFoundError,
    ]
    for module, kind in (("httpx", "HTTPError"), ("httpx2", "HTTPError"), ("requests", "RequestException")):
        try:
            kinds.append(getattr(importlib.import_module(module), kind))
        except ImportError:
            continue  # only one of them is installed
    return tuple(kinds)


@contextmanager
def _progress_bars(shown: bool) -> Iterator[None]:
    """Show the bars of huggingface_hub or not, which is a setting of the process."""
    from huggingface_hub import utils

    if shown or utils.are_progress_bars_disabled():
        yield
        return
    utils.disable_progress_bars()
    try:
        yield
    finally:
        utils.enable_progress_bars()
