"""What a data set in a file holds, told from the file without a kernel: samples, shapes, columns, classes."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from labdl.data import ArrayDataset, csv, npz
from labdl.data.tabulated import columns_of
from labdl.errors import FileFormatError
from labdl.lab.choices import kind_of, size_of
from labdl.lab.training import FILES

LIMIT = 64 << 20  # bytes: a server that others use too looks into no larger file


def look(file: Path, target: str | None = None) -> dict[str, Any]:
    """The file as the form shows a data set; ``target`` is the column of a table that is to be told.

    Raises MissingFileError, FileFormatError and ConfigError in sentences that name the file.
    """
    if file.suffix not in FILES:
        raise FileFormatError(f"{file.name} is no data set that LabDL reads: choose a .csv or an .npz file")
    status = file.stat()
    return _seen(file, target, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=16)
def _seen(file: Path, target: str | None, _changed: int, size: int) -> dict[str, Any]:
    told: dict[str, Any] = {"name": file.name, "columns": None, "target": None, "kind": None, "classes": None,
                            "input_shape": None, "target_shape": None, "samples": None}  # fmt: skip
    is_table = file.suffix == ".csv"
    if is_table:
        told["columns"] = columns_of(file)
        told["target"] = told["columns"][-1] if target is None else target
    if size > LIMIT:
        return told | {"summary": f"{size >> 20:,} MiB: too large to be looked into before the training"}
    train, test = csv(file, target=target) if is_table else npz(file)
    return told | _of(train, len(train) + len(test))


def _of(dataset: ArrayDataset, samples: int) -> dict[str, Any]:
    x, y = dataset.arrays
    classes = None if dataset.classes is None else len(dataset.classes)
    shape = size_of(x.shape)
    what = f"{classes} classes" if classes else "a number to foretell" if y.shape[1:] == (1,) else "numbers to foretell"
    summary = f"{samples:,} samples of {shape}, {what}"
    return {"kind": kind_of(classes), "classes": classes, "samples": samples, "summary": summary,
            "input_shape": [None, *x.shape[1:]], "target_shape": [None, *y.shape[1:]]}  # fmt: skip
