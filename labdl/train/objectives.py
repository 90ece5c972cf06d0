"""Losses and metrics by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labdl import ops
from labdl.errors import ConfigError

LOSSES: dict[str, Callable] = {
    "cross_entropy": ops.cross_entropy,
    "binary_cross_entropy": ops.binary_cross_entropy,
    "mean_squared_error": ops.mean_squared_error,
    "mean_absolute_error": ops.mean_absolute_error,
    "huber_loss": ops.huber_loss,
}


def accuracy(output: np.ndarray, target: np.ndarray) -> float:
    """Share of samples whose class is right: the largest output, or for one output its sign."""
    if output.ndim == target.ndim and output.shape[-1] == 1:
        return float(np.mean((output > 0) == (target > 0.5)))
    return float(np.mean(output.argmax(-1) == target))


METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {"accuracy": accuracy}


def loss(value: str | Callable) -> Callable:
    """A loss (output, target) -> scalar tensor, by name or as given. Raises ConfigError that lists the names."""
    if callable(value):
        return value
    if value not in LOSSES:
        raise ConfigError(f"loss wants one of {', '.join(LOSSES)} or a function (output, target), received {value!r}")
    return LOSSES[value]


def metrics(values) -> dict[str, Callable]:
    """Metrics by name, from names and functions. Raises ConfigError that lists the names."""
    found = {}
    for value in values:
        if callable(value):
            found[getattr(value, "__name__", "metric")] = value
        elif value in METRICS:
            found[value] = METRICS[value]
        else:
            raise ConfigError(
                f"metrics wants any of {', '.join(METRICS)} or functions (output, target), received {value!r}"
            )
    return found
