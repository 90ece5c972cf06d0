"""Annex B.1: reading data."""

from __future__ import annotations

from pathlib import Path

from labdl.data import ArrayDataset
from labdl.data.file_datasets import array_dataset
from labdl.errors import ConfigError, MissingFileError
from labdl.standard import validation

_SUFFIXES = (".npz", ".npy")


def construct_dataset(path: str, **parameters) -> ArrayDataset:
    """A data set from its path and its settings (B.1.1, table B.1).

    Reads arrays of equal length: all those of an .npz file in their order, or those of ``arrays=["x", "y"]``, or the
    one of an .npy file; ``classes`` gives names to the classes. Raises MissingFileError if there is no such file, ConfigError
    for an unsupported format and for an unknown setting, FileFormatError for an invalid file.
    """
    given = validation.read(parameters, "construct_dataset", ("arrays", "classes"))
    file = Path(path)
    if not file.exists():
        raise MissingFileError(f"there is no data set at {file}")
    if file.suffix.lower() not in _SUFFIXES:
        raise ConfigError(f"construct_dataset reads {' and '.join(_SUFFIXES)}, received {file.name}")
    names = given.get("arrays")
    if "arrays" in given and (not isinstance(names, list | tuple) or not names):
        raise ConfigError(f"construct_dataset: arrays wants a list of names, received {names!r}")
    return array_dataset(file, names, given.get("classes"))


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
