"""Other values of an argument: for tests that every argument changes a result."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import numpy as np

_WORDS = ("sum", "none", "mean", "float64", "int64", "complex64", "ortho", "forward", "left", "right", "relu", "tanh")
_FOR_NOTHING = (0, 1, 2, 3, -1, 0.5, True, False, (0,), (1,), (2,), (0, 1), (1, 2), (2, 2), (1.0, 2.0, 0.5), *_WORDS)


def literals(annotation: Any) -> list[Any]:
    """The words and numbers that an annotation lists."""
    args = get_args(annotation)
    if get_origin(annotation) is Literal:
        return list(args)
    return [value for inner in args for value in literals(inner)]


def variations(value: Any, listed: list[Any]) -> Iterator[Any]:
    """Values other than ``value``, those that are ``listed`` as its choices first; some may not be allowed."""
    for other in (*listed, *_others(value)):
        if type(other) is not type(value) or other != value:
            yield other


def _others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1, 2 * value, 0, 1, -1, 2, 3, 4, (value, value + 1), (value, value + 1, value), None)
    if isinstance(value, float):
        return (value + 0.5, 0.5 * value, 2 * value + 0.1, 0.3, -value, 1, None)
    if isinstance(value, list | tuple):
        return (
            tuple(v + 1 if isinstance(v, int) else 0.7 * v if isinstance(v, float) else v for v in value),
            tuple(reversed(value)),
            tuple(value[:1]),
            1,
            2,
            None,
        )
    return _FOR_NOTHING if value is None else (*_WORDS, None) if isinstance(value, str) else ()


def is_equal(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    """Whether two lists of results have the same shapes, dtypes and values."""
    return len(first) == len(second) and all(
        a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        for a, b in zip(first, second, strict=True)
    )
