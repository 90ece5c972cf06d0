"""An optimizer that runs the update of its rule; imports no framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labdl.backends.protocol.optimizers import OptimizerRule
from labdl.backends.protocol.types import Gradients, Tensor, Variable


class RuleOptimizer:
    """A rule bound to variables; a backend defines how slots are created and variables are set."""

    def __init__(self, rule: OptimizerRule, variables: Sequence[Variable]):
        self.rule, self.variables = rule, list(variables)
        self.learning_rate, self.version, self.step = rule.learning_rate, 0, 0
        self.state = [
            {slot: self.new_slot(v, shape, start) for slot, (shape, start) in rule.slots(tuple(v.shape)).items()}
            for v in self.variables
        ]
        self._numbers: Mapping[str, float] = {}

    def new_slot(self, variable: Variable, shape: tuple[int, ...], start: float) -> Tensor:
        """A slot filled with its initial value, in the variable's data type and on its device."""
        raise NotImplementedError

    def load_slot(self, variable: Variable, array: Any) -> Tensor:
        """A slot with the values of an array, in the variable's data type and on its device."""
        raise NotImplementedError

    def assign(self, variable: Variable, value: Tensor) -> None:
        """Set the values of a variable in place."""
        raise NotImplementedError

    def keep_layout(self, before: dict[str, Tensor], after: dict[str, Tensor]) -> dict[str, Tensor]:
        """The slots after a step, in memory as they are after `load`, so that kernels round in the same way."""
        return after

    def advance(self) -> None:
        self.step += 1
        self._numbers = self.rule.numbers(self.step, self.learning_rate)

    def update(self, gradients: Gradients) -> None:
        for i, (v, g) in enumerate(zip(self.variables, gradients, strict=True)):
            if g is not None:
                value, state = self.rule.update(v, g, self.state[i], **self._numbers)
                self.state[i] = self.keep_layout(self.state[i], state)
                self.assign(v, value)

    def load(self, step: int, state: Sequence[Mapping[str, Any]]) -> None:
        self.step = step
        self.state = [
            {slot: self.load_slot(v, a) for slot, a in slots.items()}
            for v, slots in zip(self.variables, state, strict=True)
        ]
