"""Learning rates as functions of the step: what a schedule is, how it is found by name, and how it is laid over a run."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from labdl.errors import ConfigError, StateDictError, meant
from labdl.train.settings import changeable, check, make, settings_schema


@dataclasses.dataclass
class Schedule:
    """``schedule(step, base_rate) -> rate``: the learning rate before the update of a step, the first being 0.

    With ``unit="epoch"`` all its counts are epochs. A length left out (None) is that of the whole training.
    """

    kind: ClassVar[str] = ""
    lengths: ClassVar[tuple[str, ...]] = ("steps",)  # fields that None makes as long as the training
    unit: Literal["step", "epoch"] = dataclasses.field(default="step", kw_only=True)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    def __post_init__(self):
        check(self)
        self.check()

    def check(self) -> None:
        """Raise ConfigError for settings that do not go together."""

    def __call__(self, step: int, base_rate: float) -> float:
        raise NotImplementedError(f"{type(self).__name__} has no formula")

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in changeable(type(self))}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of the settings, for a form."""
        return settings_schema(cls)

    # -- a run

    def fitted(self, steps_per_epoch: int, epochs: int) -> Schedule:
        """A copy for a run of so many epochs: lengths that were left out are known, and nothing has been observed yet."""
        own = copy.copy(self)
        total = epochs if self.unit == "epoch" else epochs * steps_per_epoch
        for name in self.lengths:
            if getattr(own, name, 0) is None:
                setattr(own, name, total)
        return own

    def plan(self, base_rate: float, steps_per_epoch: int, epochs: int) -> Plan:
        """The learning rates of a run."""
        return Plan(self.fitted(steps_per_epoch, epochs), base_rate, steps_per_epoch)

    def observe(self, value: float) -> None:
        """Hear a figure of the epoch that ended; only schedules that wait for one remember it."""

    def state_dict(self) -> dict[str, float]:
        """What has been observed so far, as plain numbers; nothing for those that follow from the step alone."""
        return {}

    def load_state_dict(self, values: Mapping[str, float]) -> None:
        """Go on from what has been observed. Raises StateDictError for the memory of another kind of schedule."""
        own = self.state_dict()
        if values.keys() != own.keys():
            raise StateDictError(f"{type(self).__name__} remembers {', '.join(own) or 'nothing'}, received "
                                 f"{', '.join(values) or 'nothing'}")  # fmt: skip
        self.remember(values)

    def remember(self, values: Mapping[str, float]) -> None:
        """Take over what `state_dict` gave; only schedules that remember something have to."""

    def known(self, length: int | None) -> int:
        """A length that has been given or filled in."""
        if length is None:
            raise ConfigError(
                f"{type(self).__name__} wants steps, because it is used outside of a Trainer, which knows them"
            )
        return length


@dataclasses.dataclass
class Plan:
    """A schedule laid over a run: ``plan(step)`` is the learning rate before the update of that step, the first being 0."""

    schedule: Schedule
    base_rate: float
    steps_per_epoch: int

    def __call__(self, step: int) -> float:
        if self.schedule.unit == "epoch":
            step //= self.steps_per_epoch
        return self.schedule(step, self.base_rate)

    def observe(self, values: Mapping[str, float]) -> None:
        """Pass on the figure that the schedule watches; without validation the one of the training data."""
        name = getattr(self.schedule, "metric", None)
        if name is not None:
            self.schedule.observe(watched(self.schedule, name, values))


def watched(owner: object, name: str, values: Mapping[str, float]) -> float:
    """The figure of an epoch that somebody watches; without validation the one of the training data."""
    for found in (name, name.removeprefix("val_")):
        if found in values:
            return values[found]
    raise ConfigError(f"{type(owner).__name__} watches {name!r}, the epoch has {', '.join(values)}")


SCHEDULES: dict[str, type[Schedule]] = {}


def registered(*aliases: str) -> Callable[[type], type]:
    """Register a schedule under its class's name in small letters, and under other names."""

    def register(cls: type) -> type:
        cls = dataclasses.dataclass(cls)
        SCHEDULES.update(dict.fromkeys((cls.kind, *aliases), cls))
        return cls

    return register


def schedule(value: str | Schedule | Callable[[int], float], **settings) -> Schedule:
    """A schedule by name with settings, from a function of the step that gives a factor, or as given.

    Raises ConfigError that lists the names or the settings.
    """
    if isinstance(value, Schedule):
        return value
    if callable(value):
        return make(SCHEDULES["lambda"], {"function": value, **settings})
    if value not in SCHEDULES:
        raise ConfigError(f"schedule wants one of {', '.join(SCHEDULES)}, an object such as labdl.train.CosineDecay() or a "
                          f"function of the step, received {value!r}{meant(value, SCHEDULES)}")  # fmt: skip
    return make(SCHEDULES[value], settings)
