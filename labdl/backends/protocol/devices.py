"""Devices and threads."""

from __future__ import annotations

from typing import Protocol

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


class ThreadedBackend(Protocol):
    """Optional: a framework that keeps idle threads for each thread that computed with it."""

    def rest_threads(self) -> None:
        """Release the idle threads of the calling thread, before another thread starts to train."""
        ...
