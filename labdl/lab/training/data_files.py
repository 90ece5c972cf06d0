"""Data sets in files, described without a kernel: samples, shapes, columns, classes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labdl.data import SOURCES, ArrayDataset, csv, npz
from labdl.data.csv_features import Encode, Missing
from labdl.data.csv_reader import read_columns
from labdl.data.dataset import Dataset
from labdl.data.opening import PIPELINE_SUFFIX
from labdl.errors import FileFormatError
from labdl.lab.training.options import kind_of, size_of
from labdl.lab.training.pipeline_data import describe_pipeline
from labdl.lab.training.script import FILES

LIMIT = 64 << 20  # bytes: larger files are not read by a shared server


def needs_task(name: str) -> bool:
    """Whether a data set is a folder or a file that a training reads by a task alone, and no name of LabDL's."""
    return name not in SOURCES and not name.endswith((*FILES, PIPELINE_SUFFIX))


def describe_samples(name: str, opened: Dataset | Mapping[str, Dataset]) -> dict[str, Any]:
    """Describe samples that only a task prepares, as `describe_file` does."""
    parts = list(opened.values()) if isinstance(opened, Mapping) else [opened]
    samples, classes = sum(map(len, parts)), parts[0].classes
    entries = " and ".join([*parts[0].inputs, *parts[0].targets])
    return {
        "name": name,
        "kind": None,
        "classes": len(classes) if classes else None,
        "samples": samples,
        "summary": f"{samples:,} samples with {entries}" + (f", {len(classes)} classes" if classes else ""),
        "input_shape": None,
        "target_shape": None,
        "problem": None,
    }


def describe_file(
    file: Path, target: str | None = None, missing: Missing = "error", encode: Encode = "none"
) -> dict[str, Any]:
    """Describe a file for the form; the other arguments are those of `labdl.data.csv`, for a table.

    A table that cannot be read with them has a "problem". Raises MissingFileError, FileFormatError and ConfigError that name
    the file.
    """
    if file.name.endswith(PIPELINE_SUFFIX):
        return describe_pipeline(file)
    if file.suffix not in FILES:
        raise FileFormatError(
            f"{file.name} is not a data set that LabDL can read: choose a .csv, an .npz or a {PIPELINE_SUFFIX} file"
        )
    status = file.stat()
    return _describe(file, target, missing, encode, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=16)
def _describe(
    file: Path, target: str | None, missing: Missing, encode: Encode, _changed: int, size: int
) -> dict[str, Any]:
    info: dict[str, Any] = {
        "name": file.name,
        "columns": None,
        "target": None,
        "kind": None,
        "classes": None,
        "input_shape": None,
        "target_shape": None,
        "samples": None,
        "problem": None,
    }
    is_table = file.suffix == ".csv"
    if is_table:
        info["columns"] = read_columns(file)
        info["target"] = info["columns"][-1] if target is None else target
    if size > LIMIT:
        return info | {"summary": f"{size >> 20:,} MiB: too large to read before training"}
    try:
        train, test = csv(file, target=target, missing=missing, encode=encode) if is_table else npz(file)
    except FileFormatError as error:
        if not is_table:
            raise
        return info | {"problem": str(error), "summary": str(error)}  # its columns and other settings can be chosen
    return info | _statistics(train, len(train) + len(test))


def _statistics(dataset: ArrayDataset, samples: int) -> dict[str, Any]:
    x, y = dataset.arrays
    classes = None if dataset.classes is None else len(dataset.classes)
    shape = size_of(x.shape)
    what = f"{classes} classes" if classes else "a regression target" if y.shape[1:] == (1,) else "regression targets"
    summary = f"{samples:,} samples of {shape}, {what}"
    return {
        "kind": kind_of(classes),
        "classes": classes,
        "samples": samples,
        "summary": summary,
        "input_shape": [None, *x.shape[1:]],
        "target_shape": [None, *y.shape[1:]],
    }
