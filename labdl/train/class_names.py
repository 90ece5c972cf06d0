"""The names of the classes of a model, from the labels or the names of its training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.data import ArrayDataset
from labdl.data.conversion import TargetRule, find_class_names, is_text
from labdl.errors import ConfigError
from labdl.train.data_adapter import StackedDataset

if TYPE_CHECKING:
    from labdl.train.context import TrainContext


def name_text_labels(context: TrainContext, data: Any) -> None:
    """Set the class names of a model that has none from the text labels of its training data.

    They have the order of the ``classes`` of the data set, or of the alphabet.
    """
    if context.model.class_names is not None or "preprocess" in context.overridden:
        return
    names = class_names_of(data)
    if isinstance(data, StackedDataset):
        if is_text_sample(data):
            context.model.class_names = names or _names_in(data.source)
        return
    labels: Any = data.arrays[-1] if isinstance(data, ArrayDataset) else getattr(data, "values", (None,))[-1]
    if is_text(labels):
        context.model.class_names = names or find_class_names(labels)


def name_declared_classes(context: TrainContext, data: Any, rule: TargetRule) -> None:
    """Set the class names of a classifier that has none from the ``classes`` of its training data, if the numbers agree."""
    names = class_names_of(data)
    room = rule.output.shape[-1] if rule.output is not None and rule.output.shape else None
    if context.model.class_names is None and rule.kind == "classes" and names and room == len(names):
        context.model.class_names = names


def check_class_names(context: TrainContext, rule: TargetRule) -> None:
    """Raise ConfigError if the classes of text labels are not as many as those of the output."""
    names, output = context.model.class_names, rule.output
    if not names or output is None or not output.shape or not rule.labels or rule.kind == "any":
        return
    room = 2 if output.shape[-1] == 1 else output.shape[-1]
    if room is not None and len(names) != room:
        raise ConfigError(
            f"the labels have {len(names)} classes ({', '.join(names[:10])}{' …' if len(names) > 10 else ''}), the output "
            f"of the model has room for {room}: give its last layer {len(names)} outputs"
        )


def is_text_sample(data: StackedDataset) -> bool:
    """Whether the last value of the first sample of a data set is text."""
    sample = data.source[0] if len(data) else None
    return isinstance(sample, tuple) and isinstance(sample[-1], str | np.str_)


def _names_in(samples: Any) -> tuple[str, ...] | None:
    """The labels of a list of samples; reading those of another data set may take hours."""
    return find_class_names(np.array([sample[-1] for sample in samples])) if type(samples) is list else None


def class_names_of(data: Any) -> tuple[str, ...] | None:
    """The names in the ``classes`` of a data set, None without these."""
    source = data.source if isinstance(data, StackedDataset) else data
    names = getattr(source, "classes", None)
    return tuple(map(str, names)) if isinstance(names, list | tuple) and names else None
