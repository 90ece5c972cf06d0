"""Devices and threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from labdl.backends.protocol.types import Tensor


class Devices(Protocol):
    """Devices, with one naming scheme for all frameworks: "cpu", "cuda:0", "ascend:0", "mps", "xpu:0"."""

    def devices(self) -> tuple[str, ...]:
        """The devices of this machine, the CPU first."""
        ...

    def current_device(self) -> str:
        """The device of new tensors and variables."""
        ...

    def set_device(self, name: str) -> None:
        """Choose the current device, one of `devices`. Raises RuntimeError if the framework has fixed it already."""
        ...

    def device_of(self, value: Tensor) -> str:
        """The device that holds a tensor."""
        ...

    def to_device(self, value: Tensor, name: str) -> Tensor:
        """The tensor on another device, with its gradient's history; itself if it is already there."""
        ...


class ExclusiveBackend(Protocol):
    """Optional: a framework whose kernels may be used by one thread at a time."""

    def exclusive(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, called by one thread at a time."""
        ...


class CopyingBackend(Protocol):
    """Optional: a framework that copies to its device beside the kernels that run there."""

    def copy_ahead(self, array: np.ndarray) -> Callable[[], Tensor]:
        """Start the copy of an array to the current device; the returned function waits for it and returns the tensor."""
        ...


class ThreadedBackend(Protocol):
    """Optional: a framework that keeps idle threads for each thread that computed with it."""

    def rest_threads(self) -> None:
        """Release the idle threads of the calling thread, before another thread starts to train."""
        ...
