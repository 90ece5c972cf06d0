"""Base class and registry of optimizers: validated settings and an update rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, Union, dataclass_transform

from labdl.errors import ConfigError, suggest_name
from labdl.ops.infix import neutral
from labdl.settings import INNER, LARGEST, Amount, check, create, form_fields, settings_schema
from labdl.signature import show_plain_types
from labdl.train.aliases import OPTIMIZER, accept_other_names, find_name, full_names
from labdl.train.optimizers.flat_update import flat_update
from labdl.train.schedules.base import Schedule
from labdl.train.schedules.base import schedule as find_schedule

Slots = dict[str, tuple[tuple[int, ...], float]]
Group = Union[Mapping[str, Any], str, "Optimizer"]


@dataclasses.dataclass
class Optimizer:
    """Settings and update rule of an optimizer; `Trainer` binds it to the parameters of a model.

    A subclass implements `slots`, `numbers` if it needs more than the learning rate, and `update` with `labdl.ops`, which
    runs on every backend unless the backend maps it to an equivalent optimizer of the framework.

    ``groups`` gives parameters whose standard names match a pattern (as file names do, and as `Module.freeze` takes them)
    other settings, a schedule of their own, or another optimizer; of several that match, later ones take precedence:

    >>> Adam(1e-3, groups={"encoder/*": {"lr": 1e-4, "schedule": "cosine"}, "*/bias:0": {"weight_decay": 0.0}})
    >>> Muon(0.02, groups={"embedding/*": AdamW(3e-4)})

    A group's learning rate keeps its ratio to the optimizer's when that changes, as with schedulers of torch; one with a
    schedule follows that instead, from its own learning rate. Raises ConfigError for invalid settings, and when it is
    bound to a model for a pattern that no parameter matches. ``decay_norm_and_bias=False`` of an optimizer with
    ``weight_decay`` excludes biases, gamma and beta of normalizations, and all other parameters of fewer than two axes from
    it, like ``no_weight_decay`` of timm and ``wd_bn_bias=False`` of fastai.
    """

    kind: ClassVar[str] = ""
    learning_rate: Amount = 1e-3
    groups: Mapping[str, Group] | Sequence[tuple[str, Group]] = dataclasses.field(
        default=(), kw_only=True, metadata=INNER
    )

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.kind = cls.__name__.lower()  # so that a backend's optimizer is not used for a subclass with another update
        if "update" in cls.__dict__:
            cls.update = neutral(cls.update)

    def __post_init__(self):
        rate = getattr(self, "learning_rate", None)
        if isinstance(rate, Schedule):
            raise ConfigError(
                f"{type(self).__name__}: learning_rate wants a number, received a {type(rate).__name__}: write Trainer(…, "
                f"optimizer=labdl.train.{type(self).__name__}(1e-3), schedule={type(rate).__name__}(…))"
            )
        check(self)
        self._check_range()
        self.check()
        self.groups = tuple((pattern, self._check_group(value)) for pattern, value in self._pairs())

    def _check_range(self) -> None:
        for name, value in self.settings().items():
            if isinstance(value, float) and abs(value) > LARGEST:
                raise ConfigError(
                    f"{type(self).__name__}: {name} wants a number of at most {LARGEST:.7g}, received {value}"
                )

    def _pairs(self) -> list[tuple[str, Group]]:
        if not isinstance(self.groups, Mapping | list | tuple):
            raise ConfigError(
                f"{type(self).__name__}: groups wants a dictionary from patterns to settings, received {self.groups!r:.60}"
            )
        pairs = list(self.groups.items() if isinstance(self.groups, Mapping) else self.groups)
        for pair in pairs:
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)):
                raise ConfigError(
                    f"{type(self).__name__}: groups wants a dictionary from patterns to settings such as "
                    f"{{'*/bias:0': {{'weight_decay': 0.0}}}}, or pairs of them, received {pair!r}"
                )
        return pairs

    def _check_group(self, value: Any) -> Mapping[str, Any] | Optimizer:
        """The settings of a group under their full names, with its schedule, or its optimizer."""
        if isinstance(value, str):
            try:
                value = optimizer(value)
            except ConfigError as error:
                raise ConfigError(f"{type(self).__name__}: groups: {error}") from None
        if isinstance(value, Optimizer):
            if value.groups:
                raise ConfigError(
                    f"{type(self).__name__}: the {type(value).__name__} of a group has groups of its own: add them to "
                    f"those of {type(self).__name__}"
                )
            return value
        if not isinstance(value, Mapping):
            raise ConfigError(
                f"{type(self).__name__}: groups wants for each pattern settings such as {{'lr': 1e-4}} or an optimizer, "
                f"received {value!r:.60}"
            )
        settings = full_names(value, OPTIMIZER)
        rate = settings.pop("schedule", None)
        of_group(self, settings)
        return settings if rate is None else {**settings, "schedule": self._group_schedule(rate)}

    def _group_schedule(self, value: Any) -> Schedule:
        given = dict(value) if isinstance(value, Mapping) else {"name": value}
        found = find_schedule(given.pop("name", None), **given)  # type: ignore[arg-type]
        if found.state_dict():
            raise ConfigError(
                f"{type(self).__name__}: the schedule of a group wants a function of the step, {type(found).__name__} "
                "depends on a metric: give it to the trainer"
            )
        return found

    def check(self) -> None:
        """Raise ConfigError for inconsistent settings."""

    def replace(self, settings: Mapping[str, Any]) -> Optimizer:
        """Copy with other settings, and the same groups."""
        return create(type(self), {**_fields(self), "groups": self.groups, **full_names(settings, OPTIMIZER)})

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in form_fields(type(self))}

    @property
    def group_list(self) -> list[tuple[str, Mapping[str, Any] | Optimizer]]:
        """The pattern of each group, and its settings under their full names or its optimizer."""
        return list(self.groups)  # type: ignore[arg-type]

    def record(self) -> dict[str, Any]:
        """The settings and the groups as plain data, for recordings and reports."""
        groups = {
            pattern: {"name": group.kind, **group.settings()}
            if isinstance(group, Optimizer)
            else {
                name: {"name": value.kind, **value.settings()} if isinstance(value, Schedule) else value
                for name, value in group.items()
            }
            for pattern, group in self.group_list
        }
        return {**self.settings(), "groups": groups} if groups else self.settings()

    @property
    def label(self) -> str:
        """The name of the optimizer, and of those of its groups: "muon + adamw"."""
        others = [
            group.kind if isinstance(group, Optimizer) else group.get("name", self.kind) for _, group in self.group_list
        ]
        return " + ".join(dict.fromkeys([self.kind, *others]))

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

        Write tensors before numbers (``g * rate``): dispatch looks at the first operand first. TensorFlow and MindSpore
        compile the update with the step, so what changes from step to step belongs to the numbers or the slots.
        """
        raise NotImplementedError(f"{type(self).__name__} has no update")

    def flat_update(self, backend: str, shape: tuple[int, ...], dtype: str) -> Callable | None:
        """The update of a parameter of this shape in the calls of a backend, see `labdl.train.optimizers.flat_update`."""
        return flat_update(self, backend, shape, dtype)


@dataclasses.dataclass(frozen=True)
class NamedOptimizer:
    """An entry of the registry: an optimizer class with preset settings."""

    cls: type[Optimizer]
    extra: tuple[tuple[str, Any], ...] = ()

    def make(self, **settings) -> Optimizer:
        return create(self.cls, {**dict(self.extra), **full_names(settings, OPTIMIZER)})

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
        accept_other_names("setting of an optimizer", OPTIMIZER)(cls)
        OPTIMIZERS[cls.kind] = NamedOptimizer(cls)  # pyrefly: ignore[missing-attribute]
        OPTIMIZERS.update({name: NamedOptimizer(cls, tuple(extra.items())) for name, extra in aliases.items()})
        return cls

    return decorate


def of_group(rule: Optimizer, settings: Mapping[str, Any]) -> Optimizer:
    """The optimizer of a group's settings: ``rule`` with other settings, or the one that they name; without groups."""
    if "name" in settings:
        return optimizer(settings)
    if not settings and not rule.groups:
        return rule
    return create(type(rule), {**_fields(rule), **settings})


def _fields(rule: Optimizer) -> dict[str, Any]:
    return {f.name: getattr(rule, f.name) for f in dataclasses.fields(rule) if f.init and f.name != "groups"}


def optimizer(value: str | Optimizer | Mapping[str, Any], **settings) -> Optimizer:
    """Look up an optimizer by name with settings, or as given.

    A dictionary holds the settings with the name, ``{"name": "adam", "learning_rate": 1e-3}``, or optimizers by patterns of
    parameters, ``{"*": Muon(0.02), "embedding/*": AdamW(3e-4)}``, of which "*" has the parameters that no other matches: the
    same as ``Muon(0.02, groups={"embedding/*": AdamW(3e-4)})``. Raises ConfigError that lists the names or settings.
    """
    if isinstance(value, Mapping):
        return _from_mapping(value, settings)
    if isinstance(value, Optimizer):
        return value.replace(settings) if settings else value
    name = find_name(value, OPTIMIZERS, {}) if isinstance(value, str) else None
    if name is None:
        raise ConfigError(
            f"optimizer wants one of {', '.join(OPTIMIZERS)} or labdl.train.SGD(...) and the like, received "
            f"{value!r}{suggest_name(value, OPTIMIZERS)}"
        )
    return OPTIMIZERS[name].make(**settings)


def _from_mapping(value: Mapping[str, Any], settings: Mapping[str, Any]) -> Optimizer:
    name = value.get("name")
    if isinstance(name, str):
        return optimizer(name, **{key: v for key, v in value.items() if key != "name"}, **settings)
    if "name" in value or not all(isinstance(v, str | Optimizer | Mapping) for v in value.values()):
        raise ConfigError(
            f"optimizer wants a name in its dictionary, such as {{'name': ...}}, or optimizers by patterns of parameters, "
            f"such as {{'*': Adam(), 'embedding/*': SGD()}}, received {dict(value)!r}"
        )
    if "*" not in value:
        raise ConfigError(
            f"optimizer wants '*' among its patterns, for the parameters that no other matches, received "
            f"{', '.join(map(repr, value))}"
        )
    base, others = optimizer(value["*"], **settings), {p: v for p, v in value.items() if p != "*"}
    return base.replace({"groups": (*base.groups, *others.items())})


def apply_weight_decay(gradient, parameter, weight_decay: float):
    """Add the gradient of an L2 penalty."""
    return gradient + parameter * weight_decay if weight_decay else gradient
