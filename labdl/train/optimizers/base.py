"""Base class and registry of optimizers: validated settings and an update rule."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, dataclass_transform

from labdl.errors import ConfigError, suggest_name
from labdl.ops.infix import neutral
from labdl.settings import INNER, Amount, check, create, form_fields, settings_schema
from labdl.signature import show_plain_types
from labdl.train.aliases import full_names

Slots = dict[str, tuple[tuple[int, ...], float]]


@dataclasses.dataclass
class Optimizer:
    """Settings and update rule of an optimizer; `Trainer` binds it to the parameters of a model.

    A subclass implements `slots`, `numbers` if it needs more than the learning rate, and `update` with `labdl.ops`, which
    runs on every backend unless the backend maps it to an equivalent optimizer of the framework.

    ``groups`` overrides settings of parameters whose standard names match a pattern (as file names do):
    ``groups=[("*/bias:0", {"weight_decay": 0.0})]``; of several that match, later ones take precedence. A group's learning
    rate keeps its ratio to the optimizer's when that changes.
    """

    kind: ClassVar[str] = ""
    learning_rate: Amount = 1e-3
    groups: Sequence[tuple[str, Mapping[str, Any]]] = dataclasses.field(default=(), kw_only=True, metadata=INNER)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.kind = cls.__name__.lower()  # so that a backend's optimizer is not used for a subclass with another update
        if "update" in cls.__dict__:
            cls.update = neutral(cls.update)

    def __post_init__(self):
        check(self)
        self.check()
        for group in self.groups:
            if not (isinstance(group, list | tuple) and len(group) == 2 and isinstance(group[0], str)):
                raise ConfigError(
                    f"{type(self).__name__}: groups wants pairs of a pattern and settings such as "
                    f"('*/bias:0', {{'weight_decay': 0.0}}), received {group!r}"
                )
            self.replace(group[1])

    def check(self) -> None:
        """Raise ConfigError for inconsistent settings."""

    def replace(self, settings: Mapping[str, Any]) -> Optimizer:
        """Copy with other settings, such as those of a group."""
        return create(type(self), {**self.settings(), **full_names(settings)})

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in form_fields(type(self))}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """JSON Schema of the settings, for forms."""
        return settings_schema(cls)

    # -- update rule

    def slots(self, shape: tuple[int, ...]) -> Slots:
        """State of a parameter of this shape: shape and initial value by name."""
        return {}

    def numbers(self, step: int, rate: float) -> dict[str, float]:
        """Numbers of a step that are common to all parameters, in Python's float64; the first step is 1."""
        return {"rate": rate}

    def update(self, parameter, gradient, state: dict[str, Any], **numbers) -> tuple[Any, dict[str, Any]]:
        """Compute the parameter and its slots after a step, with `labdl.ops` on tensors of any backend.

        Write tensors before numbers (``g * rate``): dispatch looks at the first operand first.
        """
        raise NotImplementedError(f"{type(self).__name__} has no update")


@dataclasses.dataclass(frozen=True)
class NamedOptimizer:
    """An entry of the registry: an optimizer class with preset settings."""

    cls: type[Optimizer]
    extra: tuple[tuple[str, Any], ...] = ()

    def make(self, **settings) -> Optimizer:
        return create(self.cls, {**dict(self.extra), **full_names(settings)})

    def code(self, **settings) -> str:
        """Python source that creates the optimizer. Raises ConfigError as `make`."""
        self.make(**settings)
        given = ", ".join(f"{k}={v!r}" for k, v in {**settings, **dict(self.extra), **settings}.items())
        return f"labdl.train.{self.cls.__name__}({given})"


Kind = TypeVar("Kind", bound=type)
OPTIMIZERS: dict[str, NamedOptimizer] = {}


@dataclass_transform()
def register(**aliases: dict[str, Any]) -> Callable[[Kind], Kind]:
    """Register an optimizer under its class's name in lower case; ``aliases`` are further names with preset settings."""

    def decorate(cls: Kind) -> Kind:
        cls = show_plain_types(dataclasses.dataclass(cls))
        _accept_short_names(cls)
        OPTIMIZERS[cls.kind] = NamedOptimizer(cls)
        OPTIMIZERS.update({name: NamedOptimizer(cls, tuple(extra.items())) for name, extra in aliases.items()})
        return cls

    return decorate


def _accept_short_names(cls: type) -> None:
    """Let a class take settings by their short names too: ``Adam(lr=1e-3)``."""
    init = cls.__init__

    @functools.wraps(init)
    def __init__(self, *args, **settings):  # noqa: N807
        init(self, *args, **(full_names(settings) if settings else settings))

    cls.__init__ = __init__  # type: ignore[misc]


def optimizer(value: str | Optimizer, **settings) -> Optimizer:
    """Look up an optimizer by name with settings, or as given. Raises ConfigError that lists the names or settings."""
    if isinstance(value, Optimizer):
        return value.replace(settings) if settings else value
    if value not in OPTIMIZERS:
        raise ConfigError(
            f"optimizer wants one of {', '.join(OPTIMIZERS)} or labdl.train.SGD(...) and the like, received "
            f"{value!r}{suggest_name(value, OPTIMIZERS)}"
        )
    return OPTIMIZERS[value].make(**settings)


def apply_weight_decay(gradient, parameter, weight_decay: float):
    """Add the gradient of an L2 penalty."""
    return gradient + parameter * weight_decay if weight_decay else gradient
