"""The update of a rule in a framework's own calls, for compilers that cannot trace LabDL's look-up of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from labdl import dispatch, ops
from labdl.graph.lowering.compilable import flatten
from labdl.graph.lowering.record import Subject
from labdl.spec import Spec

if TYPE_CHECKING:
    from labdl.train.optimizers.base import Optimizer

_DTYPES = ("float32", "float64")  # of the others, slots and parameters may differ in their dtype


def flat_update(rule: Optimizer, backend: str, shape: tuple[int, ...], dtype: str) -> Callable | None:
    """The update of a parameter of this shape: ``(parameter, gradient, *slots, *numbers)`` to ``(parameter, *slots)``.

    The numbers are float64 tensors without axes. None if the calls of the update depend on values, or for half precision.
    """
    if dtype not in _DTYPES:
        return None
    slots, names = rule.slots(shape), list(rule.numbers(1, rule.learning_rate))

    def update(parameter, gradient, *given):
        state, numbers = dict(zip(slots, given, strict=False)), given[len(slots) :]
        numbers = {name: ops.astype(number, dtype) for name, number in zip(names, numbers, strict=True)}
        value, after = rule.update(parameter, gradient, state, **numbers)
        return (value, *(after[slot] for slot in slots))

    specs = [Spec(shape, dtype)] * 2 + [Spec(size, dtype) for size, _ in slots.values()]
    specs += [Spec((), "float64")] * len(names)
    try:
        return flatten(Subject(update, dispatch.get(backend), specs, {}, ()), training=False).run
    except Exception:  # of a rule's own Python, which may take tensors in place of numbers for anything
        return None
