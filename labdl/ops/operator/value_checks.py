"""Checks of the values of tensors that a kernel would take for others, made where Python reads them without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.ops.operator.readable import values_are_at_hand

if TYPE_CHECKING:
    from labdl.ops.operator.definition import Operator


def with_value_check(function: Callable, backend, entry: Operator) -> Callable:
    """The function, called after the operator's `check_values` has seen the arguments of a call."""
    names, check = tuple(entry.signature.parameters), entry.check_values
    assert check is not None

    def run(*args, **kwargs):
        if values_are_at_hand(backend):
            check(**dict(zip(names, args, strict=False)), **kwargs)
        return function(*args, **kwargs)

    return run


def refuse_outside(what: str, values: Any, low: int, high: int | None, *, ignored: int | None = None) -> None:
    """Raise ValueError for integers of a tensor below ``low`` or above ``high``; None is no tensor, or no limit.

    ``what`` begins the sentence, as in "gru wants lengths". ``ignored`` is a number that is taken as well.
    """
    if values is None:
        return
    numbers = values_of(values)
    if ignored is not None:
        numbers = numbers[numbers != ignored]
    if numbers.size and not (low <= numbers.min() and (high is None or numbers.max() <= high)):
        least, most = numbers.min(), numbers.max()
        raise ValueError(
            f"{what} {f'of at least {low}' if high is None else f'from {low} to {high}'}, received "
            f"{least if least == most else f'{least} to {most}'}"
        )


def values_of(x: Any) -> np.ndarray:
    """The values of a tensor, for checks of another kind."""
    return np.asarray(dispatch.owner(x).to_numpy(x))
