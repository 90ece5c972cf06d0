"""An optimiser at work on the parameters of a model: its learning rate, its step and its state, on any backend."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.errors import ConfigError, StateDictError
from labdl.nn.parameter import Parameter
from labdl.train.optimizers.base import Optimizer

_WHOLE = ("step", "learning_rate")  # the entries of a state that belong to no parameter


@dataclass(frozen=True)
class _Part:
    """Parameters with the same settings and the same count of steps, and what updates them."""

    names: tuple[str, ...]
    rule: Optimizer
    native: Any
    factor: float


class BoundOptimizer:
    """What `Trainer` and `Module` update parameters with.

    ``parameters`` holds those that are learnt under their standard names. The state is kept by the backend; in `state_dict`
    it is NumPy under names that are the same on every backend, so that a run may go on elsewhere.
    """

    def __init__(self, rule: Optimizer, backend, parameters: Mapping[str, Parameter]):
        self.rule, self.backend, self.version = rule, backend, 0
        self._rate = float(rule.learning_rate)
        for pattern, _ in rule.groups:
            if not any(fnmatch.fnmatchcase(name, pattern) for name in parameters):
                some = ", ".join(list(parameters)[:5])
                raise ConfigError(f"{type(rule).__name__}: groups names {pattern!r}, which no parameter matches; there are "
                                  f"{some} …")  # fmt: skip
        halves = [name for name, p in parameters.items() if p.dtype in ("float16", "bfloat16")]
        if (
            halves
        ):  # an update is mostly smaller than what such a number can show: frameworks lose it, or the whole number
            raise ConfigError(f"{type(rule).__name__}: parameters of 16 bits cannot be learnt, {halves[0]} is "
                              f"{parameters[halves[0]].dtype}: freeze it, or make it float32 and train in mixed precision "
                              "with precision='bfloat16'")  # fmt: skip
        self._bind(parameters, {}, 0)

    @property
    def names(self) -> list[str]:
        return list(self.parameters)

    @property
    def step(self) -> int:
        """Number of updates made."""
        return self._before + (self._parts[0].native.step if self._parts else 0)

    @property
    def learning_rate(self) -> float:
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        if value != self._rate:  # telling a framework costs more than comparing
            self._rate = value
            for part in self._parts:
                part.native.learning_rate = value * part.factor

    def zero_gradient(self) -> None:
        """Forget the gradients that the backend has stored with the variables."""
        self.backend.clear_gradients(self.variables)

    def apply(self, gradients: Sequence[Any] | Mapping[str, Any]) -> None:
        """One update with the given gradients: native tensors in the order of `names`, or by name; None leaves as it is."""
        if isinstance(gradients, Mapping):
            gradients = [gradients.get(name) for name in self.parameters]
        if len(gradients) != len(self.variables):
            raise ValueError(f"apply wants a gradient for each of {len(self.variables)} parameters, received "
                             f"{len(gradients)}: give None for those that have none")  # fmt: skip
        self.advance()
        self.update(gradients)

    def rebind(self, parameters: Mapping[str, Parameter], backend=None) -> None:
        """Learn these parameters from now on, on another backend if one is given.

        Those that stay keep their state, new ones begin with none; steps made by ``train_function`` follow.
        """
        state = self.state_dict()
        self.backend = backend or self.backend
        kept = {key: value for key, value in state.items() if key in _WHOLE or key.rpartition("/")[0] in parameters}
        known = set(self.parameters)
        kept.update({f"{name}/step": np.asarray(0) for name in parameters if name not in known})
        self._bind(parameters, kept, int(state["step"]))

    # -- the state

    def state_dict(self) -> dict[str, np.ndarray]:
        """``{"step": …, "learning_rate": …, "<standard name>/<slot>": NumPy array}``, the rate being the one of now.

        Arrays are laid out as the parameter's in the model's `state_dict`. A parameter that has been learnt for fewer steps
        than the others has a ``<standard name>/step`` as well.
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
        """Go on from a state of any backend. Raises StateDictError naming missing, unexpected and wrongly shaped keys."""
        self.check(values)
        step = int(values["step"])
        self.learning_rate = float(values["learning_rate"])
        if [part.names for part in self._parts] == [names for names, _, _ in self._division(self.parameters, values)]:
            self._load(values, step)
        else:
            self._bind(self.parameters, values, step)

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise StateDictError for a state that does not fit; nothing is changed."""
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

    def _division(self, parameters, values) -> list[tuple[tuple[str, ...], Optimizer, int]]:
        """Names that share settings and a count of steps."""
        found: dict[tuple, tuple[list[str], Optimizer]] = {}
        for name in parameters:
            changes: dict[str, Any] = {}
            for pattern, settings in self.rule.groups:
                if fnmatch.fnmatchcase(name, pattern):
                    changes.update(settings)
            step = int(values.get(f"{name}/step", values.get("step", 0)))
            key = (step, *sorted(changes.items()))
            if key not in found:
                found[key] = ([], self.rule.changed(changes) if changes else self.rule)
            found[key][0].append(name)
        return [(tuple(names), rule, key[0]) for key, (names, rule) in found.items()]

    def _bind(self, parameters: Mapping[str, Parameter], values: Mapping[str, Any], total: int) -> None:
        self.parameters = dict(parameters)
        self.variables = [p.value for p in self.parameters.values()]
        self._parts = []
        for names, rule, _ in self._division(parameters, values):
            native = self.backend.optimizer(rule, [parameters[name].value for name in names])
            base = self.rule.learning_rate
            factor = rule.learning_rate / base if base else 1.0
            native.learning_rate = self._rate * factor
            self._parts.append(_Part(names, rule, native, factor))
        if values:
            self._load(values, total)
        else:
            self._before = total
        self.version += 1  # compiled steps hold the variables of the parts that were
        if len(self._parts) == 1:  # the usual case, without a way around
            self.advance, self.update = self._parts[0].native.advance, self._parts[0].native.update
        else:
            self.advance, self.update = self._advance_parts, self._update_parts
            self._places = [places for _, places in self.natives]

    @property
    def natives(self) -> list[tuple[Any, list[int]]]:
        """The backend's own optimisers, and the places of their variables among all."""
        places = {name: i for i, name in enumerate(self.parameters)}
        return [(part.native, [places[name] for name in part.names]) for part in self._parts]

    def _advance_parts(self) -> None:
        for part in self._parts:
            part.native.advance()

    def _update_parts(self, gradients) -> None:
        for part, places in zip(self._parts, self._places, strict=True):
            part.native.update([gradients[i] for i in places])
