"""What an optimiser is: checked settings, and the one place where its update is written down (R4.4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from labdl.errors import ConfigError, meant
from labdl.ops.infix import neutral
from labdl.train.settings import INNER, Amount, changeable, check, make, settings_schema

Slots = dict[str, tuple[tuple[int, ...], float]]


@dataclasses.dataclass
class Optimizer:
    """Settings of an optimiser and its meaning; `Trainer` binds it to the parameters of a model.

    A subclass writes `slots`, `numbers` where more than the learning rate is wanted, and `update`, with `labdl.ops`: it
    runs on every backend as it is, unless the backend's table has a kernel of the framework that means the same.

    ``groups`` gives settings of their own to parameters whose standard names match a pattern (as file names do):
    ``groups=[("*/bias:0", {"weight_decay": 0.0})]``; of several that match, later ones win. A group's learning rate keeps
    its ratio to the optimiser's when that changes.
    """

    kind: ClassVar[str] = ""
    learning_rate: Amount = 1e-3
    groups: Sequence[tuple[str, Mapping[str, Any]]] = dataclasses.field(default=(), kw_only=True, metadata=INNER)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.kind = cls.__name__.lower()  # so that a subclass with another update is no backend's own
        if "update" in cls.__dict__:
            cls.update = neutral(cls.update)

    def __post_init__(self):
        check(self)
        self.check()
        for group in self.groups:
            if not (isinstance(group, list | tuple) and len(group) == 2 and isinstance(group[0], str)):
                raise ConfigError(f"{type(self).__name__}: groups wants pairs of a pattern and settings such as "
                                  f"('*/bias:0', {{'weight_decay': 0.0}}), received {group!r}")  # fmt: skip
            self.changed(group[1])

    def check(self) -> None:
        """Raise ConfigError for settings that do not go together."""

    def changed(self, settings: Mapping[str, Any]) -> Optimizer:
        """The optimiser of a group: these settings changed."""
        return make(type(self), {**self.settings(), **settings})

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in changeable(type(self))}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of the settings, for a form."""
        return settings_schema(cls)

    # -- the meaning

    def slots(self, shape: tuple[int, ...]) -> Slots:
        """What is remembered of a parameter of this shape: for each name, the shape and the value it begins with."""
        return {}

    def numbers(self, step: int, rate: float) -> dict[str, float]:
        """What is the same for all parameters in this step, the first being 1: Python's own arithmetic, in float64."""
        return {"rate": rate}

    def update(self, parameter, gradient, state: dict[str, Any], **numbers) -> tuple[Any, dict[str, Any]]:
        """The parameter and its slots after a step, computed with `labdl.ops` on tensors of any backend.

        Numbers stand behind tensors (``g * rate``): the first operand finds the backend, and a number has to be asked twice.
        """
        raise NotImplementedError(f"{type(self).__name__} has no update")


@dataclasses.dataclass(frozen=True)
class Named:
    """An optimiser that can be asked for by name, with the settings that the name stands for."""

    cls: type[Optimizer]
    extra: tuple[tuple[str, Any], ...] = ()

    def make(self, **settings) -> Optimizer:
        return make(self.cls, {**dict(self.extra), **settings})

    def code(self, **settings) -> str:
        """The Python that makes it. Raises ConfigError as making it would."""
        self.make(**settings)
        given = ", ".join(f"{k}={v!r}" for k, v in {**settings, **dict(self.extra), **settings}.items())
        return f"labdl.train.{self.cls.__name__}({given})"


OPTIMIZERS: dict[str, Named] = {}


def registered(**aliases: dict[str, Any]) -> Callable[[type], type]:
    """Register an optimiser under its class's name in small letters; ``aliases`` are further names with their settings."""

    def register(cls: type) -> type:
        cls = dataclasses.dataclass(cls)
        OPTIMIZERS[cls.kind] = Named(cls)
        OPTIMIZERS.update({name: Named(cls, tuple(extra.items())) for name, extra in aliases.items()})
        return cls

    return register


def optimizer(value: str | Optimizer, **settings) -> Optimizer:
    """An optimiser by name with settings, or as given. Raises ConfigError that lists the names or the settings."""
    if isinstance(value, Optimizer):
        return value.changed(settings) if settings else value
    if value not in OPTIMIZERS:
        raise ConfigError(f"optimizer wants one of {', '.join(OPTIMIZERS)} or labdl.train.SGD(...) and the like, received "
                          f"{value!r}{meant(value, OPTIMIZERS)}")  # fmt: skip
    return OPTIMIZERS[value].make(**settings)


def decayed(gradient, parameter, weight_decay: float):
    """The gradient with the weight decay in it, as an L2 penalty has it."""
    return gradient + parameter * weight_decay if weight_decay else gradient
