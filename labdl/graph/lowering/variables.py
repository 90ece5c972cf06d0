"""The variables that a recording runs on: copies of a model's, or its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.graph.lowering.tape import Forbidden
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter


@dataclass(frozen=True)
class Variables:
    """A variable for each parameter, by the parameter's ``id``, and those that the recording must not use."""

    of: dict[int, Any]
    forbidden: Forbidden | None = None


def own_variables(parameters: Iterable[Parameter]) -> Variables:
    """The variables of the parameters themselves."""
    return Variables({id(p): p.value for p in parameters})


@contextmanager
def copied_variables(parameters: Iterable[Parameter], modules: Sequence[Module], backend) -> Iterator[Variables]:
    """Context in which the variables of a model are replaced by copies, and not changed.

    Recording a function that holds a variable itself (as a native module does) raises CapturedVariableError.
    """
    unique = list({id(p): p for p in parameters}.values())
    originals = [(p, p.value) for p in unique]
    arrays = [np.array(backend.to_numpy(value)) for _, value in originals]
    holders = [
        (module, name, parameter)
        for module in {id(m): m for root in modules for m in root.modules()}.values()
        for name, parameter in module._parameters.items()
    ]
    forbidden = Forbidden(
        frozenset(id(value) for _, value in originals),
        tuple(a for a in arrays if a.size > 1 and a.dtype.kind not in "biu" and a.min() != a.max()),
    )
    try:
        for (parameter, value), array in zip(originals, arrays, strict=True):
            copy = backend.variable(array, parameter.learnable)
            if parameter.learnable and not parameter.trainable:
                backend.set_trainable(copy, False)
            device = backend.device_of(value)
            parameter.value = copy if backend.device_of(copy) == device else backend.move_variable(copy, device)
        for module, name, parameter in holders:
            module.__dict__[name] = parameter.value
        yield Variables({id(p): p.value for p in unique}, forbidden)
    finally:
        for parameter, value in originals:
            parameter.value = value
        for module, name, parameter in holders:
            module.__dict__[name] = parameter.value


@contextmanager
def restored_variables(parameters: Iterable[Parameter], backend) -> Iterator[Variables]:
    """Context in which a recording may write to the variables of a model; their values are restored, also after errors."""
    unique = list({id(p): p for p in parameters}.values())
    arrays = [np.array(backend.to_numpy(p.value)) for p in unique]
    try:
        yield own_variables(unique)
    finally:
        for parameter, array in zip(unique, arrays, strict=True):
            backend.assign(parameter.value, array)
