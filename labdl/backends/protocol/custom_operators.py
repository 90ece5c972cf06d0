"""Custom operators: NumPy functions as differentiable functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from labdl.backends.protocol.types import Tensor
from labdl.spec import Spec


class CustomOperators(Protocol):
    """Calls of NumPy functions from eager and compiled code."""

    def host_function(self, bind: Callable[[Any], Any]) -> Callable[[Any], Callable[..., Any]]:
        """``native(options)``, which returns a differentiable function of tensors.

        The function calls the NumPy functions of the `labdl.ops.custom.numpy_body.HostFunction` ``bind(options)``; options
        are hashable.
        """
        ...


class CompiledHostCalls(Protocol):
    """Optional: arrays computed at each run of a compiled function.

    Without it the array is computed at compile time, or the compiler falls back to Python itself.
    """

    def each_time(self, make: Callable[[], np.ndarray], spec: Spec) -> Tensor:
        """A tensor of the array that ``make()`` returns at each run, of the given shape and data type."""
        ...
