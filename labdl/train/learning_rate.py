"""The learning rate of a training: its schedule, and rates set by the user."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labdl.train.schedules.base import Plan
    from labdl.train.state import PhaseState


class LearningRate:
    """Sets the learning rate of each step: the plan of the schedule, if there is one, times a factor."""

    def __init__(self, phases: list[PhaseState], plan: Plan | None):
        self._phases, self.plan, self.factor = phases, plan, 1.0
        self._fixed = False  # True while a rate set by the user is used because the schedule is at 0

    def set(self, value: float, step: int) -> None:
        """Use this rate from ``step`` on; a schedule is scaled by the factor that gives the rate at this step.

        Torch's chainable schedulers do the same when the rate of a parameter group is changed. If the schedule is at 0, as at
        the first step of a warm-up, no factor gives the rate: it is used as long as the schedule is at 0, and replaces the
        base rate of the optimizer afterwards.
        """
        if self.plan:
            planned = self.plan(step)
            self._fixed = not planned
            if reference := planned or self.plan.base_rate:
                self.factor = value / reference
        set_learning_rate(self._phases, value)

    def apply(self, step: int) -> None:
        """Set the rate for the update of a step, counted from 0."""
        if self.plan:
            planned = self.plan(step)
            self._fixed = self._fixed and not planned
            if not self._fixed:
                set_learning_rate(self._phases, planned * self.factor)

    def replay(self, step: int) -> None:
        """Set the rate for a step that is repeated."""
        if self.plan:
            set_learning_rate(self._phases, self.plan(step) * self.factor)

    def observe(self, values: Mapping[str, float]) -> None:
        """Pass the values of an epoch to the schedule."""
        if self.plan:
            self.plan.observe(values)

    def restore(self, factor: float | None, step: int, same_schedule: bool) -> None:
        """Resume at a step with the factor of the earlier training; the rate of the optimizer is restored before."""
        self.factor = 1.0 if factor is None else factor
        if self.plan and same_schedule and not self.plan(step):
            # the optimizer has the rate of the last step, unless another one was set since
            last = self.plan(step - 1) * self.factor if step else self.plan.base_rate
            self._fixed = not math.isclose(learning_rate(self._phases), last, rel_tol=1e-6)

    def copy_from(self, other: LearningRate) -> None:
        """Use the rates with which another training at the same step continues."""
        self.plan, self.factor, self._fixed = copy.deepcopy(other.plan), other.factor, other._fixed


def learning_rate(phases: list[PhaseState]) -> float:
    """The learning rate of the first phase."""
    return phases[0].optimizer.learning_rate


def set_learning_rate(phases: list[PhaseState], value: float) -> None:
    """Set the learning rate of the first phase; the others keep their ratio to it."""
    phases[0].optimizer.learning_rate = value
    if len(phases) > 1:
        base = phases[0].optimizer.rule.learning_rate
        for phase in phases[1:]:
            phase.optimizer.learning_rate = phase.optimizer.rule.learning_rate * (value / base if base else 1.0)
