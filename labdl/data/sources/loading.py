"""Known data sets by name: their files are downloaded once, checked, and read in their format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from labdl.data.dataset import Dataset
from labdl.data.sources.known_set import KnownSet, RemoteFile
from labdl.data.sources.picture_table import PICTURES
from labdl.data.sources.text_and_speech_table import SPEECH, TEXTS
from labdl.data.sources.video_table import VIDEOS
from labdl.errors import ConfigError, suggest_name

SETS: dict[str, KnownSet] = {entry.name: entry for entry in (*PICTURES, *TEXTS, *SPEECH, *VIDEOS)}


def data_folder() -> Path:
    """The folder that data sets are downloaded to: the environment variable LABDL_DATA, or a cache folder of the user."""
    chosen = os.environ.get("LABDL_DATA")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs  # imported lazily: only used here

    return Path(platformdirs.user_cache_dir("labdl")) / "data"


def load(
    name: str | KnownSet,
    split: str | None = None,
    root: str | Path | None = None,
    *,
    progress: bool = True,
    **settings: Any,
) -> Any:
    """A data set that is known by name, such as "mnist"; a pair (train, test) if there is no ``split``.

    `SETS` lists the names, with splits, samples, license and citation. Files are downloaded into a folder of the name in
    ``root`` (by default `data_folder`), checked by their published hash, and kept; a broken download goes on where it
    stopped. Files, or folders of unpacked archives, that are there already are used without a network. An
    archive may be deleted after it has been unpacked. Some sets take ``settings``, such as ``frames=16`` of clips and
    ``masks=True`` of COCO.

    Example: ``train, test = data.sources.load("mnist")``. Raises ConfigError for an unknown name, split or setting,
    FileFormatError for a file with other content, and MissingFileError, which says what to put where, without a network.
    """
    if isinstance(name, KnownSet):
        entry = name
    elif name in SETS:
        entry = SETS[name]
    else:
        raise ConfigError(f"there is no data set {name!r:.60}{suggest_name(name, SETS)}; known are {', '.join(SETS)}")
    folder = (Path(root).expanduser() if root is not None else data_folder()) / entry.name
    for key in settings:
        if key not in entry.settings:
            raise ConfigError(
                f"{entry.name} has the settings {', '.join(entry.settings) or '(none)'}, received {key!r:.60}"
                f"{suggest_name(key, entry.settings)}"
            )
    if split is not None:
        return _load(entry, split, folder, progress, settings)
    parts = [_load(entry, part, folder, progress, settings) for part in entry.pair]
    return tuple(parts) if len(parts) > 1 else parts[0]


def _load(entry: KnownSet, split: str, folder: Path, progress: bool, settings: dict[str, Any]) -> Dataset:
    if split not in entry.files:
        raise ConfigError(
            f"{entry.name} has the splits {', '.join(entry.files)}, received {split!r:.60}{suggest_name(split, entry.files)}"
        )
    paths = [_provide(file, folder, entry.name, progress) for file in entry.files[split]]
    return entry.read(split, *paths, **settings)


def _provide(file: RemoteFile, folder: Path, title: str, progress: bool) -> Path:
    """The path of a file, for an archive of the folder with its content."""
    from labdl.data.sources.download import fetch, is_complete

    path, unpacked = folder / file.name, None if file.folder is None else folder / file.folder
    if unpacked is not None and unpacked.is_dir():
        return unpacked
    if unpacked is None and is_complete(path, file):
        return path
    from filelock import FileLock

    from labdl.data.sources.unpacking import unpack

    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):  # another process may be downloading it
        if unpacked is not None and unpacked.is_dir():
            return unpacked
        path = fetch(file, folder, title=title, progress=progress)
        return path if unpacked is None else unpack(path, unpacked, checked=file.hash is not None)
