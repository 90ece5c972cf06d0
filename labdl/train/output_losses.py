"""Losses and metrics of a model with several outputs: one or more for each of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from labdl import ops
from labdl.errors import ConfigError
from labdl.nn.loss.target_values import check_target_values
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.train.metrics.metric import Metric, snake_case


def is_by_output(value: Any) -> bool:
    """True for a dictionary of settings by output, or a list, which is not a single one: ``{"name": "mse", ...}``."""
    return isinstance(value, list | tuple) or (isinstance(value, Mapping) and not isinstance(value.get("name"), str))


class OutputLosses:
    """A loss for each output of a model, of the target with the same name, or in the same place of a tuple.

    The result is the dictionary of the losses by name, or by their place, counted from 0. Semantics: a dictionary or a list of
    losses of keras.Model.compile.
    """

    def __init__(self, losses: Mapping[str, Callable] | Sequence[Callable]):
        self.by_name = isinstance(losses, Mapping)
        self.losses = dict(losses) if isinstance(losses, Mapping) else {str(i): loss for i, loss in enumerate(losses)}
        if not self.losses:
            raise ConfigError("loss wants a loss for each output, received none")
        self.axes: dict[str, int] = {}  # of the outputs, by name, once they are known
        self.sums = {name: _as_sum(loss) for name, loss in self.losses.items() if _divides(loss)}

    def __call__(self, output: Any, target: Any) -> dict[str, Any]:
        outputs, targets = self._parts(output, "output of the model"), self._parts(target, "target")
        self.read_axes(output)
        return {name: loss(outputs[name], targets[name]) for name, loss in self.losses.items()}

    def shares(self, output: Any, target: Any, factors: Mapping[str, Any]) -> dict[str, Any]:
        """The losses of a part of a batch as shares of those of the batch, which are their sums over the parts.

        A share is a loss times its factor; one of targets that are ignored or weighted is a sum before, and 0 where nothing
        counts.
        """
        outputs, targets = self._parts(output, "output of the model"), self._parts(target, "target")
        values = {}
        for name, loss in self.losses.items():
            values[name] = ops.multiply(self.sums.get(name, loss)(outputs[name], targets[name]), factors[name])
        return values

    @property
    def uneven(self) -> bool:
        """True if one of the losses is not a mean over the samples: a sum, or of targets that may be ignored or weighted."""
        return bool(self.sums) or any(map(_is_sum, self.losses.values()))

    def lacks_targets(self, target: Any) -> bool:
        """True if nothing counts of the targets of one of the losses, whose mean would be 0 / 0."""
        parts = self._parts(target, "target")
        for name in self.sums:
            part, axes, divide = parts[name], self.axes[name], self.losses[name].normalizer  # type: ignore[attr-defined]
            if isinstance(part, np.ndarray) and not divide(part[:1], axes) and not divide(part, axes):
                return True  # mostly the first sample counts
        return False

    def divisors(self, target: Any, size: int) -> dict[str, float]:
        """The divisor of the mean of each loss, for targets of ``size`` samples; 1 for sums. The axes have to be known."""
        targets = self._parts(target, "target")
        values = {}
        for name, loss in self.losses.items():
            if name in self.sums and isinstance(targets[name], np.ndarray):
                values[name] = float(loss.normalizer(targets[name], self.axes[name]))  # type: ignore[attr-defined]
            else:
                values[name] = 1.0 if _is_sum(loss) else float(size)
        return values

    def factors(self, target: Any, size: int, part: int) -> dict[str, float]:
        """The factors of `shares` for a part of ``part`` samples of a batch of ``size``."""
        values = {}
        for name, divisor in self.divisors(target, size).items():
            if name in self.sums:
                values[name] = 1 / divisor if divisor else 0.0
            else:
                values[name] = 1.0 if _is_sum(self.losses[name]) else part / size
        return values

    @property
    def modules(self) -> list[Module]:
        """The losses that are layers."""
        return [loss for loss in self.losses.values() if isinstance(loss, Module)]

    def build(self, output: Any, target: Any, backend: str) -> None:
        """Build the losses that are layers, for the Specs of outputs and targets."""
        outputs, targets = self._parts(output, "output of the model"), self._parts(target, "target")
        for name, loss in self.losses.items():
            if isinstance(loss, Module) and isinstance(outputs[name], Spec) and isinstance(targets[name], Spec):
                loss.build(outputs[name], targets[name], backend=backend)
                if name in self.sums:
                    self.sums[name].build(outputs[name], targets[name], backend=backend)
        self.read_axes(output)

    def check_targets(self, target: Any) -> None:
        """Raise ConfigError for targets that the loss of their output does not take."""
        for name, part in self._parts(target, "target").items():
            if name in self.losses:
                loss = self.losses[name]
                check_target_values(part, loss, None, f"{snake_case(type(loss), 'Loss')} of the output {name}")

    def read_axes(self, output: Any) -> None:
        """Read the number of axes of each output."""
        outputs = self._parts(output, "output of the model")
        self.axes = {name: len(getattr(outputs[name], "shape", ())) for name in self.losses}

    def _parts(self, value: Any, title: str) -> Mapping[str, Any]:
        """The parts of an output or a target by name. Raises ConfigError if there is not one for each loss."""
        if self.by_name:
            if not isinstance(value, Mapping) or not self.losses.keys() <= value.keys():
                found = f"the parts {', '.join(map(str, value))}" if isinstance(value, Mapping) else "no parts by name"
                raise ConfigError(f"the losses are of the outputs {', '.join(self.losses)}, the {title} has {found}")
            return value
        if not isinstance(value, tuple | list) or len(value) != len(self.losses):
            count = len(value) if isinstance(value, tuple | list) else 1
            raise ConfigError(f"there are losses of {len(self.losses)} outputs, the {title} has {count}")
        return {str(i): part for i, part in enumerate(value)}


def _is_sum(loss: Any) -> bool:
    return getattr(loss, "reduction", None) == "sum"


def _divides(loss: Any) -> bool:
    """True for a loss whose mean is not one over the samples."""
    return isinstance(loss, Module) and hasattr(loss, "normalizer") and not _is_sum(loss)


def _as_sum(loss: Any) -> Any:
    clone = copy.deepcopy(loss)
    clone.reduction = "sum"
    return clone


def check_loss_weights(value: Any) -> dict[str, float] | None:
    """The weights of losses by name, or of a list by their place. Raises ConfigError for anything but numbers from 0 on."""
    if value is None:
        return None
    if not isinstance(value, Mapping | list | tuple):
        raise ConfigError(f"Trainer: loss_weights wants a dictionary or a list of numbers, received {value!r:.60}")
    weights = dict(value) if isinstance(value, Mapping) else {str(i): weight for i, weight in enumerate(value)}
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise ConfigError(
                f"Trainer: loss_weights wants numbers of at least 0, received {weight!r:.60} for {name!r}"
            )
    return {str(name): float(weight) for name, weight in weights.items()} or None


class OutputMetric(Metric):
    """A metric of one output of a model and the target of the same name, or in the same place of a tuple."""

    def __init__(self, output: str, metric: Metric):
        self.output, self.metric = output, metric
        self.name = f"{output}_{metric.name}"  # type: ignore[misc]
        self.costly, self.task = metric.costly, metric.task  # type: ignore[misc]
        self.higher_is_better = metric.higher_is_better  # type: ignore[misc]

    @property
    def scalar(self) -> bool:
        return self.metric.scalar

    def statistics(self, output, target):
        return self.metric.statistics(self._part(output), self._part(target))

    def value(self, *statistics):
        return self.metric.value(*statistics)

    def add(self, statistics: tuple) -> None:
        self._state = statistics if self._state is None else type(self.metric).join(self._state, statistics)

    def fresh(self) -> Metric:
        copied = copy.copy(self)
        copied.metric = self.metric.fresh()
        copied.reset()
        return copied

    def _part(self, value: Any) -> Any:
        try:
            return value[self.output] if isinstance(value, Mapping) else value[int(self.output)]
        except (KeyError, ValueError, IndexError, TypeError):
            found = f"the parts {', '.join(map(str, value))}" if isinstance(value, Mapping) else "no parts by name"
            raise ConfigError(
                f"the metric {self.name} is of the output {self.output}, there are {found}: name an output, or "
                f"write metrics=[{self.metric.name!r}] for the only one"
            ) from None
