"""Recording of branches and loops: each block once, whatever the values of the recording are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labdl.errors import ModelError
from labdl.graph.lowering.program import Block, Call, operands
from labdl.graph.lowering.tape import Tape
from labdl.ops.control_flow.structure import check_equal, leaves, map_leaves
from labdl.ops.operator.readable import recording


@contextmanager
def recorded_control_flow(tape: Tape) -> Iterator[None]:
    """Context in which `ops.cond` and loops are recorded on the tape as calls with blocks."""
    token = recording.set(_Recording(tape))
    try:
        yield
    finally:
        recording.reset(token)


class _Recording:
    """Interpreter of control flow (see `labdl.ops.control_flow.interpretation`)."""

    def __init__(self, tape: Tape):
        self.tape = tape
        self.unrolled = tape.backend.SOURCE.get("unrolled", 0)

    def cond(self, pred, true_fn, false_fn):
        (true, first), (false, second) = self._block(true_fn), self._block(false_fn)
        check_equal(first, second, "ops.cond", "the result of true_fn", "that of false_fn")
        return self._append("if", (pred,), (true, false), first)

    def while_loop(self, cond, body, variables: tuple, maximum_iterations: int | None = None) -> tuple:
        states = self._copies(variables)
        names = tuple(self.tape.names(leaves(states)))
        test, (following, found) = self._block(lambda: cond(*states))[0], self._block(lambda: body(*states))
        check_equal(variables, found, "ops.while_loop", "the variables", "the result of body")
        return self._append("while", tuple(leaves(variables)), (test, following), states, names)

    def _append(self, target: str, args: tuple, blocks, template, variables=()) -> Any:
        """The results of a call with blocks: copies of ``template``, since a branch may return a tensor that exists."""
        tape = self.tape
        given = tape.result(args)
        results = self._copies(template)
        writes = any(call.writes for block in blocks for call in block.calls)
        names = tuple(tape.names(leaves(results)))
        tape.append(Call(target, given, {}, names, tape.place, writes, tuple(blocks), variables))
        return results

    def _block(self, function) -> tuple[Block, Any]:
        found = None

        def run():
            nonlocal found
            found = function()
            return tuple(leaves(found))

        block, _ = self.tape.block(run)
        for call in block.calls:
            if not isinstance(call.target, str) and not [*operands(call)]:
                raise ModelError(
                    "a branch or a loop draws random numbers, which would be the same in each pass of a compiled step: draw "
                    "them before it, and pass them in"
                )
        return block, found

    def _copies(self, value):
        with self.tape.pause():
            return map_leaves(self.tape.backend.copy, value)
