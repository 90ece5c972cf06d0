"""Annex B.1: reading data."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data import ArrayDataset
from labdl.errors import ConfigError, FileFormatError, MissingFileError
from labdl.standard import validation

_SUFFIXES = (".npz", ".npy")


def construct_dataset(path: str, **parameters) -> ArrayDataset:
    """A data set from its path and its settings (B.1.1, table B.1).

    Reads arrays of equal length: all those of an .npz file in their order there, or those of ``arrays=["x", "y"]``, or the
    one of an .npy file; ``classes`` gives names to the classes. Raises MissingFileError if there is no such file, ConfigError
    for an unsupported format and for an unknown setting, FileFormatError for an invalid file.
    """
    given = validation.read(parameters, "construct_dataset", ("arrays", "classes"))
    file = Path(path)
    if not file.exists():
        raise MissingFileError(f"there is no data set at {file}")
    if file.suffix.lower() not in _SUFFIXES:
        raise ConfigError(f"construct_dataset reads {' and '.join(_SUFFIXES)}, received {file.name}")
    try:
        with _open_arrays(file) as arrays:
            names = given.get("arrays", list(arrays))
            if not isinstance(names, list | tuple) or not names:
                raise ConfigError(f"construct_dataset: arrays wants a list of names, received {names!r}")
            unknown = [name for name in names if name not in arrays]
            if unknown:
                raise ConfigError(f"{file.name} has the arrays {', '.join(arrays)}, not {unknown[0]!r}")
            return ArrayDataset(*(arrays[name] for name in names), name=file.stem, classes=given.get("classes"))
    except ConfigError:
        raise
    except (
        zipfile.BadZipFile,
        EOFError,
        ValueError,
    ) as error:  # the last is NumPy's for headers, and for Python objects
        raise FileFormatError(f"{file.name} is not a valid {file.suffix} file of numbers: {error}") from None


@contextmanager
def _open_arrays(file: Path) -> Iterator[Mapping[str, Any]]:
    """Open the arrays of a file by name, without Python objects."""
    found = np.load(file, allow_pickle=False)
    if isinstance(found, np.ndarray):
        yield {"array": found}
    else:
        with found:
            yield found


def get_sample(dataset, index: int):
    """The sample of a data set at an index: a tuple, or a dictionary, of arrays (B.1.2, table B.2).

    Works with any data set that has ``dataset[index]`` and does its own pre-processing there. Raises MissingFileError where
    the file of the sample is gone, IndexError outside of the data.
    """
    try:
        return dataset[index]
    except FileNotFoundError as error:
        if isinstance(error, MissingFileError):
            raise
        raise MissingFileError(f"the file of sample {index} is gone: {error.filename or error}") from error
