"""BatchRows: the arrays of a batch, whose rows are written as soon as a sample has been read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.data.batches import Allocate, DataFormat, Rows, allocate, stack_samples, write_channels_first
from labdl.data.parts import BoundingBoxes, Image, Video

_LEAST = 1 << 14  # bytes; smaller arrays stay in the cache of the processor until the batch is stacked


class BatchRows:
    """The arrays of a batch of ``count`` samples that are read one by one, possibly by several threads.

    `write` copies the large arrays of a sample into their rows while they are in the processor's cache, and frees them;
    `stack` makes the batch, without copying these again. The settings, and the batch, are those of `stack_samples`.
    """

    def __init__(
        self,
        count: int,
        *,
        data_format: DataFormat = "channels_first",
        pad: float | None = None,
        allocate: Allocate = allocate,
    ):
        self.count, self.pad, self.allocate = count, pad, allocate
        self.data_format: DataFormat = data_format
        self._rows: dict[str, Rows] = {}
        self._reserved: dict[int, tuple[str, np.ndarray]] = {}
        self._lock = threading.Lock()

    def reserve(self, at: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | None:
        """The row for an array of the sample ``at``; None unless exactly one entry has this shape and dtype."""
        with self._lock:
            fitting = [
                (entry, rows.array)
                for entry, rows in self._rows.items()
                if rows.array.dtype == dtype and rows.array.shape[1:] == shape
            ]
        if len(fitting) != 1:
            return None
        [(entry, array)] = fitting
        self._reserved[at] = entry, array[at]
        return array[at]

    def write(self, at: int, sample: Any) -> Any:
        """The sample whose place in the batch is ``at``, its large arrays replaced by views of their rows."""
        entry, row = self._reserved.pop(at, (None, None))
        if row is not None:
            sample = _free_row(sample, entry, row)
        if isinstance(sample, dict):
            if any(isinstance(part, BoundingBoxes) for part in sample.values()):
                return {
                    name: self._write(f"[{name!r}]", at, part) if isinstance(part, Image | Video) else part
                    for name, part in sample.items()
                }
            return {name: self._write(f"[{name!r}]", at, part) for name, part in sample.items()}
        if type(sample) is tuple:
            return tuple(self._write(f"[{i}]", at, part) for i, part in enumerate(sample))
        return self._write("", at, sample)

    def stack(self, samples: Sequence[Any]) -> Any:
        """The batch of the samples that `write` returned, in the order of their places; some may be left out."""
        return stack_samples(
            samples, data_format=self.data_format, pad=self.pad, allocate=self.allocate, rows=self._rows
        )

    def _write(self, entry: str, at: int, part: Any) -> Any:
        if not isinstance(part, np.ndarray) or part.nbytes < _LEAST or part.dtype.hasobject:
            return part
        first = self.data_format == "channels_first" and isinstance(part, Image | Video)
        shape = (part.shape[-1], *part.shape[:-1]) if first else part.shape
        rows = self._rows_of(entry, shape, part.dtype)
        if rows is None:
            return part
        row = rows.array[at]
        array = part.view(np.ndarray)
        target = row.transpose(*range(1, row.ndim), 0) if first else row
        if not _is_same_memory(array, target):
            if first:
                write_channels_first(array, row)
            else:
                row[...] = array
        row = target
        view = row.view(type(part))
        view.__array_finalize__(part)
        rows.views[at] = view
        return view

    def _rows_of(self, entry: str, shape: tuple[int, ...], dtype: np.dtype) -> Rows | None:
        """The rows of an entry if they have the shape and dtype of the first one; the rest is for `stack`."""
        with self._lock:
            if entry not in self._rows:
                self._rows[entry] = Rows(self.allocate((self.count, *shape), dtype), [None] * self.count)
        rows = self._rows[entry]
        return rows if rows.array.shape[1:] == shape and rows.array.dtype == dtype else None


def _is_same_memory(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays of one shape and dtype are views of the same elements."""
    mine, theirs = one.__array_interface__, other.__array_interface__
    return mine["data"] == theirs["data"] and one.strides == other.strides


def _free_row(sample: Any, entry: str | None, row: np.ndarray) -> Any:
    """The sample with copies of the parts that lie in a row of another entry, which is about to be written."""

    def copy_if_there(name: str, part: Any) -> Any:
        lies_there = name != entry and isinstance(part, np.ndarray) and np.may_share_memory(part, row)
        return part.copy() if lies_there else part

    if isinstance(sample, dict):
        return {name: copy_if_there(f"[{name!r}]", part) for name, part in sample.items()}
    if type(sample) is tuple:
        return tuple(copy_if_there(f"[{i}]", part) for i, part in enumerate(sample))
    return copy_if_there("", sample)
