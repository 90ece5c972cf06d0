"""Search space of a sweep: choices and ranges of values, with their distributions."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from labdl.errors import ConfigError
from labdl.train.run.groups import to_json


@dataclasses.dataclass(frozen=True)
class Uniform:
    """Uniformly distributed numbers from ``low`` to ``high``."""

    low: float
    high: float

    def __post_init__(self):
        _check(self)

    def sample(self, random: np.random.Generator) -> float:
        return float(random.uniform(self.low, self.high))


@dataclasses.dataclass(frozen=True)
class LogUniform:
    """Numbers from ``low`` above 0 to ``high``, uniform on a logarithmic scale, for example learning rates."""

    low: float
    high: float

    def __post_init__(self):
        _check(self, above=0.0)

    def sample(self, random: np.random.Generator) -> float:
        value = math.exp(random.uniform(math.log(self.low), math.log(self.high)))
        return float(min(max(value, self.low), self.high))


@dataclasses.dataclass(frozen=True)
class Integers:
    """Integers from ``low`` to ``high``, inclusive; with ``log`` uniform on a logarithmic scale."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self):
        _check(self, above=0.0 if self.log else -math.inf)
        if not all(isinstance(value, int) for value in (self.low, self.high)):
            raise ConfigError(f"Integers wants whole numbers, received {self.low!r} and {self.high!r}")

    def sample(self, random: np.random.Generator) -> int:
        if not self.log:
            return int(random.integers(self.low, self.high, endpoint=True))
        value = math.exp(random.uniform(math.log(self.low - 0.5), math.log(self.high + 0.5)))
        return min(max(round(value), self.low), self.high)


Range = Uniform | LogUniform | Integers
Space = dict[str, "list[Any] | Range"]


def _check(range_: Any, above: float = -math.inf) -> None:
    name = type(range_).__name__
    for value in (range_.low, range_.high):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= above:
            wanted = "numbers" if above == -math.inf else f"numbers above {above:g}"
            raise ConfigError(f"{name} wants {wanted}, received {value!r}")
    if range_.low >= range_.high:
        raise ConfigError(f"{name} wants low below high, received low={range_.low!r} and high={range_.high!r}")


def validate(space: Any) -> Space:
    """Validate a search space, and convert choices to lists. Raises ConfigError."""
    if not isinstance(space, Mapping) or not space:
        raise ConfigError(
            f"space wants choices or ranges by name, such as {{'learning_rate': LogUniform(1e-4, 1e-1)}}, "
            f"received {space!r:.80}"
        )
    validated: Space = {}
    for name, values in space.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ConfigError(f"space wants names of settings, received {name!r}")
        if isinstance(values, Range):
            validated[name] = values
        elif isinstance(values, list | tuple) and values:
            validated[name] = [*{repr(value): value for value in values}.values()]  # each choice once
        else:
            raise ConfigError(
                f"space: {name} wants a list of choices, Uniform, LogUniform or Integers, received {values!r:.80}"
            )
    return validated


def describe(space: Space) -> dict[str, Any]:
    """The space as JSON: a list of choices, or ``kind``, ``low`` and ``high``."""
    return {
        name: [to_json(value) for value in values]
        if isinstance(values, list)
        else {"kind": _KINDS[type(values)], **dataclasses.asdict(values)}
        for name, values in space.items()
    }


_KINDS = {Uniform: "uniform", LogUniform: "log_uniform", Integers: "integers"}


def samples(space: Space, seed: int, number: int) -> Iterator[dict[str, Any]]:
    """Draws of the parameters of a trial, which depend only on the seed and its number."""
    random = np.random.default_rng([seed, number])
    while True:
        yield {
            name: values[int(random.integers(len(values)))] if isinstance(values, list) else values.sample(random)
            for name, values in space.items()
        }


def size(space: Space) -> int | None:
    """Number of combinations; None for a space with a continuous range."""
    return None if any(isinstance(v, Uniform | LogUniform) for v in space.values()) else combinations(space)


def combinations(space: Space) -> int:
    """Number of combinations. Raises ConfigError for a continuous range."""
    return math.prod(len(column) for column in _columns(space))


def grid(space: Space) -> Iterator[dict[str, Any]]:
    """All combinations, the last name changing fastest. Raises ConfigError for a continuous range."""
    columns = _columns(space)
    return (dict(zip(space, row, strict=True)) for row in itertools.product(*columns))


def _columns(space: Space) -> list[Any]:
    columns: list[Any] = []
    for name, values in space.items():
        if isinstance(values, Uniform | LogUniform):
            raise ConfigError(f"a grid wants choices: give {name} as a list, or use method='random'")
        columns.append(values if isinstance(values, list) else range(values.low, values.high + 1))
    return columns
