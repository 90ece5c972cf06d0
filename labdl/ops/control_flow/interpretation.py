"""Who runs control flow: Python where values are known, the framework where they are not, or the recorder of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from labdl.ops.control_flow.structure import leaves, map_leaves, pick
from labdl.ops.operator.readable import only_shapes, recording


class Interpreter(Protocol):
    """Runs branches and loops where Python cannot, because the values of tensors are not known yet.

    The variables are structures of tensors; the functions return structures of tensors of equal shapes.
    """

    unrolled: int
    """The length up to which `scan` writes its steps one after the other."""

    def cond(self, pred, true_fn, false_fn) -> Any:
        """The result of one of two functions without arguments."""
        ...

    def while_loop(self, cond, body, variables: tuple, maximum_iterations: int | None = None) -> tuple:
        """The variables when ``cond(*variables)`` is False, ``body(*variables)`` being the next ones.

        ``cond`` counts the iterations itself; compilers that need their largest number get it.
        """
        ...


def find_interpreter(owner, name: str) -> Interpreter | None:
    """The interpreter of tensors of ``owner``; None if Python can read their values.

    Raises the error of an owner that has no control flow, such as the trace of a graph.
    """
    if only_shapes(owner):
        return None
    refuse = getattr(owner, "refuse_control_flow", None)
    if refuse is not None:
        refuse(name)
    own = getattr(owner, "control_flow", None)
    return own if own is not None and own.values_are_unknown() else recording.get()


def run_loop(
    interpreter: Interpreter, cond: Callable, body: Callable, variables: tuple, most: int | None = None
) -> tuple:
    """The loop of an interpreter, which gets the tensors alone: some compilers accept no None in a structure."""
    structure = map_leaves(lambda _: 0, variables)

    def flat_body(*tensors) -> tuple:
        return tuple(leaves(body(*pick(tensors, structure))))

    found = interpreter.while_loop(
        lambda *tensors: cond(*pick(tensors, structure)), flat_body, tuple(leaves(variables)), most
    )
    return pick([*found], structure)
