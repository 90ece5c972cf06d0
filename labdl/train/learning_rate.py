"""The learning rate of a training: its schedule, and rates set by the user."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labdl.train.schedules.base import Plan, Schedule
    from labdl.train.state import PhaseState


class LearningRate:
    """Sets the learning rate of each step: the plan of the schedule, if there is one, times a factor.

    Groups with schedules of their own follow those: ``plan_for(schedule, base_rate)`` is their plan for the training.
    """

    def __init__(self, phases: list[PhaseState], plan: Plan | None, plan_for: Callable[[Schedule, float], Plan]):
        self._phases, self.plan, self.factor = phases, plan, 1.0
        self._plan_for = plan_for
        self._plans: dict[tuple[str, float], Plan] = {}  # of groups, by schedule and base rate
        self._scheduled = [phase.optimizer for phase in phases if phase.optimizer.has_schedules]
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
        if self._scheduled:
            self._apply_to_groups(step)

    def _apply_to_groups(self, step: int) -> None:
        factor = self.factor
        if not self.plan:  # a rate set by the user changes those of groups in the same ratio
            first = self._phases[0].optimizer
            factor = first.learning_rate / first.rule.learning_rate if first.rule.learning_rate else 1.0
        for optimizer in self._scheduled:
            optimizer.apply_schedules(lambda schedule, rate: self._plan(schedule, rate)(step) * factor)

    def _plan(self, schedule: Schedule, rate: float) -> Plan:
        """The plan of a group: as that of the trainer, it keeps its length when the number of epochs is changed."""
        key = (repr(schedule), rate)  # in a copy of the training it is another object
        if key not in self._plans:
            self._plans[key] = self._plan_for(schedule, rate)
        return self._plans[key]

    def replay(self, step: int) -> None:
        """Set the rate for a step that is repeated."""
        if self.plan:
            set_learning_rate(self._phases, self.plan(step) * self.factor)
        if self._scheduled:
            self._apply_to_groups(step)

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
        self._plans = dict(other._plans)


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
