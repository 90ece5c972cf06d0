"""Values that callbacks and methods of a trainer log, averaged over steps, validations and epochs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError

Sums = dict[str, list[float]]  # weighted sum and sum of the weights, by name


class LoggedValues:
    """Values logged since they were last taken, each with its weight, None for the number of samples of its batch."""

    def __init__(self):
        self._values: dict[str, list[tuple[float, float | None]]] = {}

    def add(self, name: str, value: Any, weight: float | None, taken: Collection[str]) -> None:
        """Log a value; ``taken`` are names that it must not have. Raises ConfigError."""
        if not isinstance(name, str) or not name:
            raise ConfigError(f"log wants a name that is not empty, received {name!r}")
        if name in taken:
            raise ConfigError(f"log wants a name of its own, {name!r} is that of a value of the training")
        if weight is not None and (isinstance(weight, bool) or not weight > 0):
            raise ConfigError(f"log wants a batch_size above 0, received {weight!r}")
        number = _number(name, value)  # before the name has a list
        self._values.setdefault(name, []).append((number, weight))

    def take(self, size: float, sums: MutableMapping[str, list[float]] | None = None) -> dict[str, float]:
        """The means of the values, which are forgotten; added to ``sums``, where ``size`` is the weight by default."""
        taken, self._values = self._values, {}
        means = {}
        for name, values in taken.items():
            pairs = [(value, size if weight is None else weight) for value, weight in values]
            total, weights = math.fsum(v * w for v, w in pairs), math.fsum(w for _, w in pairs)
            means[name] = total / weights
            if sums is not None:
                before = sums.setdefault(name, [0.0, 0.0])
                count = weights / len(pairs)  # a batch counts once, however often a value of it was logged
                sums[name] = [before[0] + means[name] * count, before[1] + count]
        return means

    @contextmanager
    def apart(self) -> Iterator[None]:
        """A context whose values are apart from those before it, and forgotten at its end."""
        kept, self._values = self._values, {}
        try:
            yield
        finally:
            self._values = kept


def means_of(sums: Sums) -> dict[str, float]:
    """The weighted means."""
    return {name: total / weights for name, (total, weights) in sums.items()}


def _number(name: str, value: Any) -> float:
    try:
        array = np.asarray(value if isinstance(value, int | float) else _to_array(value))
        if array.size == 1 and array.dtype.kind in "biuf":
            return float(array.reshape(()))
    except Exception as error:  # of a framework whose tensor has no value yet
        raise ConfigError(
            f"log wants a number for {name!r}, received {type(value).__name__}, which has no value: a compiled forward, "
            "loss, backward or update cannot log; log in postprocess, train_one_batch or a callback, or let the loss return "
            "its parts by name"
        ) from error
    raise ConfigError(f"log wants one number for {name!r}, received {value!r:.80}")


def _to_array(value: Any) -> np.ndarray:
    return np.asarray(value) if isinstance(value, np.ndarray | np.generic) else dispatch.owner(value).to_numpy(value)
