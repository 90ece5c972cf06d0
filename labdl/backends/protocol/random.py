"""Random numbers of the framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from labdl.backends.protocol.types import Tensor


class RandomState(Protocol):
    """Seeding, and the state of the framework's random numbers."""

    def seed(self, value: int) -> None:
        """Seed all random numbers of the framework."""
        ...

    def random_state(self) -> dict[str, Any]:
        """The state of the generators of random operators and dropout: JSON types and arrays. Reading it does not change it."""
        ...

    def set_random_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state returned by `random_state`, also for compiled steps.

        Raises ValueError, KeyError or TypeError for an invalid state.
        """
        ...


class RandomNumbers(Protocol):
    """Tensors of random numbers on the current device; data types are given by name."""

    def random_uniform(self, shape: Sequence[int], low: float, high: float, name: str) -> Tensor:
        """Uniform numbers of data type ``name``, from ``low`` up to but without ``high``."""
        ...

    def random_normal(self, shape: Sequence[int], mean: float, std: float, name: str) -> Tensor:
        """Normal numbers of data type ``name``."""
        ...

    def random_integers(self, shape: Sequence[int], low: int, high: int, name: str) -> Tensor:
        """Integers of data type ``name``, from ``low`` up to but without ``high``."""
        ...

    def random_permutation(self, n: int) -> Tensor:
        """The numbers from 0 to ``n`` - 1 in random order, int64."""
        ...
