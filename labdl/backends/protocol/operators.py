"""Implementations of operators."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from labdl.backends.protocol.types import Tensor


class Operators(Protocol):
    """Implementations of operators, by name."""

    operators: ModuleType
    """Functions of operators by name. That of a composite may return NotImplemented for arguments that only the composite
    supports."""

    namespaces: tuple[ModuleType, ...]
    """The framework's modules in which the other operators are found by name."""

    lenient: frozenset[str]
    """Names of operators whose kernels accept invalid data types, which are checked before the call."""

    strict: frozenset[str]
    """Names of operators that are called without a check, since the functions themselves refuse what the shape rule refuses,
    and tensors of other frameworks."""

    def key_of(self, value: Tensor) -> tuple:
        """Shape and data type in a form that is cheap to make and to hash: calls of one form are checked once."""
        ...


class Interpreter(Protocol):
    """A backend that computes operators from their bodies."""

    def implementation(self, operator: Any) -> Callable[..., Any]:
        """The function that computes a `labdl.ops.operator.Operator`."""
        ...
