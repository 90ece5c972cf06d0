"""Deterministic kernels of PaddlePaddle: those of the CPU."""

from labdl.backends.paddle.devices import current_device
from labdl.errors import BackendError


def set_deterministic(mode: bool, warn_only: bool) -> None:
    if mode and not warn_only and current_device() != "cpu":
        raise BackendError(
            f"PaddlePaddle does not tell which kernels of {current_device()} are not deterministic: train on the CPU, or with "
            "PyTorch, or set its FLAGS_cudnn_deterministic for convolutions alone"
        )
