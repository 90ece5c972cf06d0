"""Implementations of operators."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol


class Operators(Protocol):
    """Implementations of operators, by name."""

    operators: ModuleType
    """Functions of operators by name. That of a composite may return NotImplemented for arguments that only the composite
    supports."""

    namespaces: tuple[ModuleType, ...]
    """The framework's modules in which the other operators are found by name."""

    lenient: frozenset[str]
    """Names of operators whose kernels accept invalid data types, which are checked before the call."""


class Interpreter(Protocol):
    """A backend that computes operators from their bodies."""

    def implementation(self, operator: Any) -> Callable[..., Any]:
        """The function that computes a `labdl.ops.operator.Operator`."""
        ...
