"""Symbolic tensors for the export: an operator that receives one writes its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import ModelError
from labdl.ops.operator import Operator
from labdl.spec import Spec

if TYPE_CHECKING:
    from labdl.saving.onnx.exporter.writer import Writer


class Value(Spec):
    """A Spec with the name of a tensor of the file, or with an array that is named when a node needs it.

    ``origin`` is the name of the parameter that the array is, or was computed from; empty for constants of the model.
    """

    writer: Writer
    name: str
    array: np.ndarray | None
    origin: str

    def __init__(self, writer: Writer, spec: Spec, name: str = "", array: np.ndarray | None = None, origin: str = ""):
        super().__init__(spec.shape, spec.dtype)
        for key, value in (("writer", writer), ("name", name), ("array", array), ("origin", origin)):
            object.__setattr__(self, key, value)

    def plain(self) -> Spec:
        return Spec(self.shape, self.dtype)


def values_in(value):
    """The values among arguments, also in lists and tuples."""
    if isinstance(value, Value):
        yield value
    elif isinstance(value, list | tuple):
        for v in value:
            yield from values_in(v)


def map_values(value, function) -> Any:
    """Apply ``function`` to the leaves of nested lists and tuples."""
    if isinstance(value, list | tuple):
        return type(value)(map_values(v, function) for v in value)
    return function(value)


class _Interpreter:
    name = "onnx"
    precedence = 5  # before every framework: a model may mix in their parameters

    def implementation(self, entry: Operator):
        def write(*args, **kwargs):
            writer = next(values_in([*args, *kwargs.values()])).writer
            return writer.operator(entry, args, kwargs)

        return write

    def spec_of(self, value: Value) -> Spec:
        return value.plain()

    def to_numpy(self, value: Value) -> np.ndarray:
        raise ModelError(
            f"{value.writer.place()} computes on the values of its tensors outside of the graph, which ONNX "
            "cannot represent"
        )


dispatch.claim(Value, _Interpreter())
