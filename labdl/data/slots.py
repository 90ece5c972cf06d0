"""Memory for batches that is used again: the pages of fresh memory would be cleared by the system for each batch."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: TensorFlow takes such arrays without a copy
_LEAST = 1 << 16  # bytes; smaller arrays come from the memory of the process, which is warm


class Lease:
    """Memory that an array of NumPy and its views use; ``release`` is called when the last of them is gone.

    A tensor that uses the memory of an array holds the array, so that a slot which a backend still reads is not used again.
    """

    __slots__ = ("__array_interface__", "__weakref__", "_owner")

    def __init__(self, address: int, size: int, owner: Any, release: Callable[[], None]):
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1", "data": (address, False)}
        self._owner = owner
        weakref.finalize(self, release).atexit = False

    def array(self) -> np.ndarray:
        """The bytes (size,) of the memory."""
        return np.asarray(self)


class SlotPool:
    """Slots for the arrays of batches: each is used again when nothing holds an array in it any more.

    `allocate` is an argument of `labdl.data.batches.stack_samples`. ``most`` is the number of free slots that are kept.
    Threads may share a pool.
    """

    def __init__(self, most: int):
        self.most = most
        self._free: list[np.ndarray] = []
        self._lock = threading.Lock()

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array whose values begin at a multiple of 64 bytes, in a free slot or in a new one."""
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        memory = self._take(size) if size >= _LEAST else None
        if memory is None:
            memory = np.empty(size + ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % ALIGNMENT
        if size < _LEAST:
            return memory[start : start + size].view(dtype).reshape(shape)
        free, most = self._free, self.most

        def release(memory: np.ndarray = memory) -> None:
            if free is self._free and len(free) < most:  # not after a `clear`
                free.append(memory)

        lease = Lease(memory.ctypes.data + start, size, memory, release)
        return lease.array().view(dtype).reshape(shape)

    def _take(self, size: int) -> np.ndarray | None:
        """A free slot of about the size, so that a large one does not serve a small array."""
        with self._lock:  # a release may append meanwhile
            for at in range(len(self._free)):
                if size + ALIGNMENT <= self._free[at].size <= 2 * size + ALIGNMENT:
                    return self._free.pop(at)
        return None

    def __reduce__(self) -> Any:
        return type(self), (self.most,)

    def clear(self) -> None:
        """Give the slots back to the system: the free ones now, the others when nothing holds them."""
        with self._lock:
            self._free = []
