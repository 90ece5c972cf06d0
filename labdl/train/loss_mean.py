"""The mean of a loss over parts of the data, each of which counts by what its own mean divides by."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.nn.module import Module
from labdl.train.data_adapter import map_structure, size_of
from labdl.train.output_losses import OutputLosses

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState


def loss_weight(context: TrainContext, x: Any, y: Any, output: Any) -> float:
    """The weight of the loss of a batch in the mean over several, 1 for a loss that is a sum.

    It is the result of ``loss.normalizer(targets, axes of the output)`` where the loss is a layer that has this method, for
    its mean is not one over the samples: targets may be ignored or weighted. For other losses, such as functions and those
    of a trainer that overrides `loss`, it is the number of samples.
    """
    if context.sums_loss:
        return 1.0
    normalizer = _normalizer(context)
    axes = len(getattr(output, "shape", ()))
    return float(size_of(x)) if normalizer is None or not axes else float(normalizer(y, axes))


def part_weights(context: TrainContext, x: Any, y: Any, parts: list[slice], output: Any) -> list[float]:
    """The weights of the losses of the parts of a batch, whose sum is the loss of the batch; all 0 where nothing counts.

    ``output`` is that of any part.
    """
    weights = [loss_weight(context, take(x, part), take(y, part), output) for part in parts]
    total = 1.0 if context.sums_loss else sum(weights)
    return [weight / total if total else 0.0 for weight in weights]


def output_losses(context: TrainContext) -> OutputLosses | None:
    """The losses by output of a training of which one is not a mean over the samples, else None."""
    loss = context.loss_function
    if not isinstance(loss, OutputLosses) or not loss.uneven or context.overridden & {"loss", "phases"}:
        return None
    return loss


class LossMean:
    """The mean losses over the batches of a data set, each by what its own mean divides by."""

    def __init__(self, context: TrainContext):
        self._context, self._by_output = context, output_losses(context)
        self._totals: dict[str, float] = {}
        self._weights: dict[str, float] = {}

    def add(self, values: Mapping[str, float], x: Any, y: Any, output: Any) -> None:
        """Add the losses of a batch by name."""
        by_output = self._by_output
        if by_output is None:
            weights = dict.fromkeys(values, loss_weight(self._context, x, y, output))
        else:
            divisors = by_output.divisors(y, size_of(x))
            weights = {f"loss_{name}": divisor for name, divisor in divisors.items()}
        for name, weight in weights.items():  # the value is NaN where nothing counts
            self._totals[name] = self._totals.get(name, 0.0) + (values[name] * weight if weight else 0.0)
            self._weights[name] = self._weights.get(name, 0.0) + weight

    def compute(self) -> dict[str, float]:
        """The means by name, NaN for a loss of which nothing counts; it is left out of the sum of the losses."""
        by_output, means = self._by_output, {}
        for name, total in self._totals.items():
            single = by_output.losses[name.removeprefix("loss_")] if by_output else self._context.loss_function
            whole = 1.0 if getattr(single, "reduction", None) == "sum" else self._weights[name]
            means[name] = total / whole if whole else float("nan")
        if by_output is None:
            return means
        factors = self._context.settings.loss_weights or {}
        parts = [
            mean * factors.get(name.removeprefix("loss_"), 1.0) for name, mean in means.items() if self._weights[name]
        ]
        return {"loss": math.fsum(parts) if parts else float("nan"), **means}


def nothing_counts(context: TrainContext, state: TrainState, y: Any) -> bool:
    """True for targets that are all ignored or without weight, whose mean would be 0 / 0."""
    normalizer = _normalizer(context)
    if normalizer is None or context.sums_loss or not isinstance(y, np.ndarray):
        return False
    spec = None if state.conversion is None else state.conversion.rule.output
    axes = y.ndim + 1 if spec is None else len(spec.shape)
    return not normalizer(y[:1], axes) and not normalizer(y, axes)  # mostly the first sample counts


def warn_of_nothing() -> None:
    """Warn of a step without an update."""
    warnings.warn(
        "nothing in this batch counts: its targets are all ignored (ignore_index) or of classes with the weight 0. The step "
        "leaves the parameters as they are, with the loss 0; if there are many of them, look at the targets",
        stacklevel=2,
    )


def take(value: Any, part: slice) -> Any:
    """Samples of the arrays of a nested value."""
    return value[part] if isinstance(value, np.ndarray) else map_structure(lambda leaf: leaf[part], value)


def _normalizer(context: TrainContext) -> Any:
    loss = context.loss_function
    own = context.overridden & {"loss", "phases"} or not isinstance(loss, Module)
    return None if own else getattr(loss, "normalizer", None)
