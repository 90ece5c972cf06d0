"""Branches and loops where Python cannot read the values of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from labdl.backends.protocol.types import Tensor


class ControlFlow(Protocol):
    """The framework's own control flow, used while its compiler traces Python.

    Functions and variables are structures of tensors: nested tuples, lists and dictionaries.
    """

    unrolled: int
    """The number of steps up to which a scan is written as that many steps."""

    reads_python: bool
    """True if the compiler reads Python's code, of which it knows a part, instead of running it."""

    def values_are_unknown(self) -> bool:
        """True while Python runs on tensors without values."""
        ...

    def number(self, value: bool | int | float | complex, dtype: str) -> Tensor:
        """A tensor of shape () with a number of Python."""
        ...

    def cond(self, pred: Tensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
        """The result of the function that ``pred`` selects."""
        ...

    def while_loop(
        self,
        cond: Callable[..., Tensor],
        body: Callable[..., tuple],
        variables: tuple,
        maximum_iterations: int | None = None,
    ) -> tuple:
        """The variables when ``cond(*variables)`` is False, ``body(*variables)`` being the next ones.

        ``cond`` counts the iterations itself; ``maximum_iterations`` is for compilers that need to know it.
        """
        ...


class ControlFlowBackend(Protocol):
    """Optional: a framework whose compiler traces LabDL's Python; the others compile recorded programs."""

    control_flow: ControlFlow
