"""Copies of the next batch to the device, while the device computes with the current one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.train.data_adapter import flatten

if TYPE_CHECKING:
    from labdl.backends.protocol.types import Tensor


class DevicePrefetch:
    """Starts copies of batches to the device one batch ahead, and gives the steps of a training the copied tensors.

    ``copy`` is `copy_ahead` of the backend, ``tensor`` its `tensor`. An array that a step does not ask for, because
    ``preprocess`` made another one of it, is discarded with its batch. As ``pin_memory=True`` with ``non_blocking=True`` of
    PyTorch, and `tf.data.experimental.prefetch_to_device`.
    """

    def __init__(self, copy: Callable[[np.ndarray], Callable[[], Tensor]], tensor: Callable[[np.ndarray], Tensor]):
        self._copy, self._tensor = copy, tensor
        self._started: dict[int, tuple[np.ndarray, Callable[[], Tensor]]] = {}  # by the identity of the array

    def read(self, batches: Iterator[Any], convert: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield the converted batches, each after the copy of the following one has begun.

        An error of a batch is raised after the batches before it.
        """
        current = None
        while True:
            following, error = None, None
            try:
                batch = convert(next(batches))
                following = batch, self._start(batch)
            except StopIteration:
                pass
            except Exception as raised:
                error = raised
            if current is not None:
                self._started |= current[1]
                yield current[0]
                for key in current[1]:
                    self._started.pop(key, None)
            if error is not None:
                raise error
            if following is None:
                return
            current = following

    def _start(self, batch: Any) -> dict[int, tuple[np.ndarray, Callable[[], Tensor]]]:
        arrays = [leaf for leaf in flatten(batch)[0] if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf"]
        return {id(array): (array, self._copy(array)) for array in arrays}

    def tensor(self, array: np.ndarray) -> Tensor:
        """The tensor that was copied ahead, or a copy that is made now."""
        started = self._started.pop(id(array), None)
        return self._tensor(array) if started is None else started[1]()


def prefetch_for(backend: Any) -> DevicePrefetch | None:
    """The prefetch to the current device of a backend; None on the CPU, and for a backend that does not copy ahead."""
    if not hasattr(backend, "copy_ahead") or backend.current_device() == "cpu":
        return None
    return DevicePrefetch(backend.copy_ahead, backend.tensor)
