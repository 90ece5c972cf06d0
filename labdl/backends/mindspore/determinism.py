"""Deterministic kernels of MindSpore: those of the CPU."""

from labdl.backends.mindspore.devices import current_device
from labdl.errors import BackendError


def set_deterministic(mode: bool, warn_only: bool) -> None:
    if mode and not warn_only and current_device() != "cpu":
        raise BackendError(
            f"MindSpore does not tell which kernels of {current_device()} are not deterministic: train on the CPU, or with "
            "PyTorch, or call mindspore.set_deterministic(True) for those of Ascend that have such a form"
        )
