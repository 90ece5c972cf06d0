"""Settings that are a number, or a pair (low, high) between which one is drawn uniformly for each sample."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from labdl.errors import ConfigError
from labdl.settings import Amount

Range = float | tuple[float, float]
AmountRange = Amount | tuple[Amount, Amount]
Positive = Annotated[float, Gt(0)]
PositiveRange = Positive | tuple[Positive, Positive]


def draw(value: Range, rng: np.random.Generator) -> float:
    """The number, or one drawn uniformly between (low, high)."""
    return float(rng.uniform(*value)) if isinstance(value, tuple) else float(value)


def draw_integer(value: int | tuple[int, int], rng: np.random.Generator) -> int:
    """The integer, or one of those from the first to the last of a pair, both included."""
    return int(rng.integers(*value, endpoint=True)) if isinstance(value, tuple) else value


def check_order(transform: Any, *names: str) -> None:
    """Raise ConfigError for a pair whose first number is larger than the second."""
    for name in names:
        value = getattr(transform, name)
        if isinstance(value, tuple) and value[0] > value[1]:
            raise ConfigError(f"{type(transform).__name__}: {name} wants (low, high), received {value}")
