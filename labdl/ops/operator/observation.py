"""Observation of operators: each call of a thread, also by infix operators, with its arguments and its result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from labdl.ops.operator import call
from labdl.ops.operator.definition import OPERATORS, Operator


@contextmanager
def observe_operators(callback: Callable[[Operator, tuple, dict[str, Any], Any], None]) -> Iterator[None]:
    """Call ``callback(operator, arguments, options, result)`` after each operator that this thread computes.

    Operators that another operator calls are not reported. Without observation operators have no overhead: it replaces the
    implementations in their tables, and puts them back.
    """
    thread, active = threading.get_ident(), False
    find = call.implementation_for

    def wrap(entry: Operator, implementation: Callable) -> Callable:
        def run(*args, **kwargs):
            nonlocal active
            if active or threading.get_ident() != thread:
                return implementation(*args, **kwargs)
            active = True
            try:
                result = implementation(*args, **kwargs)
            finally:
                active = False
            callback(entry, args, kwargs, result)
            return result

        run.observed = implementation  # type: ignore[attr-defined]
        return run

    for entry in OPERATORS.values():
        entry.add_implementations({kind: wrap(entry, f) for kind, f in entry.remove_implementations().items()})
    call.implementation_for = lambda entry, owner, kind: wrap(entry, find(entry, owner, kind))
    try:
        yield
    finally:
        call.implementation_for = find
        for entry in OPERATORS.values():
            observed = entry.remove_implementations()
            entry.add_implementations({kind: getattr(f, "observed", f) for kind, f in observed.items()})
