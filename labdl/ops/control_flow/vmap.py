"""A function of single samples, applied to all slices of its arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable

from labdl import dispatch
from labdl.ops.array.shape import moveaxis
from labdl.ops.control_flow.cond import check_callable
from labdl.ops.control_flow.interpretation import find_interpreter
from labdl.ops.control_flow.scan import scan
from labdl.ops.control_flow.structure import leaves, map_leaves, owner_of, to_tensors

__all__ = ["vmap"]


def vmap(f: Callable, in_axes: int | tuple[int | None, ...] = 0, out_axes: int | tuple[int, ...] = 0) -> Callable:
    """The function that applies ``f`` to each slice of its arguments and stacks the results, as jax.vmap and torch.vmap.

    It runs ``f`` once for each slice (under torch.compile it is torch.vmap): this is right for every operator, and for control
    flow in it, but not faster than a loop. Operators that take a batch themselves are.

    >>> labdl.ops.vmap(labdl.ops.diag)(labdl.ops.ones((8, 3)))

    Args:
        f: a function of tensors (or structures of tensors) that returns a tensor or a structure of tensors.
        in_axes: the axis along which an argument is cut, the same for all or one for each; None for an argument that every call
            receives whole.
        out_axes: where the new axis lies in the results, the same for all or one for each of several results.

    The function raises ValueError if its arguments are not equally long, or if there is nothing to cut.
    """
    check_callable("ops.vmap", "f", f)

    @functools.wraps(f)
    def run(*args):
        axes = in_axes if isinstance(in_axes, list | tuple) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise ValueError(f"ops.vmap wants in_axes for {len(args)} arguments, received {in_axes!r:.60}")
        owner = owner_of(args)
        args = to_tensors(args, owner, "ops.vmap")
        cut = [_move(arg, axis, 0) for arg, axis in zip(args, axes, strict=True) if axis is not None]
        if not leaves(cut):
            raise ValueError("ops.vmap wants an argument to cut: in_axes is None for all of them")
        if len({dispatch.spec_of(x).shape[0] for x in leaves(cut)} - {None}) > 1:
            shapes = [dispatch.spec_of(x).shape for x in leaves(args)]
            raise ValueError(f"ops.vmap wants arguments of equal length along in_axes={in_axes}, received {shapes}")

        interpreter = find_interpreter(owner, "vmap")
        own = getattr(interpreter, "vmap", None)
        if own is not None:
            return own(lambda *slices: to_tensors(f(*slices), owner, "ops.vmap: the result of f"), axes, out_axes, args)

        def step(carry, slices) -> tuple:
            each = iter(slices)
            return carry, f(*(arg if axis is None else next(each) for arg, axis in zip(args, axes, strict=True)))

        _, found = scan(step, (), cut)
        if not isinstance(out_axes, list | tuple):
            return _move(found, 0, out_axes)
        if not isinstance(found, list | tuple) or len(found) != len(out_axes):
            raise ValueError(f"ops.vmap wants out_axes for each result of f, received {out_axes!r:.60}")
        return type(found)([_move(value, 0, axis) for value, axis in zip(found, out_axes, strict=True)])

    return run


def _move(value, source: int, destination: int):
    if source == destination:
        return value
    return map_leaves(lambda x: moveaxis(x, source, destination), value)
