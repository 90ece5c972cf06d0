"""Composite schedules, schedules from a function, and ReduceOnPlateau."""

from __future__ import annotations

import bisect
import copy
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from annotated_types import Gt, Lt

from labdl.errors import ConfigError
from labdl.nn.types import Whole
from labdl.settings import INNER, Amount
from labdl.train.directions import Mode, find_direction
from labdl.train.schedules.base import Schedule, register
from labdl.train.schedules.decay import Constant

__all__ = ["Chain", "Lambda", "LinearWarmup", "ReduceOnPlateau", "Sequential"]


@register("warmup")
class LinearWarmup(Schedule):
    """Linear warm-up over ``steps`` from ``start`` times the base rate, ``then`` another schedule from its step 0.

    As torch's LinearLR followed by another in SequentialLR.
    """

    steps: Whole = 100
    then: Schedule = dataclasses.field(default_factory=Constant, metadata=INNER)
    start: Amount = 0.0

    def check(self):
        _check_schedules(self, "then", [self.then])

    def __call__(self, step, base_rate):
        if step < self.steps:
            return base_rate * (self.start + (1 - self.start) * step / self.steps)
        return self.then(step - self.steps, base_rate)

    def bind(self, steps_per_epoch, epochs):
        own = copy.copy(self)
        own.then = _bind_part(self.then, _total(self.unit, steps_per_epoch, epochs) - self.steps)
        return own


@register()
class Sequential(Schedule):
    """Schedules in sequence, each starting at its step 0 at its milestone. As torch's SequentialLR."""

    schedules: Sequence[Schedule] = dataclasses.field(metadata=INNER)
    milestones: Sequence[int] = dataclasses.field(metadata=INNER)

    def check(self):
        _check_schedules(self, "schedules", self.schedules)
        if list(self.milestones) != sorted(self.milestones) or len(self.milestones) != len(self.schedules) - 1:
            raise ConfigError(
                f"Sequential: milestones wants ascending numbers, one between each two of {len(self.schedules)} "
                f"schedules, received {self.milestones!r}"
            )

    def __call__(self, step, base_rate):
        at = bisect.bisect_right(self.milestones, step)
        return self.schedules[at](step - (self.milestones[at - 1] if at else 0), base_rate)

    def bind(self, steps_per_epoch, epochs):
        own, ends = copy.copy(self), (*self.milestones, _total(self.unit, steps_per_epoch, epochs))
        starts = (0, *self.milestones)
        own.schedules = [_bind_part(s, e - b) for s, b, e in zip(self.schedules, starts, ends, strict=True)]
        return own


@register()
class Chain(Schedule):
    """Product of the factors of several schedules. As torch's ChainedScheduler."""

    schedules: Sequence[Schedule] = dataclasses.field(metadata=INNER)

    def check(self):
        _check_schedules(self, "schedules", self.schedules)

    def __call__(self, step, base_rate):
        return base_rate * math.prod(s(step, base_rate) / base_rate if base_rate else 0.0 for s in self.schedules)

    def bind(self, steps_per_epoch, epochs):
        own = copy.copy(self)
        own.schedules = [_bind_part(s, _total(self.unit, steps_per_epoch, epochs)) for s in self.schedules]
        return own


@register()
class Lambda(Schedule):
    """The base rate times a function of the step. As torch's LambdaLR."""

    function: Callable[[int], float] = dataclasses.field(metadata=INNER)

    def check(self):
        if not callable(self.function):
            raise ConfigError(f"Lambda: function wants a function of the step, received {self.function!r}")

    def __call__(self, step, base_rate):
        return base_rate * self.function(step)


@register("plateau")
class ReduceOnPlateau(Schedule):
    """Multiplies the rate by ``factor`` when a metric has not improved for more than ``patience`` epochs.

    An improvement exceeds the best value by the fraction ``threshold`` of its size, or absolutely with
    ``threshold_mode="absolute"``; after a reduction ``cooldown`` epochs are ignored. A Trainer passes ``metric`` to ``observe``
    after each epoch. ``mode`` says whether lower or higher values are better, "min" or "max"; "auto" takes it from the metric,
    and a value of your own wants "min" or "max".

    As torch's ReduceLROnPlateau, for which a relative threshold below a negative best value is no threshold.
    """

    metric: str = "val_loss"
    mode: Mode = "auto"
    factor: Annotated[float, Gt(0), Lt(1)] = 0.1
    patience: Whole = 10
    threshold: Amount = 1e-4
    threshold_mode: Literal["relative", "absolute"] = "relative"
    cooldown: Whole = 0
    smallest: Amount = 0.0

    def __post_init__(self):
        super().__post_init__()
        self._reset()

    def with_direction(self, metrics):
        return dataclasses.replace(self, mode=find_direction(self.monitoring, metrics))  # type: ignore[arg-type]

    def _reset(self) -> None:
        self._best: float | None = None
        self._bad = self._resting = self._reductions = 0

    def bind(self, steps_per_epoch, epochs):
        own = copy.copy(self)
        own._reset()
        return own

    def __call__(self, step, base_rate):
        if not self._reductions:
            return base_rate
        return max(base_rate * self.factor**self._reductions, self.smallest)

    def observe(self, value):
        if self._better(value):
            self._best, self._bad = value, 0
        else:
            self._bad += 1
        if self._resting:
            self._resting, self._bad = self._resting - 1, 0
        if self._bad > self.patience:
            self._reductions, self._bad, self._resting = self._reductions + 1, 0, self.cooldown

    def _better(self, value) -> bool:
        if self._best is None:
            return math.isfinite(value)
        sign = 1 if find_direction(self.monitoring) == "min" else -1  # type: ignore[arg-type]
        if self.threshold_mode == "absolute":
            return sign * value < sign * self._best - self.threshold
        return sign * value < sign * self._best - self.threshold * abs(self._best)

    def state_dict(self):
        best = math.inf if self._best is None else float(self._best)
        return {"best": best, "bad": self._bad, "resting": self._resting, "reductions": self._reductions}

    def remember(self, values):
        best = float(values["best"])
        self._best = best if math.isfinite(best) else None
        self._bad, self._resting, self._reductions = (int(values[n]) for n in ("bad", "resting", "reductions"))


def _check_schedules(owner: Schedule, name: str, values) -> None:
    if not isinstance(values, Sequence) or not values:
        raise ConfigError(f"{type(owner).__name__}: {name} wants a list of schedules, received {values!r:.80}")
    for value in values:
        if not isinstance(value, Schedule):
            raise ConfigError(f"{type(owner).__name__}: {name} wants schedules, received {value!r}")
        if value.unit != owner.unit:
            raise ConfigError(
                f"{type(owner).__name__} counts in {owner.unit}s, its {type(value).__name__} in {value.unit}s: "
                f"give both the same unit"
            )
        if isinstance(value, ReduceOnPlateau):
            raise ConfigError(
                f"{type(owner).__name__}: ReduceOnPlateau cannot be combined, because it depends on a metric"
            )


def _total(unit: str, steps_per_epoch: int, epochs: int) -> int:
    return epochs if unit == "epoch" else epochs * steps_per_epoch


def _bind_part(schedule: Schedule, length: int) -> Schedule:
    """Bind a schedule to a part of the training."""
    return schedule.bind(1, max(length, 1))
