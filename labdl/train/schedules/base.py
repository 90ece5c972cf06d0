"""Base class and registry of learning rate schedules, and their plan for a run."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

from labdl.errors import ConfigError, StateDictError, suggest_name
from labdl.settings import check, create, form_fields, settings_schema
from labdl.signature import show_plain_types
from labdl.train.directions import Monitor, monitored_value
from labdl.train.metrics.metric import Metric


@dataclasses.dataclass
class Schedule:
    """``schedule(step, base_rate) -> rate``: the learning rate before the update of a step, the first being 0.

    With ``unit="epoch"`` all counts are epochs. A length of None is that of the whole training.
    """

    kind: ClassVar[str] = ""
    lengths: ClassVar[tuple[str, ...]] = ("steps",)  # fields whose None stands for the length of the training
    unit: Literal["step", "epoch"] = dataclasses.field(default="step", kw_only=True)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    def __post_init__(self):
        steps = getattr(self, "steps", None)
        if isinstance(steps, float) and not steps.is_integer():
            raise ConfigError(
                f"{type(self).__name__}: steps wants an integer, received {steps!r}: the learning rate to begin with is that "
                f"of the optimizer; write Trainer(…, optimizer=labdl.train.Adam({steps!r}), schedule={type(self).__name__}(…))"
            )
        check(self)
        self.check()

    def check(self) -> None:
        """Raise ConfigError for inconsistent settings."""

    def __call__(self, step: int, base_rate: float) -> float:
        raise NotImplementedError(f"{type(self).__name__} has no formula")

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in form_fields(type(self))}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """JSON Schema of the settings, for forms."""
        return settings_schema(cls)

    # -- a run

    def bind(self, steps_per_epoch: int, epochs: int) -> Schedule:
        """Copy for a run of so many epochs, with its length filled in and without observations."""
        own = copy.copy(self)
        total = epochs if self.unit == "epoch" else epochs * steps_per_epoch
        for name in self.lengths:
            if getattr(own, name, 0) is None:
                setattr(own, name, total)
        return own

    def plan(self, base_rate: float, steps_per_epoch: int, epochs: int) -> Plan:
        """The learning rates of a run."""
        return Plan(self.bind(steps_per_epoch, epochs), base_rate, steps_per_epoch)

    @property
    def monitoring(self) -> Monitor | None:
        """The value that the schedule monitors, its setting ``metric``, and in which mode; None for functions of the step."""
        metric = getattr(self, "metric", None)
        return None if metric is None else Monitor(type(self).__name__, metric, getattr(self, "mode", "min"))

    def with_direction(self, metrics: Mapping[str, Metric]) -> Schedule:
        """The schedule with the direction of what it monitors, by the metrics of a training."""
        return self

    def observe(self, value: float) -> None:
        """Receive the monitored metric at the end of an epoch; ignored unless the schedule depends on it."""

    def state_dict(self) -> dict[str, float]:
        """State from observations, as plain numbers; empty for functions of the step."""
        return {}

    def load_state_dict(self, values: Mapping[str, float]) -> None:
        """Restore the state. Raises StateDictError for the state of another kind of schedule."""
        own = self.state_dict()
        if values.keys() != own.keys():
            raise StateDictError(
                f"{type(self).__name__} has the state {', '.join(own) or 'nothing'}, received "
                f"{', '.join(values) or 'nothing'}"
            )
        self.remember(values)

    def remember(self, values: Mapping[str, float]) -> None:
        """Set the state from `state_dict`; overridden by schedules with state."""

    def require_length(self, length: int | None) -> int:
        """Return a length, or raise ConfigError if it is None."""
        if length is None:
            raise ConfigError(f"{type(self).__name__} wants steps when it is used without a Trainer")
        return length


@dataclasses.dataclass
class Plan:
    """A schedule bound to a run: ``plan(step)`` is the learning rate before the update of that step, the first being 0."""

    schedule: Schedule
    base_rate: float
    steps_per_epoch: int

    def __call__(self, step: int) -> float:
        if self.schedule.unit == "epoch":
            step //= self.steps_per_epoch
        return self.schedule(step, self.base_rate)

    def observe(self, values: Mapping[str, float]) -> None:
        """Pass the metric that the schedule monitors; without validation that of the training data."""
        monitor = self.schedule.monitoring
        if monitor is not None:
            self.schedule.observe(monitored_value(self.schedule, monitor.name, values))


Kind = TypeVar("Kind", bound=type)
SCHEDULES: dict[str, type[Schedule]] = {}


@dataclass_transform()
def register(*aliases: str) -> Callable[[Kind], Kind]:
    """Register a schedule under its class's name in snake case, and under other names."""

    def decorate(cls: Kind) -> Kind:
        cls = show_plain_types(dataclasses.dataclass(cls))
        SCHEDULES.update(dict.fromkeys((cls.kind, *aliases), cls))  # pyrefly: ignore[missing-attribute]
        return cls

    return decorate


def schedule(value: str | Schedule | Callable[[int], float], **settings) -> Schedule:
    """Create a schedule by name with settings, from a function of the step that returns a factor, or as given.

    Raises ConfigError that lists the names or the settings.
    """
    if isinstance(value, Schedule):
        return value
    if callable(value):
        return create(SCHEDULES["lambda"], {"function": value, **settings})
    if not isinstance(value, str) or value not in SCHEDULES:
        raise ConfigError(
            f"schedule wants one of {', '.join(SCHEDULES)}, an object such as labdl.train.CosineDecay() or a "
            f"function of the step, received {value!r}{suggest_name(value, SCHEDULES)}"
        )
    return create(SCHEDULES[value], settings)
