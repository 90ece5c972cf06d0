"""Rows of the conformance table: clause, requirement, check and result."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from labdl import dispatch
from labdl.conformance.interfaces import INTERFACES
from labdl.ops.random.state import seed

Status = Literal["passed", "failed", "missing"]
ROWS: list[Row] = []


class Missing(Exception):  # noqa: N818  # no error: something is not built yet
    """Raised by a check whose subject is not implemented; the message names it."""


@dataclass(frozen=True)
class Row:
    """A requirement and its check, which raises an error on failure and `Missing` if it is not implemented."""

    clause: str
    name: str
    requirement: str
    ran: str
    function: Callable[[], None]

    @property
    def key(self) -> str:
        """Identifier of the row in tests and tables."""
        return f"{self.clause}: {self.name}"


@dataclass(frozen=True)
class Result:
    """Result of a row; ``message`` describes the failure, or what is missing."""

    row: Row
    status: Status
    message: str
    seconds: float


def row(clause: str, requirement: str, ran: str, *, name: str | None = None, interface: str | None = None) -> Callable:
    """Register the decorated function as a row; with ``interface``, its name and parameters must be the standard's."""

    def register(function: Callable[[], None]) -> Callable[[], None]:
        def run_checks() -> None:
            if interface:
                check_signature(interface)
            function()

        called = name or interface or function.__name__.replace("_", " ").strip()
        entry = Row(clause, called, requirement, ran, run_checks)
        if any(other.key == entry.key for other in ROWS):
            raise ValueError(f"there are two rows {entry.key!r}")
        ROWS.append(entry)
        return function

    return register


def run_row(row: Row) -> Result:
    """Run the check of a row on the default backend, with a fixed seed."""
    former, portable = dispatch.current_seed(), dispatch.portable()
    seed(0)
    began, status, message = time.perf_counter(), "passed", ""
    try:
        row.function()
    except Missing as missing:
        status, message = "missing", str(missing)
    except Exception as error:  # any error is the failure of this row only
        status, message = "failed", f"{type(error).__name__}: {' '.join(str(error).split())}"
    finally:
        if former is not None:
            seed(former, portable)
    return Result(row, status, message, time.perf_counter() - began)  # type: ignore[arg-type]


def check_signature(name: str) -> None:
    """Raise AssertionError unless an interface has the name and the parameters of its table."""
    from labdl import standard

    function = getattr(standard, name, None)
    if function is None:
        raise Missing(f"labdl.standard has no {name}")
    wanted = INTERFACES[name].parameters
    own = [
        (p.name, p.default is not p.empty or p.kind is p.VAR_KEYWORD)
        for p in inspect.signature(function).parameters.values()
    ]
    holds(own == wanted, f"{name} has the parameters {own}, table {INTERFACES[name].table} wants {wanted}")


# -- assertions


def holds(fact: Any, sentence: str) -> None:
    """Raise AssertionError with the message unless the fact is true."""
    if not fact:
        raise AssertionError(sentence)


def array(value: Any) -> np.ndarray:
    """Values of a tensor or an array."""
    owner = dispatch.owner_of_type(type(value))
    return np.asarray(value if owner is None else owner.to_numpy(value))


def equal(actual: Any, expected: Any) -> None:
    """Raise AssertionError unless all values and the shape are the same."""
    np.testing.assert_array_equal(_as_shape(actual, expected), expected)


def close(actual: Any, expected: Any, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Raise AssertionError unless all values are the same up to rounding, and the shape too."""
    np.testing.assert_allclose(_as_shape(actual, expected), expected, rtol=rtol, atol=atol)


def _as_shape(actual: Any, expected: Any) -> np.ndarray:
    """Values of a tensor; raises AssertionError for another shape than expected."""
    found = array(actual)
    holds(found.shape == np.shape(expected), f"the shape is {found.shape}, wanted is {np.shape(expected)}")
    return found


def equal_states(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raise AssertionError unless two states have the same names and values."""
    _compare(actual, expected, equal)


def close_states(
    actual: Mapping[str, Any], expected: Mapping[str, Any], rtol: float = 1e-4, atol: float = 1e-5
) -> None:
    """Raise AssertionError unless two states have the same names, and the same values up to rounding."""
    _compare(actual, expected, lambda a, b: close(a, b, rtol, atol))


def _compare(actual: Mapping[str, Any], expected: Mapping[str, Any], values: Callable[[Any, Any], None]) -> None:
    holds(actual and actual.keys() == expected.keys(), f"the names are {list(actual)}, wanted are {list(expected)}")
    for name, value in expected.items():
        values(actual[name], value)


@contextmanager
def raises(kind: type[Exception], *words: str) -> Iterator[None]:
    """Raise AssertionError unless the block raises this error with the words in its message."""
    try:
        yield
    except kind as error:
        for word in words:
            holds(word in str(error), f"the {kind.__name__} says {str(error)!r} without {word!r}")
    else:
        raise AssertionError(f"there was no {kind.__name__}")


def there(place: Any, *names: str, what: str | None = None) -> Any:
    """First of the names that a module or class has. Raises Missing."""
    for name in names:
        if hasattr(place, name):
            return getattr(place, name)
    raise Missing(f"{getattr(place, '__name__', place)} has no {' or '.join(names)}{f' ({what})' if what else ''}")


def later(place: Any, names: str, what: str) -> None:
    """Raise Missing for a feature that is not implemented; fails once it exists, until the row checks it."""
    found = there(place, *names.split(), what=what)
    raise AssertionError(f"{found!r} is there now: this row must try {what}")
