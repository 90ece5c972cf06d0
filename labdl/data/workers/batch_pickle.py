"""Pickles of batches whose arrays lie in a segment of shared memory: only places and shapes are written."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle
import numpy as np

from labdl.data.slots import ALIGNMENT

_LEAST = 1 << 12  # bytes; smaller arrays are pickled


class SegmentWriter:
    """Places arrays one after the other in a memory; those that do not fit are kept apart and counted.

    `allocate` is an argument of `labdl.data.batches.stack_samples`.
    """

    def __init__(self, memory: np.ndarray | None):
        self.memory = np.empty(0, np.uint8) if memory is None else memory
        self.needed = 0  # bytes of all arrays
        # by address, with the array that keeps it valid; None for arrays that did not fit
        self._places: dict[int, tuple[np.ndarray, int | None]] = {}

    @property
    def fits(self) -> bool:
        """True if all arrays so far lie in the memory."""
        return self.needed <= self.memory.size

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array in the memory if there is room, at a multiple of 64 bytes."""
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size < _LEAST:
            return np.empty(shape, dtype)
        start = -(-self.needed // ALIGNMENT) * ALIGNMENT
        self.needed = start + size
        fits = self.needed <= self.memory.size
        array = self.memory[start : start + size].view(dtype).reshape(shape) if fits else np.empty(shape, dtype)
        self._places[array.ctypes.data] = array, start if fits else None
        return array

    def place_of(self, array: np.ndarray) -> int | None:
        """Where an array lies in the memory; one that is elsewhere is copied if there is room."""
        entry = self._places.get(array.ctypes.data)
        if entry is not None and entry[0].shape == array.shape and entry[0].dtype == array.dtype:
            return entry[1]
        copy = self.allocate(array.shape, array.dtype)
        copy[...] = array
        return self._places[copy.ctypes.data][1]

    def dumps(self, batch: Any) -> bytes:
        """The pickle of a batch, without the arrays that lie in the memory."""
        file = io.BytesIO()
        _Pickler(file, self).dump(batch)
        return file.getvalue()


class _Pickler(cloudpickle.Pickler):
    def __init__(self, file: io.BytesIO, writer: SegmentWriter):
        super().__init__(file)
        self._writer = writer

    def persistent_id(self, obj: Any) -> Any:
        if type(obj) is not np.ndarray or obj.dtype.hasobject or obj.nbytes < _LEAST or not obj.flags.c_contiguous:
            return None
        start = self._writer.place_of(obj)
        return None if start is None else (start, obj.shape, obj.dtype)


def loads(data: bytes, place: Callable[[int, tuple[int, ...], np.dtype], np.ndarray]) -> Any:
    """The batch of a pickle; ``place(start, shape, dtype)`` gives the arrays in the memory."""
    unpickler = _Unpickler(io.BytesIO(data))
    unpickler.place = place
    return unpickler.load()


class _Unpickler(pickle.Unpickler):
    place: Callable[[int, tuple[int, ...], np.dtype], np.ndarray]

    def persistent_load(self, pid: Any) -> np.ndarray:
        return self.place(*pid)
