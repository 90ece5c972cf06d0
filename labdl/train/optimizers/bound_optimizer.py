"""An optimizer bound to the parameters of a model: learning rate, updates and state on any backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.errors import ConfigError, StateDictError
from labdl.nn.parameter import Parameter
from labdl.train.optimizers.base import Optimizer
from labdl.train.optimizers.groups import GroupResolver, check_patterns
from labdl.train.schedules.base import Schedule

_GLOBAL_ENTRIES = ("step", "learning_rate")  # entries of a state that are not of a parameter


@dataclass(frozen=True)
class _Division:
    """Parameters with the same settings, schedule and number of steps."""

    names: list[str]
    rule: Optimizer
    schedule: Schedule | None
    step: int


@dataclass(frozen=True)
class _Part:
    """Parameters with the same settings, and the backend's optimizer of them.

    ``factor`` is the ratio of their learning rate to the optimizer's; None if it does not follow that.
    """

    names: list[str]
    rule: Optimizer
    native: Any
    schedule: Schedule | None
    factor: float | None


class BoundOptimizer:
    """An optimizer with the parameters that it updates.

    ``parameters`` maps standard names to trainable parameters; ``known`` are the names that patterns of groups may match, with
    those of frozen parameters and of other phases, by default the trainable ones. The state is kept by the backend;
    `state_dict` has NumPy arrays under names that do not depend on the backend, so that a run can be resumed on another.
    """

    def __init__(
        self, rule: Optimizer, backend, parameters: Mapping[str, Parameter], known: Iterable[str] | None = None
    ):
        self.rule, self.backend, self.version = rule, backend, 0
        self._rate = float(rule.learning_rate)
        self._rate_of: Callable[[Schedule, float], float] | None = None
        check_patterns(rule, parameters if known is None else known)
        halves = [name for name, p in parameters.items() if p.dtype in ("float16", "bfloat16")]
        if halves:  # most updates are below the resolution of 16 bits and would be lost
            raise ConfigError(
                f"{type(rule).__name__}: 16-bit parameters cannot be trained, {halves[0]} is "
                f"{parameters[halves[0]].dtype}: freeze it, or make it float32 and train in mixed precision "
                "with precision='bfloat16'"
            )
        self._bind(parameters, {}, 0)

    @property
    def names(self) -> list[str]:
        return list(self.parameters)

    @property
    def step(self) -> int:
        """Number of updates so far."""
        return self._before + (self._parts[0].native.step if self._parts else 0)

    @property
    def learning_rate(self) -> float:
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        if value != self._rate:  # setting the rate of a framework's optimizer is slow
            self._rate = value
            for part in self._parts:
                if part.factor is not None:
                    part.native.learning_rate = value * part.factor

    @property
    def has_schedules(self) -> bool:
        """True if a group has a schedule of its own."""
        return any(isinstance(group, Mapping) and "schedule" in group for _, group in self.rule.group_list)

    def apply_schedules(self, rate_of: Callable[[Schedule, float], float]) -> None:
        """Set the learning rates of groups with a schedule: ``rate_of(schedule, base_rate)`` is that of the next step."""
        self._rate_of = rate_of
        for part in self._parts:
            if part.schedule is not None:
                part.native.learning_rate = rate_of(part.schedule, part.rule.learning_rate)

    @property
    def learning_rates(self) -> dict[str, float]:
        """The current learning rate of each parameter by standard name."""
        return {name: float(part.native.learning_rate) for part in self._parts for name in part.names}

    def zero_gradient(self) -> None:
        """Reset the gradients that the backend has stored with the variables."""
        self.backend.clear_gradients(self.variables)

    def apply(self, gradients: Sequence[Any] | Mapping[str, Any]) -> None:
        """Update with native gradients in the order of `names`, or by name; None skips a parameter."""
        if isinstance(gradients, Mapping):
            gradients = [gradients.get(name) for name in self.parameters]
        if len(gradients) != len(self.variables):
            raise ValueError(
                f"apply wants a gradient for each of {len(self.variables)} parameters, received "
                f"{len(gradients)}: give None for those that have none"
            )
        self.advance()
        self.update(gradients)

    def rebind(self, parameters: Mapping[str, Parameter], backend=None) -> None:
        """Bind to other parameters, on another backend if one is given.

        Parameters that it has already keep their state. Others start without, those of a new layer under the name of a former
        one too. Steps compiled by ``train_function`` are updated.
        """
        state = self.state_dict()
        self.backend = backend or self.backend
        same = {name for name, parameter in parameters.items() if self.parameters.get(name) is parameter}
        kept = {key: value for key, value in state.items() if key in _GLOBAL_ENTRIES or key.rpartition("/")[0] in same}
        kept.update({f"{name}/step": np.asarray(0) for name in parameters if name not in same})
        self._bind(parameters, kept, int(state["step"]))

    # -- the state

    def state_dict(self) -> dict[str, np.ndarray]:
        """``{"step": …, "learning_rate": …, "<standard name>/<slot>": NumPy array}``, with the current rate.

        Arrays have the layout of the parameter in the model's `state_dict`. A parameter with another number of steps than
        the optimizer has a ``<standard name>/step`` as well.
        """
        state = {"step": np.asarray(self.step), "learning_rate": np.asarray(self.learning_rate)}
        for part in self._parts:
            own = part.native.step
            for name, slots in zip(part.names, part.native.state, strict=True):
                if own != state["step"]:
                    state[f"{name}/step"] = np.asarray(own)
                for slot, value in slots.items():
                    state[f"{name}/{slot}"] = self._standard(name, np.array(self.backend.to_numpy(value)))
        return state

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Restore a state of any backend. Raises StateDictError naming missing, unexpected and wrongly shaped keys."""
        self.check(values)
        step = int(values["step"])
        self.learning_rate = float(values["learning_rate"])
        if [part.names for part in self._parts] == [own.names for own in self._division(self.parameters, values)]:
            self._load(values, step)
        else:
            self._bind(self.parameters, values, step)

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise StateDictError for a state that does not match; nothing is changed."""
        counts = ["step", *(f"{name}/step" for name in self.parameters if f"{name}/step" in values)]
        wanted: dict[str, tuple[tuple[int, ...], str]] = {
            **dict.fromkeys(counts, ((), "iu")),
            "learning_rate": ((), "iuf"),
        }
        for part in self._parts:
            for name in part.names:
                for slot, (shape, _) in part.rule.slots(self.parameters[name].shape).items():
                    wanted[f"{name}/{slot}"] = (self._standard(name, np.empty(shape, bool)).shape, "iuf")
        problems = [f"missing {key}" for key in wanted if key not in values]
        problems += [f"unexpected {key}" for key in values if key not in wanted]
        for key, (shape, kinds) in wanted.items():
            array = np.asarray(values.get(key, np.zeros(shape, int)))
            if array.shape != shape:
                problems.append(f"{key} has shape {array.shape}, wanted is {shape}")
            elif array.dtype.kind not in kinds:
                problems.append(
                    f"{key} holds {array.dtype}, wanted are {'numbers' if 'f' in kinds else 'whole numbers'}"
                )
            elif (key in counts or key == "learning_rate") and not 0 <= array < np.inf:
                problems.append(f"{key} is {array}, wanted is a number at least 0")
        if problems:
            raise StateDictError(f"the state does not match {type(self.rule).__name__}: {'; '.join(problems)}")

    def _standard(self, name: str, array: np.ndarray) -> np.ndarray:
        parameter = self.parameters[name]
        return parameter.to_standard(array) if array.shape == tuple(parameter.shape) else array

    def _load(self, values: Mapping[str, Any], total: int) -> None:
        for part in self._parts:
            states, step = [], 0
            for name in part.names:
                parameter, state = self.parameters[name], {}
                step = int(values.get(f"{name}/step", values["step"]))
                for slot, (shape, start) in part.rule.slots(parameter.shape).items():
                    array = values.get(f"{name}/{slot}")
                    if array is None:
                        array = np.full(shape, start)
                    elif shape == tuple(parameter.shape):
                        array = parameter.from_standard(np.asarray(array))
                    state[slot] = np.asarray(array, "float32" if parameter.dtype == "bfloat16" else parameter.dtype)
                states.append(state)
            part.native.load(step, states)
        self._before = total - (self._parts[0].native.step if self._parts else 0)

    # -- parts

    def _division(self, parameters, values) -> list[_Division]:
        """Group names by settings, schedule and number of steps."""
        resolve, groups = GroupResolver(self.rule), {}
        for name, parameter in parameters.items():
            rule, schedule = resolve(name, parameter.shape)
            step = int(values.get(f"{name}/step", values.get("step", 0)))
            key = (step, id(rule), id(schedule))
            groups.setdefault(key, _Division([], rule, schedule, step)).names.append(name)
        return list(groups.values())

    def _bind(self, parameters: Mapping[str, Parameter], values: Mapping[str, Any], total: int) -> None:
        self.parameters = dict(parameters)
        self.variables = [p.value for p in self.parameters.values()]
        self._parts = []
        base = self.rule.learning_rate
        for own in self._division(parameters, values):
            rate = own.rule.learning_rate
            native = self.backend.optimizer(own.rule, [parameters[name].value for name in own.names])
            if own.schedule is not None:
                factor = None
            elif base:
                factor = rate / base
            else:  # no factor of 0 gives another rate
                factor = None if rate else 1.0
            if factor is not None:
                native.learning_rate = self._rate * factor
            self._parts.append(_Part(own.names, own.rule, native, own.schedule, factor))
        if self._rate_of is not None:
            self.apply_schedules(self._rate_of)
        if values:
            self._load(values, total)
        else:
            self._before = total
        self.version += 1  # compiled steps hold the variables of the former parts
        if len(self._parts) == 1:  # fast path for the common case
            self.advance, self.update = self._parts[0].native.advance, self._parts[0].native.update
        else:
            self.advance, self.update = self._advance_parts, self._update_parts
            self._places = [places for _, places in self.natives]

    @property
    def natives(self) -> list[tuple[Any, list[int]]]:
        """The backend's optimizers, and the indices of their variables among all."""
        places = {name: i for i, name in enumerate(self.parameters)}
        return [(part.native, [places[name] for name in part.names]) for part in self._parts]

    def _advance_parts(self) -> None:
        for part in self._parts:
            part.native.advance()

    def _update_parts(self, gradients) -> None:
        for part, places in zip(self._parts, self._places, strict=True):
            part.native.update([gradients[i] for i in places])
