"""Folders of models on the Hugging Face Hub, by the library huggingface_hub, which keeps them on this machine."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from pathlib import Path

from labdl.errors import BackendError, ConfigError, MissingFileError
from labdl.models.pretrained import tokenizers, weights

_SMALL = ("config.json", "generation_config.json", "preprocessor_config.json", *tokenizers.FILES)
_NAME = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}")


def folder_of(source: str | Path, revision: str | None = None) -> Path:
    """The folder of a path, or that of a name on the Hub, whose files are downloaded where they are not on this machine.

    Raises ConfigError for what is neither, BackendError without huggingface_hub, and MissingFileError that says which files
    to put where if the Hub cannot be reached or has no such model.
    """
    path = Path(source)
    if path.is_dir():
        return path
    name = str(source)
    if isinstance(source, Path) or not _NAME.fullmatch(name) or ".." in name:
        raise MissingFileError(
            f"{source} is no folder, and no name of a model on the Hub such as 'google-bert/bert-base-uncased'"
        )
    return _download(name, revision)


def _download(name: str, revision: str | None) -> Path:
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError:
        raise BackendError(
            f"{name} is no folder here, and to read it from the Hub needs: pip install huggingface_hub"
        ) from None
    try:
        # its list of files, asked for once: `list_repo_files` tries for half a minute where there is no connection
        siblings = huggingface_hub.HfApi().model_info(name, revision=revision).siblings or []
    except errors.HFValidationError as error:
        raise ConfigError(f"{name!r:.100} is no name of a model on the Hub: {error!s:.200}") from None
    except errors.RevisionNotFoundError:
        raise MissingFileError(f"{name} on the Hub has no revision {revision!r:.80}") from None
    except errors.RepositoryNotFoundError:
        raise MissingFileError(
            f"the Hub has no model {name}, or it is private: check the name, or log in with huggingface-cli login"
        ) from None
    except (OSError, errors.HfHubHTTPError, errors.OfflineModeIsEnabled, *_network_errors()) as error:
        return _cached_folder(name, revision, error)
    files = [entry.rfilename for entry in siblings]
    return Path(huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=_files_to_read(name, files)))


def _network_errors() -> tuple[type[Exception], ...]:
    """Errors of the libraries beneath huggingface_hub, which its versions let through."""
    import importlib

    kinds = []
    for module, kind in (("httpx", "HTTPError"), ("httpx2", "HTTPError"), ("requests", "RequestException")):
        try:
            kinds.append(getattr(importlib.import_module(module), kind))
        except ImportError:
            continue  # only one of them is installed
    return tuple(kinds)


def _cached_folder(name: str, revision: str | None, reason: Exception) -> Path:
    """The folder of an earlier download."""
    import huggingface_hub

    config = huggingface_hub.try_to_load_from_cache(name, "config.json", revision=revision)
    if not isinstance(config, str):
        raise MissingFileError(
            f"{name} is not on this machine, and the Hub cannot be reached ({type(reason).__name__}): put "
            f"config.json, {weights.FILES[0]} (or {weights.FILES[2]}) and tokenizer.json of https://huggingface.co/{name} "
            "into a folder, and give its path"
        )
    return Path(config).parent


def _files_to_read(name: str, files: Iterable[str]) -> list[str]:
    """The files that are read: those of the first format of the weights that there is, config and tokenizer."""
    there = set(files)
    first = next((file for file in weights.FILES if file in there), None)
    if first is None:
        raise MissingFileError(f"{name} on the Hub has none of {', '.join(weights.FILES)}")
    parts = []
    if first.endswith(".index.json"):
        stem, suffix = first.removesuffix(".index.json").rsplit(".", 1)
        parts = fnmatch.filter(there, f"{stem}-*-of-*.{suffix}")
    return sorted({first, *parts, *(there & set(_SMALL))})
