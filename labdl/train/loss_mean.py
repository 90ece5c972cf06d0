"""The mean of a loss over parts of the data, each of which counts by what its own mean divides by."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.nn.module import Module
from labdl.train.data_adapter import map_structure, size_of

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
