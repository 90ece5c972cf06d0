"""Annex B.1: reading data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labdl import data
from labdl.data import Dataset
from labdl.data.file_datasets import array_dataset
from labdl.data.folders.file_list import FileList
from labdl.errors import ConfigError, MissingFileError, suggest_name
from labdl.standard import validation
from labdl.standard.operators import as_steps

_ARRAYS = (".npz", ".npy")
_TEXTS = (".txt", ".text", ".md", ".xml")
_TABLES = (".json", ".jsonl", ".ndjson")  # of texts, or of the paths of files


def construct_dataset(path: str, **parameters) -> Dataset:
    """A data set from its path and its settings (B.1.1, table B.1).

    The path is a folder or a file, and what is there decides how it is read: a folder for each class of pictures, sounds,
    videos or texts; such files without classes; annotations of COCO, VOC or YOLO; manifests; packed data sets, WebDataset,
    TFRecord, Parquet, HDF5; text, JSON, XML and CSV files; one picture, sound or video; arrays.

    - ``format``: instead of looking, the name of a data set class of `labdl.data`, such as "ImageFolder", or "known" for a
      set that is known by name, of which ``path`` is the name and ``split`` the part (`labdl.data.sources`).
    - ``operator``: pre-processing of the samples: a result of `construct_operator` or its settings, a transform, a function,
      or a list of these. Random transforms draw by the sampler's epoch and the index of the sample.
    - all others are settings of the data set class. Of arrays: those of an .npz file in their order, or ``arrays=["x", "y"]``,
      and ``classes``, names of the classes.

    Example: ``construct_dataset("flowers", mode="RGB", operator={"name": "Resize", "size": 224})``. Raises MissingFileError if
    there is no such file, ConfigError for an unknown format or setting, FileFormatError and DataError for invalid files.
    """
    settings = validation.read(parameters, "construct_dataset")
    operator, chosen = settings.pop("operator", None), settings.pop("format", None)
    dataset = _read(str(path), chosen, settings)
    return dataset if operator is None else dataset.map(as_steps(operator))


def get_sample(dataset, index: int):
    """The sample of a data set at an index: a tuple, or a dictionary, of arrays (B.1.2, table B.2).

    Works with any data set that has ``dataset[index]`` and does its own pre-processing there. Raises MissingFileError if
    the file of the sample is gone, IndexError outside of the data.
    """
    try:
        return dataset[index]
    except FileNotFoundError as error:
        if isinstance(error, MissingFileError):
            raise
        raise MissingFileError(f"the file of sample {index} is gone: {error.filename or error}") from error


def _read(path: str, chosen: Any, settings: dict[str, Any]) -> Dataset:
    if chosen == "known":
        own = validation.read(settings, "construct_dataset", needed=("split",))
        return data.sources.load(path, own.pop("split"), **own)
    if chosen is not None:
        return _create(_find_class(chosen), path, settings)
    place = Path(path)
    if not place.exists():
        raise MissingFileError(f"there is no data set at {place}")
    suffix = place.suffix.lower()
    if place.is_file():
        if suffix in _ARRAYS:
            return _read_arrays(place, settings)
        if suffix in _TEXTS:
            return _create(_find_class("TextDataset"), path, settings)
        if suffix in _TABLES and not _has_paths(place):
            return _create(_find_class("TextDataset"), path, settings)
        if suffix in _media_suffixes():
            return _create(_find_class("FileDataset"), path, settings)
    found = data.open_dataset(path)
    if not settings:
        return found
    files = getattr(found, "files", None)
    if isinstance(files, FileList):
        settings = {"labels": files.labels is not None, **settings}
    return _create(type(found), path, settings)


def _read_arrays(file: Path, settings: dict[str, Any]) -> Dataset:
    given = validation.read(settings, "construct_dataset", ("arrays", "classes"))
    names = given.get("arrays")
    if "arrays" in given and (not isinstance(names, list | tuple) or not names):
        raise ConfigError(f"construct_dataset: arrays wants a list of names, received {names!r}")
    return array_dataset(file, names, given.get("classes"))


def _has_paths(file: Path) -> bool:
    from labdl.data.folders.manifest import has_paths

    return has_paths(file)


def _media_suffixes() -> set[str]:
    from labdl.data.folders.decoders import KINDS, suffixes_of

    return {suffix for kind in KINDS for suffix in suffixes_of(kind)}


def _find_class(name: Any) -> Callable[..., Dataset]:
    names = [each for each in data.__all__ if _is_reader(each)]
    if not isinstance(name, str) or name not in names:
        raise ConfigError(
            f"construct_dataset: format wants a data set of labdl.data ({', '.join(names)}) or 'known', received {name!r:.60}"
            f"{suggest_name(str(name), names)}"
        )
    return getattr(data, name)


def _is_reader(name: str) -> bool:
    """Whether a name of `labdl.data` is a class of data sets that begins with a path."""
    if not name.endswith(("Folder", "Dataset", "Detection", "Segmentation")) or name.startswith("write_"):
        return False
    cls = getattr(data, name)
    if not inspect.isclass(cls) or not issubclass(cls, Dataset):
        return False
    first = next(iter(inspect.signature(cls).parameters), "")
    return first in ("root", "path", "paths", "manifest", "images", "folder", "source")


def _create(cls: Callable[..., Dataset], path: str, settings: Mapping[str, Any]) -> Dataset:
    parameters = inspect.signature(cls).parameters
    own = list(parameters.values())[1:]
    known = [p.name for p in own if p.kind is not p.VAR_KEYWORD]
    missing = [p.name for p in own if p.default is p.empty and p.kind is not p.VAR_KEYWORD and p.name not in settings]
    unknown = [name for name in settings if name not in known]
    name = getattr(cls, "__name__", str(cls))
    if missing or (unknown and len(known) == len(own)):
        raise ConfigError(
            f"construct_dataset: {name} has the settings {', '.join(known) or '(none)'}, "
            f"{f'received {unknown[0]!r}' if unknown else f'{missing[0]} is missing'}"
        )
    return cls(path, **settings)
