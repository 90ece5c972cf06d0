"""Loops whose number of iterations depends on the values of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labdl.ops.control_flow.cond import check_boolean, check_callable
from labdl.ops.control_flow.interpretation import find_interpreter, run_loop
from labdl.ops.control_flow.structure import check_equal, either, map_leaves, owner_of, to_tensors
from labdl.ops.math.comparison import less, logical_and
from labdl.ops.operator.readable import only_shapes

__all__ = ["while_loop"]


def while_loop(cond: Callable, body: Callable, loop_vars, maximum_iterations: int | None = None):
    """``while cond(*loop_vars): loop_vars = body(*loop_vars)``, with JAX's meaning and the arguments of keras.ops.while_loop.

    Gradients flow through all iterations that ran. Of the compilers, torch.compile and paddle.jit.to_static have no gradient
    of such a loop: there a training step with one runs eagerly, and a warning says so.

    >>> labdl.ops.while_loop(lambda x, n: labdl.ops.sum(x) < 100, lambda x, n: (2 * x, n + 1), (x, 0))

    Args:
        cond: a function of the variables that returns a bool or a boolean tensor of shape ().
        body: a function of the variables that returns the next ones, of equal shapes and data types.
        loop_vars: the first values, tensors or numbers (or structures of them) in a tuple or a list; or a single one, which
            both functions take alone.
        maximum_iterations: the largest number of iterations; None for no limit.

    Returns the last variables, in the structure of ``loop_vars``. Raises TypeError if ``cond`` returns no boolean or if a
    shape or data type changes.
    """
    check_callable("ops.while_loop", "cond", cond)
    check_callable("ops.while_loop", "body", body)
    if maximum_iterations is not None and (
        isinstance(maximum_iterations, bool) or not isinstance(maximum_iterations, int) or maximum_iterations < 0
    ):
        raise ValueError(f"ops.while_loop wants maximum_iterations of 0 or more, received {maximum_iterations!r:.60}")
    several = isinstance(loop_vars, list | tuple)
    owner = owner_of(loop_vars)
    start = to_tensors(tuple(loop_vars) if several else (loop_vars,), owner, "ops.while_loop: loop_vars")

    def test(*variables):
        found = cond(*variables)
        if isinstance(found, bool | np.bool_):
            return to_tensors(found, owner, "")
        check_boolean("ops.while_loop", "the result of cond", found)
        return found

    def step(*variables) -> tuple:
        found = body(*variables)
        if several and (not isinstance(found, list | tuple) or len(found) != len(start)):
            raise TypeError(
                f"ops.while_loop: body must return {len(start)} variables in a tuple, received {found!r:.60}"
            )
        found = to_tensors(tuple(found) if several else (found,), owner, "ops.while_loop: the result of body")
        return found

    result = _run(test, step, start, owner, maximum_iterations)
    if not several:
        return result[0]
    return [*result] if isinstance(loop_vars, list) else result


def _run(test: Callable, step: Callable, variables: tuple, owner, most: int | None) -> tuple:
    interpreter = find_interpreter(owner, "while_loop")
    if only_shapes(owner):
        again, following = test(*variables), step(*variables)
        _check(variables, following)
        return either(again, variables, following, owner)
    if interpreter is not None:
        return _interpret(interpreter, test, step, variables, owner, most)
    count = 0
    while (most is None or count < most) and test(*variables):
        following = step(*variables)
        if not count:
            _check(variables, following)
        variables, count = following, count + 1
    return variables


def _interpret(interpreter, test: Callable, step: Callable, variables: tuple, owner, most: int | None) -> tuple:
    def following(*variables) -> tuple:
        found = step(*variables)
        _check(variables, found)
        return map_leaves(lambda _, value: value, variables, found)  # keys in the order of the variables

    if most is None:
        return run_loop(interpreter, test, following, variables)

    def inside(count, *variables) -> Any:
        return logical_and(less(count, most), test(*variables))

    def body(count, *variables) -> tuple:
        return (count + 1, *following(*variables))

    return run_loop(interpreter, inside, body, (to_tensors(0, owner, ""), *variables), most)[1:]


def _check(variables: tuple, following: tuple) -> None:
    check_equal(variables, following, "ops.while_loop", "the variables", "the result of body")
