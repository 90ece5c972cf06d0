"""Recording of the framework's own calls, and the source text they become."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypedDict

from labdl.backends.protocol.types import Tensor


class Tape(Protocol):
    """Receiver of recorded calls (`labdl.graph.lowering.tape.Tape`)."""

    training: bool
    """Whether gradients will be asked for."""

    def call(self, target: Any, args: tuple, kwargs: dict, results: Any, writes: bool = False) -> None:
        """Take down a call; ``writes`` where it changes its first argument."""
        ...

    def read(self, tensor: Tensor) -> None:
        """Take down that Python looked at a tensor's values."""
        ...


class _EverySourceWord(TypedDict):
    title: str
    """The framework's name."""
    imports: tuple[str, ...]
    """Import lines."""
    making: dict[str, tuple[str, ...]]
    """Functions that the source may call, by name: their lines."""
    base: str
    """The class of a module."""
    method: str
    """The method that runs."""
    mode: str
    """Parameters of the method after the inputs."""
    training: str
    """The expression for training mode."""
    size: str
    """The expression for the size of ``{x}`` along ``{axis}``."""
    parameter: str
    """The statement that makes a trained variable of ``{array}``."""
    buffer: str
    """The statement that makes a variable that is saved and not trained."""
    kept: str
    """The statement that makes a tensor that is not saved."""
    constant: str
    """The expression for a tensor of ``{array}``."""
    numbers: str
    """The expression for a tensor of ``{values}`` of ``{dtype}``."""
    taken: tuple[str, ...]
    """Names that a module's attributes may not have."""


class SourceWords(_EverySourceWord, total=False):
    """The pieces of source text in which the framework spells a model; ``{name}`` and the like are filled in."""

    held: str
    """The statement that holds an existing variable, for compilers that take the flat form."""


class CallRecorders(Protocol):
    """Recording of the framework's own calls while a function runs."""

    SOURCE: SourceWords

    def recorder(self, live: bool = False) -> AbstractContextManager[Callable[[Callable[[], Any], Tape], Any]]:
        """A context that gives ``record(function, tape)``, which runs a function and notes its calls on the tape.

        With ``live`` the record is for this process: objects that source text cannot name are called as they are.
        """
        ...

    def literal(self, value: Any) -> str | None:
        """The source text of a value that only this framework has, such as a data type; None for others."""
        ...
