"""The target values that a loss takes, as losses declare them, and the check of arrays against that."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np

from labdl.errors import ConfigError
from labdl.nn.schema import LAYERS
from labdl.ops.operator import Operator


@dataclasses.dataclass(frozen=True)
class TargetValues:
    """Numbers from ``low`` to ``high``, without ``excluded``; ``classes`` are class numbers below the size of the output.

    A loss declares it as its class variable ``target_values``.
    """

    low: float
    high: float
    excluded: float | None = None
    classes: bool = False

    def describe(self) -> str:
        """As in "values from 0 to 1"."""
        if self.excluded is not None:
            return f"values of {self.low:g} and {self.high:g}"
        return (
            f"values of at least {self.low:g}"
            if math.isinf(self.high)
            else f"values from {self.low:g} to {self.high:g}"
        )


PROBABILITIES = TargetValues(0, 1)
SIGNS = TargetValues(-1, 1, excluded=0)
COUNTS = TargetValues(0, math.inf)
CLASSES = TargetValues(0, math.inf, classes=True)
CLASS_LISTS = TargetValues(-1, math.inf, classes=True)  # each ends at -1


def declaring_layer(loss: Any) -> Any:
    """The layer that declares what a loss takes: the loss itself, or the class of the same name for an operator."""
    operator = _operator(loss)
    if operator is None:
        return loss
    word = operator.name.removesuffix("_loss").removesuffix("_probabilities").replace("_", "")
    return next((c for c in LAYERS.values() if c.__module__.startswith("labdl.nn.loss") and _word(c) == word), loss)


def _operator(loss: Any) -> Operator | None:
    operator = getattr(loss.func if isinstance(loss, functools.partial) else loss, "operator", None)
    return operator if isinstance(operator, Operator) else None


def _word(cls: type) -> str:
    return cls.__name__.lower().removesuffix("loss")


def check_target_values(targets: np.ndarray, loss: Any, classes: int | None, name: str) -> None:
    """Raise ConfigError for targets that a loss does not take, with what to write.

    ``classes`` is the size of the last axis of the output, None if it is unknown. NaN is left to the loss, which is not
    finite then.
    """
    declared: TargetValues | None = getattr(declaring_layer(loss), "target_values", None)
    if declared is None or not isinstance(targets, np.ndarray) or targets.dtype.kind not in "biuf" or not targets.size:
        return
    if declared.classes:
        if targets.dtype.kind in "iu" and classes is not None:
            _check_classes(targets, declared, _ignore_index(loss), classes)
        return
    lowest, highest = targets.min(), targets.max()
    if lowest < declared.low or highest > declared.high or (declared.excluded is not None and _has(targets, declared)):
        raise ConfigError(
            f"the targets are values from {lowest:g} to {highest:g}, the loss {name} takes {declared.describe()}: "
            f"{_advice(targets, float(lowest), float(highest), declared)}"
        )


def _ignore_index(loss: Any) -> int | None:
    operator = _operator(loss)
    if operator is not None:
        parameter = operator.signature.parameters.get("ignore_index")
        own = None if parameter is None else parameter.default
        return loss.keywords.get("ignore_index", own) if isinstance(loss, functools.partial) else own
    return getattr(loss, "ignore_index", None)


def _check_classes(targets: np.ndarray, declared: TargetValues, ignored: int | None, classes: int) -> None:
    lowest, highest = targets.min(), targets.max()
    if declared.low <= lowest <= highest < classes:
        return
    counted = targets if ignored is None else targets[targets != ignored]
    if counted.size and not declared.low <= counted.min() <= counted.max() < classes:
        raise ConfigError(
            f"the data have classes from {counted.min()} to {counted.max()}, the model's output has room for {classes}, "
            "numbered from 0"
        )


def _has(targets: np.ndarray, declared: TargetValues) -> bool:
    return bool((targets == declared.excluded).any())


def _advice(targets: np.ndarray, lowest: float, highest: float, declared: TargetValues) -> str:
    """Advice for usual codes of two classes."""
    if declared == COUNTS:
        return "choose a loss of numbers such as mean_squared_error, or correct the negative ones"
    two = not np.any((targets != lowest) & (targets != highest))
    signs = declared == SIGNS
    expression = {
        (0.0, 255.0): "y / 127.5 - 1" if signs else "y / 255",
        (0.0, 1.0): "2 * y - 1",
        (1.0, 2.0): "2 * y - 3" if signs else "y - 1",
        (-1.0, 1.0): "(y + 1) / 2",
    }.get((lowest, highest))
    if expression is not None and (two or highest == 255):
        return f"write {expression}"
    if two and lowest != highest:
        return f"write {'2 * (y == ' if signs else '(y == '}{highest:g}){' - 1' if signs else ''}"
    return "number the two classes so, or choose a loss of several classes or of numbers"
