"""Recording of the framework's own calls, and their source text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypedDict

from labdl.backends.protocol.types import Tensor


class Tape(Protocol):
    """Receiver of recorded calls (`labdl.graph.lowering.tape.Tape`)."""

    training: bool
    """True if gradients are needed."""

    def call(self, target: Any, args: tuple, kwargs: dict, results: Any, writes: bool = False) -> None:
        """Record a call; ``writes`` if it modifies its first argument."""
        ...

    def read(self, tensor: Tensor) -> None:
        """Record that Python read a tensor's values."""
        ...


class _EverySourceWord(TypedDict):
    title: str
    """The framework's name."""
    imports: tuple[str, ...]
    """Import lines."""
    functions: dict[str, tuple[str, ...]]
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
    """The statement that creates a trained variable from ``{array}``."""
    buffer: str
    """The statement that creates a variable that is saved and not trained."""
    unsaved: str
    """The statement that creates a tensor that is not saved."""
    constant: str
    """The expression for a tensor of ``{array}``."""
    numbers: str
    """The expression for a tensor of ``{values}`` of ``{dtype}``."""
    reserved: tuple[str, ...]
    """Names that a module's attributes may not have."""


class SourceWords(_EverySourceWord, total=False):
    """Templates of source text of a model in the framework, with placeholders such as ``{name}``."""

    fill: Callable[..., Any]
    """The function ``_fill`` of the source: gives a layer of the framework its arrays, by their names; returns the layer."""
    existing: str
    """The statement that holds an existing variable, for compilers that take the flat form."""
    unrolled: int
    """The number of steps up to which a scan is recorded as that many steps, by default none: as a loop."""
    loops_without_gradient: str
    """Why loops cannot be compiled in training, for compilers that have no gradient of them."""


class CallRecorders(Protocol):
    """Recording of the framework's own calls while a function runs."""

    SOURCE: SourceWords

    def recorder(self, live: bool = False) -> AbstractContextManager[Callable[[Callable[[], Any], Tape], Any]]:
        """A context with ``record(function, tape)``, which runs a function and records its calls on the tape.

        With ``live`` the record is for this process: it may call objects that source text cannot name.
        """
        ...

    def literal(self, value: Any) -> str | None:
        """The source text of a value that only this framework has, such as a data type; None for others."""
        ...
