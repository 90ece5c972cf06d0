"""Tensors, data types and variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from labdl.backends.protocol.types import NativeDtype, Tensor, Variable
from labdl.spec import Spec


class Tensors(Protocol):
    """Tensors: types, and conversion from and to arrays."""

    name: str
    """Name of the backend."""

    concurrent: bool
    """True if several threads may compute concurrently."""

    def tensor_types(self) -> tuple[type, ...]:
        """The types of tensors and variables that the backend computes with, symbolic ones included."""
        ...

    def dtype(self, name: str) -> NativeDtype:
        """The data type called ``name`` in `labdl.spec.DTYPES`."""
        ...

    def spec_of(self, value: Tensor) -> Spec:
        """Shape and data type; an unknown size of a symbolic tensor is None."""
        ...

    def tensor(self, array: Any) -> Tensor:
        """A tensor on the current device with the values of an array; it shares no memory with the array."""
        ...

    def to_numpy(self, value: Tensor) -> np.ndarray:
        """The values as an array, bfloat16 as float32; detached, from any device."""
        ...

    def copy(self, value: Tensor) -> Tensor:
        """A copy on the same device."""
        ...

    def from_dlpack(self, value: Any, copy: bool | None = None) -> Tensor:
        """The tensor of an object with ``__dlpack__``, without a copy if the framework supports it.

        Raises ValueError for ``copy=False`` if it does not.
        """
        ...


class Variables(Protocol):
    """Parameters and buffers in the framework's own form, updated in place."""

    def variable(self, array: np.ndarray, trainable: bool = True) -> Variable:
        """A variable on the current device with the values of an array."""
        ...

    def assign(self, target: Variable, array: np.ndarray) -> None:
        """Set the values of a variable in place, converted to its data type; the shape is the same."""
        ...

    def move_variable(self, value: Variable, device: str) -> Variable:
        """A variable with the same values, trainable or not as before, on another device."""
        ...

    def is_trainable(self, variable: Variable) -> bool | None:
        """The framework's own flag of a variable, which people may set; None if it has none."""
        ...

    def set_trainable(self, variable: Variable, flag: bool) -> None:
        """Freeze or unfreeze a variable."""
        ...

    def finite(self, variables: Sequence[Tensor]) -> int | None:
        """Index of the first tensor with a value that is infinite or not a number, None if there is none."""
        ...

    def clear_gradients(self, variables: Sequence[Variable]) -> None:
        """Drop the gradients that variables store, where the framework stores them."""
        ...
