"""Steps of a recurrent part, one after the other where there are few, in a loop where there are many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labdl import ops

_FEW = 32


def iterate(step: Callable[[Any, Any], tuple[Any, Any]], state: Any, xs: Any) -> tuple[Any, Any]:
    """As `ops.scan`, for xs (steps, ...) of at least one step, and a tensor or a tuple of them as result of a step.

    A graph can hold up to 32 steps, which are written out, and no loop.
    """
    count = xs.shape[0]
    if count is None or count > _FEW:
        return ops.scan(step, state, xs)
    results, result = [], None
    for at in range(count):
        state, result = step(state, ops.getitem(xs, at))
        results.append(result if isinstance(result, tuple) else (result,))
    stacked = tuple(ops.stack(each, axis=0) for each in zip(*results, strict=True))
    return state, stacked if isinstance(result, tuple) else stacked[0]
