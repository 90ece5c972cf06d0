"""Base class of metrics: statistics of batches, their accumulation, and the value (NumPy only)."""

from __future__ import annotations

import copy
import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

import numpy as np

from labdl import settings
from labdl.errors import ModelError
from labdl.nn.output_kind import EVEN_ODDS, OutputKind
from labdl.nn.schema import Task
from labdl.signature import show_plain_types

Average = Literal["micro", "macro", "weighted", "none"]
Kind = TypeVar("Kind", bound=type)
METRICS: dict[str, type[Metric]] = {}


def add_statistics(first: tuple, second: tuple) -> tuple:
    """Add the statistics of two batches elementwise, padded with zeros where one has seen fewer classes."""
    return tuple(
        [
            a + b if getattr(a, "shape", ()) == getattr(b, "shape", ()) else _padded_sum(a, b)
            for a, b in zip(first, second, strict=True)
        ]
    )


def _padded_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = np.zeros(np.maximum(a.shape, b.shape), np.result_type(a, b))
    for part in (a, b):
        total[tuple(map(slice, part.shape))] += part
    return total


def extend_statistics(first: tuple, second: tuple) -> tuple:
    """Extend lists of arrays, for metrics that need all samples at once."""
    for ours, more in zip(first, second, strict=True):
        ours.extend(more)
    return first


class Metric:
    """Base class of metrics: exact over any split of the data into batches.

    A metric is a class with annotated settings and two methods: ``statistics(output, target)`` computes a tuple of arrays
    from a batch of NumPy arrays, and ``value(*statistics)`` the metric. ``join`` combines the statistics of two batches, by
    default by addition. ``outputs`` says what scores are where a setting such as ``threshold`` leaves it open; a trainer or an
    evaluator sets it, and ``ignored``, the number of targets that the loss ignores, which is the default of a setting
    ``ignore_index``. ``task`` is the kind of targets it is for. ``costly`` metrics are displayed once per epoch, not at
    each step. ``higher_is_better`` is the order of runs by the metric.
    """

    join: ClassVar[Callable[[tuple, tuple], tuple]] = staticmethod(add_statistics)
    task: ClassVar[Task | None] = None
    costly: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None  # None if undefined
    name: ClassVar[str] = "metric"
    outputs: ClassVar[OutputKind] = "logits"
    ignored: ClassVar[int | None] = None

    _state: tuple | None = None

    def __init_subclass__(cls):
        cls.name = cls.__dict__.get("name", snake_case(cls))

    def statistics(self, output, target) -> tuple:
        """Compute the statistics of a batch, as a tuple of arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no statistics(output, target)")

    def value(self, *statistics) -> Any:
        """Compute the metric from statistics: a number, or an array with one number per class."""
        raise NotImplementedError(f"{type(self).__name__} has no value(...)")

    @property
    def scalar(self) -> bool:
        """True if the value is a scalar, which can be plotted as a curve."""
        return getattr(self, "average", None) != "none"

    @property
    def score_threshold(self) -> float:
        """The setting ``threshold``, by default the score of even odds: 0 for logits, 0.5 for probabilities."""
        given = getattr(self, "threshold", None)
        return EVEN_ODDS[self.outputs] if given is None else given

    @property
    def takes_logits(self) -> bool:
        """The setting ``from_logits``, by default whether the outputs are logits."""
        given = getattr(self, "from_logits", None)
        return self.outputs == "logits" if given is None else given

    @property
    def ignored_target(self) -> int | None:
        """The setting ``ignore_index``, by default the number of targets that the loss of a training ignores."""
        given = getattr(self, "ignore_index", None)
        return self.ignored if given is None else given

    @property
    def has_data(self) -> bool:
        """True if a batch has been added since the start or the last `reset`."""
        return self._state is not None

    def update(self, output, target) -> None:
        """Accumulate a batch."""
        self.add(self.statistics(output, target))

    def add(self, statistics: tuple) -> None:
        """Accumulate the statistics of a batch."""
        self._state = statistics if self._state is None else type(self).join(self._state, statistics)

    def compute(self) -> Any:
        """Compute the value over all batches since the start or the last `reset`. Raises ModelError before the first one."""
        if self._state is None:
            raise ModelError(f"{type(self).__name__} has seen no batch: call update(output, target) first")
        return self.value(*self._state)

    def reset(self) -> None:
        """Reset the accumulated statistics."""
        self._state = None

    @property
    def state(self) -> tuple | None:
        """Accumulated statistics of all batches since the start or the last `reset`; None before the first one."""
        return self._state

    def merge(self, other: Metric) -> None:
        """Accumulate the batches of another metric of the same class, such as one of another process."""
        if type(other) is not type(self):
            raise ModelError(
                f"{type(self).__name__} merges with metrics of the same class, received {type(other).__name__}"
            )
        if other._state is not None:
            self.add(copy.deepcopy(other._state))

    def fresh(self) -> Metric:
        """Copy with the same settings and no data."""
        copied = copy.copy(self)
        copied.reset()
        return copied

    def __call__(self, output, target) -> Any:
        """Compute the value for one batch, without accumulation."""
        return self.value(*self.statistics(output, target))


def check_number(name: str, value: Any) -> Any:
    """Return the value of a metric. Raises ModelError for anything but a number, such as text or an array."""
    if isinstance(value, int | float | np.number | np.bool_) and not isinstance(value, np.complexfloating):
        return value
    if isinstance(value, str) or value is None or isinstance(value, Mapping | list | tuple | complex):
        came = f"{value!r:.80}"
    elif np.shape(value) == ():
        return float(value)  # an array or a tensor of one number
    else:
        came = f"values of shape {tuple(np.shape(value))}"
    raise ModelError(
        f"the metric {name} gave {came}, a metric is one number for a batch: return a number, and log texts with "
        "trainer.log_text(name, text)"
    )


def snake_case(cls: type, suffix: str = "") -> str:
    """Name of a class in snake case: ``TopKAccuracy`` is top_k_accuracy, ``GIoULoss`` without "Loss" is giou."""
    word = cls.__name__.removesuffix(suffix).replace("IoU", "IOU").replace("ROC", "Roc")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", word).lower()


@dataclass_transform()
def metric(cls: Kind) -> Kind:
    """Register a metric: its annotated fields are its settings, its name for `Trainer` is in snake case."""
    show_plain_types(dataclasses.dataclass(cls))
    original_init = cls.__init__

    @functools.wraps(original_init)
    def __init__(self, *args, **kwargs):  # noqa: N807
        original_init(self, *args, **kwargs)
        for field in dataclasses.fields(cls):  # lists, as in JSON
            if isinstance(getattr(self, field.name), list):
                object.__setattr__(self, field.name, tuple(getattr(self, field.name)))
        settings.check(self)

    cls.__init__ = __init__  # type: ignore[misc]
    METRICS[cls.name] = cls  # type: ignore[attr-defined]
    return cls


def average_classes(values: np.ndarray, weights: np.ndarray, present: np.ndarray, average: Average) -> Any:
    """Average over classes: their mean over classes that occur, or weighted by their number of samples."""
    if average == "none":
        return values
    if average == "weighted":
        return float(np.average(values, weights=weights)) if weights.any() else 0.0
    return float(values[present].mean()) if present.any() else 0.0


def ratio(above, below) -> np.ndarray:
    """above / below, 0 where both are 0."""
    above, below = np.asarray(above, "float64"), np.asarray(below, "float64")
    return np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below != 0)


def as_arrays(name: str, output, target) -> tuple[np.ndarray, np.ndarray]:
    """Convert output and target to float64 arrays of the same shape. Raises ModelError where shapes differ."""
    output, target = np.asarray(output, "float64"), np.asarray(target, "float64")
    if output.shape != target.shape:
        raise ModelError(
            f"{name} wants output and target of the same shape, received {output.shape} and {target.shape}"
        )
    return output, target
