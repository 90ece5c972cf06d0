"""The weights of the classes of a training, from what people give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.data import ArrayDataset
from labdl.data.conversion import TargetRule, as_array
from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.train.data_adapter import NestedDataset
from labdl.train.weighted_loss import plain_loss

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

_WANTED = "class_weight wants weights by class such as {0: 1.0, 1: 5.0}, one for each class, or 'balanced'"


def class_weights(context: TrainContext, rule: TargetRule, class_weight: Any, data: Any) -> list[float]:
    """The weights of the classes of a training, one for each.

    Raises ConfigError for a loss without classes, and for invalid weights.
    """
    loss = plain_loss(context.loss_function)
    room = rule.output.shape[-1] if rule.output is not None and rule.output.shape else None
    if not context.standard_loss or not isinstance(loss, Module) or rule.kind == "any" or not rule.labels or not room:
        raise ConfigError(
            f"class_weight wants a loss of classes such as cross_entropy or binary_cross_entropy, the training has "
            f"{context.loss_name}: weight the samples in that loss"
        )
    if getattr(loss, "reduction", None) not in ("mean", "sum"):
        raise ConfigError(f"class_weight wants a loss with reduction 'mean' or 'sum', {context.loss_name} has none")
    count = room if rule.kind == "classes" else 2
    names = context.model.class_names or ()
    if isinstance(class_weight, str) and class_weight == "balanced":
        return _balanced(data, count)
    if not isinstance(class_weight, Mapping):
        given = weight_list(class_weight)
        if given is None or len(given) != count:
            raise ConfigError(f"{_WANTED}; there are {count} classes, received {class_weight!r:.80}")
        class_weight = dict(enumerate(given))
    weights = [1.0] * count
    for key, weight in class_weight.items():
        number = names.index(key) if isinstance(key, str) and key in names else key
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < count:
            known = f"{', '.join(names[:10])}" if names else f"0 to {count - 1}"
            raise ConfigError(f"{_WANTED}; the classes are {known}, received {key!r:.80}")
        if isinstance(weight, str) or not np.isscalar(weight) or not 0 <= float(weight) < math.inf:  # type: ignore[arg-type]
            raise ConfigError(f"{_WANTED}; a weight is a number at least 0, received {weight!r:.80} for {key!r}")
        weights[int(number)] = float(weight)  # type: ignore[arg-type]
    if not any(weights):
        raise ConfigError(f"{_WANTED}; with all of them 0 there is nothing to learn, received {class_weight!r:.80}")
    return weights


def weight_list(value: Any) -> list[Any] | None:
    """The weights of a sequence or an array of one for each class; None for anything else."""
    if isinstance(value, str) or np.ndim(value) != 1:
        return None
    return as_array(value, "class_weight").tolist()


def _balanced(data: Any, count: int) -> list[float]:
    """Weights by which all classes have the same total. Semantics: sklearn.utils.class_weight.compute_class_weight."""
    y = (
        data.arrays[-1]
        if isinstance(data, ArrayDataset)
        else data.values[1]
        if isinstance(data, NestedDataset)
        else None
    )
    if not isinstance(y, np.ndarray):
        raise ConfigError(
            "class_weight='balanced' counts the labels, which a data set that is read sample by sample does not hold as an "
            "array: give the weights as a dictionary"
        )
    if y.dtype.kind == "f":
        y = y.argmax(-1) if y.ndim > 1 and y.shape[-1] == count and count > 1 else np.rint(y).astype("int64")
    labels = y[(y >= 0) & (y < count)].reshape(-1)
    counts = np.bincount(labels, minlength=count)
    present = np.count_nonzero(counts)
    return [float(len(labels) / (present * n)) if n else 1.0 for n in counts]
