"""The ONNX form of each operator: its ``onnx=`` attribute, a writer, or the parts of a composite.

An operator whose inputs are those of an ONNX operator names it (``onnx=`` of `labdl.ops.operator`). Any other has a writer
here, or is a composite and is written as its parts, or says why it has no form (``without_onnx=``).
"""

from __future__ import annotations

from collections.abc import Callable

from labdl.ops import rules
from labdl.ops.operator import Operator

WRITERS: dict[str, Callable] = {}


def writes(*operators: str) -> Callable[[Callable], Callable]:
    """Decorator that registers the writer of some operators.

    A writer is called with an `Emit` and all arguments of the operator in order: tensors as `Value`, promoted operands in
    their common dtype. It returns the name of its result or a `Value`, a list of them for several, or NotImplemented for
    arguments that only the composite's body can do.
    """

    def register(writer: Callable) -> Callable:
        WRITERS.update(dict.fromkeys(operators, writer))
        return writer

    return register


def direct(kind: str, **attributes) -> Callable:
    """A writer of one ONNX operator of the same inputs, with these attributes."""
    return lambda e, *inputs: e(kind, *inputs, **attributes)


def writer_of(entry: Operator) -> Callable | None:
    """The writer of an operator, None if there is none."""
    if entry.onnx is None:
        return WRITERS.get(entry.name)
    kind = entry.onnx
    if entry.rule in (rules.floating, rules.division):  # ONNX's take floats only
        return lambda e, *inputs: e(kind, *(e.cast(x, e.spec.dtype) for x in inputs))
    return direct(kind)
