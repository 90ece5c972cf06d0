"""Search space of a sweep: choices and ranges of values, with their distributions."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from labdl.errors import ConfigError
from labdl.train.run.groups import told


@dataclasses.dataclass(frozen=True)
class Uniform:
    """Numbers from ``low`` to ``high``, all equally likely."""

    low: float
    high: float

    def __post_init__(self):
        _check(self)

    def draw(self, random: np.random.Generator) -> float:
        return float(random.uniform(self.low, self.high))


@dataclasses.dataclass(frozen=True)
class LogUniform:
    """Numbers from ``low`` above 0 to ``high``, each order of magnitude equally likely: for learning rates and the like."""

    low: float
    high: float

    def __post_init__(self):
        _check(self, above=0.0)

    def draw(self, random: np.random.Generator) -> float:
        drawn = math.exp(random.uniform(math.log(self.low), math.log(self.high)))
        return float(min(max(drawn, self.low), self.high))


@dataclasses.dataclass(frozen=True)
class Integers:
    """Whole numbers from ``low`` up to and with ``high``; with ``log`` each order of magnitude is equally likely."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self):
        _check(self, above=0.0 if self.log else -math.inf)
        if not all(isinstance(value, int) for value in (self.low, self.high)):
            raise ConfigError(f"Integers wants whole numbers, received {self.low!r} and {self.high!r}")

    def draw(self, random: np.random.Generator) -> int:
        if not self.log:
            return int(random.integers(self.low, self.high, endpoint=True))
        drawn = math.exp(random.uniform(math.log(self.low - 0.5), math.log(self.high + 0.5)))
        return min(max(round(drawn), self.low), self.high)


Range = Uniform | LogUniform | Integers
Space = dict[str, "list[Any] | Range"]


def _check(given: Any, above: float = -math.inf) -> None:
    name, ends = type(given).__name__, (given.low, given.high)
    for value in ends:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= above:
            wanted = "numbers" if above == -math.inf else f"numbers above {above:g}"
            raise ConfigError(f"{name} wants {wanted}, received {value!r}")
    if given.low >= given.high:
        raise ConfigError(f"{name} wants low below high, received low={given.low!r} and high={given.high!r}")


def checked(space: Any) -> Space:
    """The space with its choices as lists. Raises ConfigError."""
    if not isinstance(space, Mapping) or not space:
        raise ConfigError(
            f"space wants what is to be tried by name, such as {{'learning_rate': LogUniform(1e-4, 1e-1)}}, "
            f"received {space!r:.80}"
        )
    found: Space = {}
    for name, values in space.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ConfigError(f"space wants names of settings, received {name!r}")
        if isinstance(values, Range):
            found[name] = values
        elif isinstance(values, list | tuple) and values:
            found[name] = list(values)
        else:
            raise ConfigError(
                f"space: {name} wants a list of choices, Uniform, LogUniform or Integers, received {values!r:.80}"
            )
    return found


def described(space: Space) -> dict[str, Any]:
    """The space as JSON has it: a list of choices, or ``kind``, ``low`` and ``high``."""
    return {
        name: [told(value) for value in values]
        if isinstance(values, list)
        else {"kind": _KINDS[type(values)], **dataclasses.asdict(values)}
        for name, values in space.items()
    }


_KINDS = {Uniform: "uniform", LogUniform: "log_uniform", Integers: "integers"}


def drawn(space: Space, seed: int, number: int) -> dict[str, Any]:
    """The values of a trial, which follow from the seed and its number alone."""
    random = np.random.default_rng([seed, number])
    return {
        name: values[int(random.integers(len(values)))] if isinstance(values, list) else values.draw(random)
        for name, values in space.items()
    }


def combinations(space: Space) -> int:
    """How many there are. Raises ConfigError for a range that has no end of values."""
    return math.prod(len(column) for column in _columns(space))


def grid(space: Space) -> Iterator[dict[str, Any]]:
    """All combinations, the last name changing fastest. Raises ConfigError for a range that has no end of values."""
    columns = _columns(space)
    return (dict(zip(space, row, strict=True)) for row in itertools.product(*columns))


def _columns(space: Space) -> list[Any]:
    columns: list[Any] = []
    for name, values in space.items():
        if isinstance(values, Uniform | LogUniform):
            raise ConfigError(f"a grid wants choices: give {name} as a list, or use method='random'")
        columns.append(values if isinstance(values, list) else range(values.low, values.high + 1))
    return columns
