"""The choice between two functions by the value of a tensor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labdl import dispatch
from labdl.ops.control_flow.interpretation import find_interpreter
from labdl.ops.control_flow.structure import check_equal, either, owner_of, to_tensors
from labdl.ops.operator.readable import only_shapes
from labdl.spec import show

__all__ = ["cond"]


def cond(pred, true_fn: Callable, false_fn: Callable, *operands):
    """``true_fn(*operands)`` if ``pred`` is True, else ``false_fn(*operands)``, as jax.lax.cond and keras.ops.cond.

    Both functions must return tensors of equal shapes and data types, one or several in a tuple, list or dict; numbers become
    tensors. Gradients flow through the function that ran. With values at hand only that one runs; shape inference and compilers
    run both. The choice between elements is `where`.

    >>> labdl.ops.cond(labdl.ops.sum(x) > 0, lambda: x * 2, lambda: -x)

    Args:
        pred: a bool, or a boolean tensor of shape (): reduce others with `any` or `all`.
        true_fn: a function of the operands, which may also use other tensors and modules.
        false_fn: another one.

    Raises TypeError if ``pred`` is not one boolean, or if the results differ in shape or data type where both run.
    """
    for name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        check_callable("ops.cond", name, function)
    if isinstance(pred, bool | np.bool_):
        return _run("true_fn" if pred else "false_fn", true_fn if pred else false_fn, operands, owner_of(operands))
    check_boolean("ops.cond", "pred", pred)
    owner = owner_of(pred, operands)
    interpreter = find_interpreter(owner, "cond")
    if interpreter is None and not only_shapes(owner):
        return _run("true_fn" if pred else "false_fn", true_fn if pred else false_fn, operands, owner)

    def branch(name, function):
        return lambda: _run(name, function, operands, owner)

    if interpreter is not None:
        return interpreter.cond(pred, branch("true_fn", true_fn), branch("false_fn", false_fn))
    found = branch("true_fn", true_fn)(), branch("false_fn", false_fn)()
    check_equal(*found, "ops.cond", "the result of true_fn", "that of false_fn")
    return either(pred, *found, owner)


def _run(name: str, function: Callable, operands: tuple, owner):
    return to_tensors(function(*operands), owner, f"ops.cond: the result of {name}")


def check_callable(who: str, name: str, value) -> None:
    if not callable(value):
        raise TypeError(f"{who} wants a function for {name}, received {value!r:.60}: write lambda: ...")


def check_boolean(who: str, name: str, value) -> None:
    """Raise TypeError unless the value is one boolean."""
    if dispatch.owner_of_type(type(value)) is None and not isinstance(value, np.ndarray):
        raise TypeError(f"{who} wants a bool or a boolean tensor of shape () for {name}, received {value!r:.60}")
    spec = dispatch.spec_of(value)
    if spec.dtype != "bool" or spec.shape != ():
        raise TypeError(
            f"{who} wants a boolean tensor of shape () for {name}, received {show(spec.shape)} {spec.dtype}: "
            "compare the values (x > 0), and reduce with ops.any or ops.all"
        )
