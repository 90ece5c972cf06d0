"""Deterministic kernels of PyTorch."""

import os

import torch

from labdl.errors import BackendError

WORKSPACE, SIZES = "CUBLAS_WORKSPACE_CONFIG", (":4096:8", ":16:8")


def set_deterministic(mode: bool, warn_only: bool) -> None:
    if mode and torch.cuda.is_available():
        if torch.cuda.is_initialized() and os.environ.get(WORKSPACE) not in SIZES and not warn_only:
            raise BackendError(
                f"cuBLAS of this process was started without {WORKSPACE}=:4096:8 and is not deterministic: call "
                "labdl.use_deterministic_algorithms() before the first tensor is on the GPU"
            )
        os.environ.setdefault(WORKSPACE, SIZES[0])  # read with the first use of the GPU
        torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(mode, warn_only=warn_only)
