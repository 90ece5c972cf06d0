"""The threads on which PyTorch computes, as its OpenMP keeps them."""

import ctypes
from functools import cache
from pathlib import Path

import torch

_SOFT = 1  # omp_pause_soft: all that the program set stays


def rest_threads() -> None:
    """Give back the threads that OpenMP keeps for the thread that calls; they come again when it computes.

    GNU's OpenMP keeps a team for each thread that has computed. When all teams together are more than the cores it lets them
    sleep between two operations, also those of the only thread at work: steps of a small model then take twice as long.
    """
    pause = _pause()
    if pause is not None:
        pause(_SOFT)


@cache
def _pause():
    """`omp_pause_resource_all` of OpenMP 5.0; None where PyTorch comes with another OpenMP, or none."""
    packages = Path(torch.__file__).parents[1]
    for folder in (packages / "torch" / "lib", packages / "torch.libs"):
        for file in folder.glob("libgomp*.so*"):
            return getattr(ctypes.CDLL(str(file)), "omp_pause_resource_all", None)
    return None
