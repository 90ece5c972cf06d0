"""The meaning of each ONNX operator: a reader, or the operator that names it."""

from __future__ import annotations

from collections.abc import Callable

from labdl.ops.operator import OPERATORS

READERS: dict[str, Callable] = {}


def reads(*kinds: str) -> Callable[[Callable], Callable]:
    """Decorator that registers the reader of some ONNX operators.

    A reader is called with the `Run`, the node, and the values of its inputs: tensors of the trace, `KnownValue`, or
    None for an omitted input. It returns the value of its result, or a list of them.
    """

    def register(reader: Callable) -> Callable:
        READERS.update(dict.fromkeys(kinds, reader))
        return reader

    return register


def direct(name: str) -> Callable:
    """A reader for an operator with the same inputs."""
    return lambda r, node, *inputs: r.call(name, *inputs)


def reader_of(kind: str) -> Callable | None:
    """The reader of an ONNX operator, None if it is unsupported."""
    if kind in READERS:
        return READERS[kind]
    name = next((name for name, entry in OPERATORS.items() if entry.onnx == kind), None)
    return None if name is None else direct(name)
