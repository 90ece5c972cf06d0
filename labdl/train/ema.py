"""Exponential moving averages of parameters, which often generalize better than the parameters themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Lt

from labdl import dispatch, ops
from labdl.errors import StateDictError
from labdl.nn.parameter import Parameter
from labdl.nn.types import Count
from labdl.settings import check
from labdl.signature import show_plain_types


@show_plain_types
@dataclasses.dataclass
class EMA:
    """Exponential moving average of the parameters: average = decay · average + (1 - decay) · parameter after an update.

    The initial average is the initial value of the parameters (``torch.optim.swa_utils.get_ema_multi_avg_fn`` starts after
    the first update). ``every`` is the number of updates between two changes of the average. With ``evaluate`` the validation
    during a training uses the averages. Buffers such as running means are not averaged.
    """

    decay: Annotated[float, Ge(0), Lt(1)] = 0.999
    every: Count = 1
    evaluate: bool = True

    def __post_init__(self):
        check(self)


class Averages:
    """The moving averages of a model's parameters, as tensors of their backend."""

    def __init__(self, rule: Any, parameters: Mapping[str, Parameter]):
        self.rule, self.updates = rule, 0
        self.values: dict[str, Any] = {}
        self.rebind(parameters)

    def rebind(self, parameters: Mapping[str, Parameter]) -> None:
        """Average other parameters; those that it averages already keep their averages, on another backend too."""
        former = {name: _array(v) for name, v in self.values.items() if parameters.get(name) is self.parameters[name]}
        self.parameters, self.values = dict(parameters), {}
        self.variables = [p.value for p in self.parameters.values()]
        for name, p in self.parameters.items():
            backend = dispatch.owner(p.value)
            value = former.get(name)
            self.values[name] = ops.stop_gradient(backend.copy(p.value)) if value is None else _like(value, p)

    def reset(self) -> None:
        """Restart with the current values of the parameters."""
        self.updates, self.values = 0, {}
        self.rebind(self.parameters)

    def update(self) -> None:
        """Update the averages after an update of the parameters."""
        self.updates += 1
        if self.updates % self.rule.every:
            return
        decay = self.rule.decay
        for name, p in self.parameters.items():
            value = self.values[name]
            self.values[name] = ops.add(value, ops.multiply(ops.subtract(ops.stop_gradient(p.value), value), 1 - decay))

    def end_epoch(self, epoch: int, epochs: int) -> None:
        """The end of an epoch of ``epochs``, counted from 0: nothing to average but what `update` did."""

    def assign(self) -> None:
        """Give the parameters the values of their averages."""
        for name, p in self.parameters.items():
            dispatch.owner(p.value).assign(p.value, _array(self.values[name]))

    @contextmanager
    def apply(self) -> Iterator[None]:
        """A context in which the parameters have the values of their averages."""
        kept = {name: np.array(_array(p.value)) for name, p in self.parameters.items()}
        try:
            self.assign()
            yield
        finally:
            for name, p in self.parameters.items():
                dispatch.owner(p.value).assign(p.value, kept[name])

    def state_dict(self) -> dict[str, Any]:
        """``updates``, and ``values``: NumPy arrays under standard names, laid out as in the model's `state_dict`."""
        return {
            "updates": self.updates,
            "values": {
                name: self.parameters[name].to_standard(np.array(_array(value))) for name, value in self.values.items()
            },
        }

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Restore a state of any backend. Raises StateDictError, without any change, for a state of other parameters."""
        given, updates = values.get("values"), values.get("updates")
        if not isinstance(given, Mapping) or not isinstance(updates, int) or updates < 0:
            raise StateDictError("the state of the averages wants updates, a number, and values, arrays by name")
        wrong = [name for name in given if name not in self.parameters]
        wrong += [
            name
            for name, p in self.parameters.items()
            if np.shape(given.get(name, ())) != p.standard_shape or name not in given
        ]
        if wrong:
            raise StateDictError(f"the state of the averages does not match the model: {', '.join(wrong[:5])}")
        self.updates = updates
        self.values = {name: _like(p.from_standard(np.asarray(given[name])), p) for name, p in self.parameters.items()}


def _array(value) -> np.ndarray:
    return dispatch.owner(value).to_numpy(value)


def _like(array: np.ndarray, parameter: Parameter):
    """The array as a tensor of the parameter's dtype on its device."""
    backend = dispatch.owner(parameter.value)
    tensor = ops.tensor(np.asarray(array), dtype=parameter.dtype, backend=backend.name)
    return backend.to_device(tensor, backend.device_of(parameter.value))
