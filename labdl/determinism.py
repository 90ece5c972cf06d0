"""The switch for deterministic kernels."""

from __future__ import annotations

from labdl import dispatch
from labdl.errors import ConfigError


def use_deterministic_algorithms(mode: bool = True, *, warn_only: bool = False) -> None:
    """Let every backend compute with kernels that give the same bits for the same inputs on the same machine.

    Call it at the start of a program, with `labdl.seed`, which it does not replace: the data order and the random numbers of
    a training come from seeds. It holds for the backends that are loaded now and later. A kernel that has no deterministic
    form is an error that names it; ``warn_only=True`` makes it a warning, on PyTorch.

    | backend | on the CPU | on another device |
    |---|---|---|
    | PyTorch | `torch.use_deterministic_algorithms` | the same, with CUBLAS_WORKSPACE_CONFIG, and cuDNN that tries no kernels |
    | TensorFlow | `enable_op_determinism`, for the rest of the process | the same |
    | PaddlePaddle, MindSpore | their kernels are deterministic | refused: they do not tell which kernels are not |

    It costs time, most where kernels of a GPU add without atomic operations: in convolutions, scattering and interpolation.
    PyTorch also fills new memory, and cuDNN tries no kernels; TensorFlow reads data and reduces in one
    order. Semantics: torch.use_deterministic_algorithms; enable_op_determinism of TensorFlow, deterministic=True of
    Lightning's Trainer.

    Raises BackendError for a backend and device that cannot promise it, and to switch TensorFlow off again.

    >>> labdl.seed(1)
    >>> labdl.use_deterministic_algorithms()
    """
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(value, bool):
            raise ConfigError(f"use_deterministic_algorithms: {name} wants True or False, received {value!r:.60}")
    dispatch.set_deterministic(mode, warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """True after `use_deterministic_algorithms`."""
    return dispatch.is_deterministic()
