"""Optimizers bound to variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from labdl.backends.protocol.types import Gradients, Tensor, Variable


class OptimizerRule(Protocol):
    """The framework-independent definition of an optimizer (`labdl.train.optimizers.base.Optimizer`)."""

    kind: Any
    learning_rate: Any

    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name."""
        ...

    def slots(self, shape: tuple[int, ...]) -> Mapping[str, tuple[tuple[int, ...], float]]:
        """For each slot of a parameter of this shape its name, shape and initial value."""
        ...

    def numbers(self, step: int, rate: float) -> Mapping[str, float]:
        """The scalars of a step, the same for all parameters; the first step is 1."""
        ...

    def update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], **numbers: Any) -> tuple[Tensor, dict]:
        """The parameter and its slots after a step."""
        ...

    def flat_update(self, backend: str, shape: tuple[int, ...], dtype: str) -> Callable | None:
        """`update` in the calls of a backend: (parameter, gradient, *slots, *numbers) to (parameter, *slots), or None."""
        ...


class BoundOptimizer(Protocol):
    """An optimizer bound to variables."""

    version: int
    """Changes when other variables are trained: functions compiled for the former ones are compiled again."""

    @property
    def variables(self) -> Sequence[Variable]:
        """The trained variables, in the order of the gradients."""
        ...

    @property
    def learning_rate(self) -> float:
        """The learning rate; setting it reaches compiled steps too."""
        ...

    @learning_rate.setter
    def learning_rate(self, value: float) -> None: ...

    @property
    def step(self) -> int:
        """The number of updates so far."""
        ...

    @property
    def state(self) -> Sequence[Mapping[str, Tensor]]:
        """For each variable its slots by name."""
        ...

    def advance(self) -> None:
        """Count a step before it is computed."""
        ...

    def update(self, gradients: Gradients) -> Any:
        """Update the variables in place by one step, except those without a gradient."""
        ...

    def load(self, step: int, state: Sequence[Mapping[str, np.ndarray]]) -> None:
        """Set the number of updates and the slots, in place."""
        ...


class Optimizers(Protocol):
    """Optimizers: a kernel of the framework with the same semantics, else the update of the rule."""

    def optimizer(self, rule: OptimizerRule, variables: Sequence[Variable]) -> BoundOptimizer:
        """The rule bound to variables."""
        ...
