"""A function along the first axis of tensors, with values that it carries from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.ops.array.indexing import getitem
from labdl.ops.array.shape import broadcast_to, concat, expand_dims, flip, reshape, stack, take, unstack
from labdl.ops.control_flow.cond import check_callable
from labdl.ops.control_flow.interpretation import find_interpreter, run_loop
from labdl.ops.control_flow.sequences import Sequences
from labdl.ops.control_flow.structure import (
    check_equal,
    leaves,
    map_leaves,
    merge,
    owner_of,
    pick,
    specs_of,
    to_tensors,
)
from labdl.ops.math.arithmetic import add
from labdl.ops.math.comparison import less_equal
from labdl.ops.operator.readable import only_shapes
from labdl.spec import Spec

__all__ = ["scan"]


def scan(f: Callable, init, xs=None, length: int | None = None, reverse: bool = False):
    """``carry, y = f(carry, x)`` for each slice of ``xs``: (last carry, all ys), as jax.lax.scan and keras.ops.scan.

    Gradients flow through all steps. Compilers write few steps one after the other and many as a loop; torch.compile and
    paddle.jit.to_static have no gradient of loops: there a training step with more than 16 runs eagerly, and a warning says so.

    >>> labdl.ops.scan(lambda total, x: (total + x, total * x), 0.0, labdl.ops.arange(5, dtype="float32"))

    Args:
        f: a function of the carried values and a slice that returns both the next carried values, of equal shapes and data
            types, and a result (or None).
        init: the first carried values: a tensor, a number, or several in a tuple, list or dict.
        xs: tensors of equal length, whose slices along the first axis are passed to ``f``; None for ``length`` steps
            without one.
        length: the number of steps; may be omitted with ``xs``.
        reverse: begin with the last slice. The results keep the order of the slices.

    Returns the last carried values, and the results stacked along a new first axis. Raises TypeError if ``f`` returns no
    pair or changes a shape or data type, ValueError if lengths differ or are missing.
    """
    check_callable("ops.scan", "f", f)
    owner = owner_of(init, xs)
    init, xs = to_tensors(init, owner, "ops.scan: init"), to_tensors(xs, owner, "ops.scan: xs")
    count = _length(xs, length)

    def step(carry, x) -> tuple:
        found = f(carry, x)
        if not isinstance(found, list | tuple) or len(found) != 2:
            raise TypeError(f"ops.scan: f must return (carry, y), received {found!r:.60}")
        return to_tensors(found[0], owner, "ops.scan: the carry of f"), to_tensors(
            found[1], owner, "ops.scan: the y of f"
        )

    interpreter = find_interpreter(owner, "scan")
    if count == 0 or owner.name == "spec":
        return _infer(step, init, xs, count, owner)
    if count is None and only_shapes(owner):
        return _run_once(step, init, xs)
    if interpreter is not None and (count is None or count > interpreter.unrolled):
        return _loop(interpreter, step, init, xs, count, reverse, owner)
    return _unroll(step, init, xs, count, reverse)


def _length(xs, length: int | None) -> int | None:
    """The number of steps, None if it is not known before the tensors have values."""
    if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 0):
        raise ValueError(f"ops.scan wants a length of 0 or more, received {length!r:.60}")
    specs = [*map(dispatch.spec_of, leaves(xs))]
    if any(not spec.shape for spec in specs):
        raise ValueError("ops.scan takes slices of xs along the first axis, and one of them has no axes")
    sizes = {spec.shape[0] for spec in specs} | {length}
    known = {n for n in sizes if n is not None}
    if len(known) > 1:
        raise ValueError(f"ops.scan: the tensors in xs and length must be equally long, received {sorted(known)}")
    if not specs and length is None:
        raise ValueError("ops.scan wants a length where there are no xs")
    return next(iter(known), None)


def _infer(step: Callable, init, xs, count: int | None, owner):
    """Shape inference, and the result of no steps."""
    start = specs_of(init)
    carry, y = step(start, map_leaves(lambda x: _slice(dispatch.spec_of(x)), xs))
    carry, y = specs_of(carry), specs_of(y)
    _check(start, carry)
    ys = map_leaves(lambda spec: spec.with_shape((count, *spec.shape)), y)
    if owner.name == "spec":
        return merge(start, carry), ys
    return init, map_leaves(lambda spec: to_tensors(np.zeros(spec.shape, spec.dtype), owner, ""), ys)


def _run_once(step: Callable, init, xs):
    """Steps of an unknown number, by an interpreter that notes something about its Specs."""
    carry, y = step(init, map_leaves(lambda x: getitem(x, 0), xs))
    _check(init, carry)
    return carry, map_leaves(lambda y: take(expand_dims(y, 0), Spec((None,), "int64"), axis=0), y)


def _slice(spec: Spec) -> Spec:
    return spec.with_shape(spec.shape[1:])


def _check(carry, following) -> None:
    check_equal(carry, following, "ops.scan", "init", "the carry that f returns")


def _unroll(step: Callable, carry, xs, count: Any, reverse: bool):
    columns = [unstack(x, axis=0) for x in leaves(xs)]
    results: list = [None] * count
    for n, at in enumerate(reversed(range(count)) if reverse else range(count)):
        following, results[at] = step(carry, pick([column[at] for column in columns], xs))
        if not n:
            _check(carry, following)
        carry = following
    return carry, map_leaves(lambda *each: stack([*each], axis=0), *results)


def _loop(interpreter, step: Callable, carry, xs, count: int | None, reverse: bool, owner):
    """One loop after the first steps, of as many steps at once as the interpreter unrolls.

    The first steps show the shapes of the results. A pass reads and writes tensors of all steps, so few passes take less time.
    """
    many = max(interpreter.unrolled, 1)
    head = 1 if count is None else (count - 1) % many + 1
    if reverse:
        xs = map_leaves(lambda x: flip(x, axis=0), xs)
    carry, first = _unroll(step, carry, map_leaves(lambda x: getitem(x, slice(head)), xs), head, False)
    rest = map_leaves(lambda x: _chunks(getitem(x, slice(head, None)), many), xs)
    kind: Any = getattr(interpreter, "Sequences", Sequences)
    passes = None if count is None else (count - head) // many
    sequences = kind(owner, passes, leaves(rest))
    columns = [sequences.unstack(x) for x in leaves(rest)]

    def body(n, carry, ys) -> tuple:
        slices = pick([sequences.read(column, n) for column in columns], xs)
        carry, y = step(carry, slices) if many == 1 else _unroll(step, carry, slices, many, False)
        return add(n, 1), carry, map_leaves(lambda values, value: sequences.write(values, n, value), ys, y)

    def begin(value):
        return sequences.start(value[0] if many == 1 else broadcast_to(value[:1], (many, *value.shape[1:])))

    start = (to_tensors(0, owner, ""), carry, map_leaves(begin, first))
    _, carry, found = run_loop(interpreter, lambda n, *_: less_equal(n, sequences.last), body, start, passes)
    ys = map_leaves(lambda head, tail: concat([head, _join(sequences.stack(tail), many)], axis=0), first, found)
    return carry, map_leaves(lambda y: flip(y, axis=0), ys) if reverse else ys


def _chunks(x, many: int):
    return x if many == 1 else reshape(x, (-1, many, *x.shape[1:]))


def _join(x, many: int):
    return x if many == 1 else reshape(x, (-1, *x.shape[2:]))
