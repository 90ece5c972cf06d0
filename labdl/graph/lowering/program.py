"""A model as flat calls of its framework."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.spec import Spec


@dataclass(frozen=True)
class Ref:
    """A tensor in a program, by its number: inputs and parameters first, then constants and results in order of use."""

    number: int


@dataclass(frozen=True)
class Text:
    """An object of the framework, as source text."""

    text: str


@dataclass(frozen=True)
class Size:
    """An integer computed from unknown sizes: ``constant + sum(factor * product of sizes)``, divided by ``over``."""

    terms: tuple[tuple[int, tuple[int, ...]], ...]  # factor, indices of sizes
    constant: int = 0
    over: Size | None = None


@dataclass(frozen=True)
class Ramp:
    """A constant tensor whose shape depends on unknown sizes: ``start``, plus for each axis a step times the position."""

    shape: tuple
    start: Any
    steps: tuple
    dtype: str


@dataclass(frozen=True)
class Numbers:
    """A small constant tensor in which some numbers depend on unknown sizes."""

    values: Any
    dtype: str


@dataclass
class Block:
    """The calls of a branch or of a loop, and what they result in."""

    calls: list[Call]
    outputs: Any


@dataclass
class Call:
    """One call. ``target`` is a dotted name of the framework, ".name" for a method, or in this process an object.

    "if" has a condition as its argument and two blocks with the result of each branch; "while" has the first values of
    ``variables`` as its arguments and two blocks, with the condition and with the next values.
    """

    target: Any
    args: tuple
    kwargs: dict[str, Any]
    results: Any  # a Ref, or a tuple of Refs and None
    place: str = ""  # path of the calling module
    writes: bool = False  # modifies one of its arguments
    blocks: tuple[Block, ...] = ()
    variables: Any = ()  # Refs


@dataclass
class Program:
    """The framework calls of a model on one framework, in one mode."""

    inputs: list[Spec]
    sizes: list[tuple[int, int]]  # unknown sizes: input and axis
    parameters: dict[str, Ref]
    constants: dict[int, np.ndarray | Ramp | Numbers]
    calls: list[Call]
    outputs: Any


def operands(call: Call) -> Iterator[int]:
    """The numbers of all tensors that a call uses, also in its blocks."""
    yield from refs((call.args, call.kwargs))
    for block in call.blocks:
        for inner in block.calls:
            yield from operands(inner)
        yield from refs(block.outputs)


def refs(value) -> Iterator[int]:
    """The numbers of all tensors in an argument or a result."""
    if isinstance(value, Ref):
        yield value.number
    elif isinstance(value, slice):
        yield from refs((value.start, value.stop, value.step))
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from refs(each)
