"""What a metric is: what a batch tells, how batches join, and the value of all (NumPy only)."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

import numpy as np

from labdl.errors import ModelError
from labdl.train import settings

Average = Literal["micro", "macro", "weighted", "none"]
Kind = TypeVar("Kind", bound=type)
METRICS: dict[str, type[Metric]] = {}


def added(first: tuple, second: tuple) -> tuple:
    """Counts and sums of two batches, element by element; the longer one where only it has seen the last classes."""
    return tuple([a + b if getattr(a, "shape", ()) == getattr(b, "shape", ()) else _padded_sum(a, b)
                  for a, b in zip(first, second, strict=True)])  # fmt: skip


def _padded_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = np.zeros(np.maximum(a.shape, b.shape), np.result_type(a, b))
    for part in (a, b):
        total[tuple(map(slice, part.shape))] += part
    return total


def listed(first: tuple, second: tuple) -> tuple:
    """Rows of both, for what needs all samples at once; arrays are kept in lists until the value is asked for."""
    for ours, more in zip(first, second, strict=True):
        ours.extend(more)
    return first


class Metric:
    """Base class of metrics: exact over any split of the data into batches.

    A metric is a class with annotated settings and two methods: ``statistics(output, target)``, a tuple of arrays that a
    batch of NumPy arrays tells, and ``value(*statistics)``, the number that they mean. ``join`` says how the statistics of
    two batches become those of both; by default they add up. ``costly`` metrics are shown once an epoch, not each step.
    ``higher_is_better`` says which of two runs is the better one by it.
    """

    join: ClassVar[Callable[[tuple, tuple], tuple]] = staticmethod(added)
    costly: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None  # None where nobody knows
    name: ClassVar[str] = "metric"

    _seen: tuple | None = None

    def __init_subclass__(cls):
        cls.name = cls.__dict__.get("name", spelled(cls))

    def statistics(self, output, target) -> tuple:
        """What a batch tells, as a tuple of arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no statistics(output, target)")

    def value(self, *statistics) -> Any:
        """The number, or the array of one number a class, that statistics mean."""
        raise NotImplementedError(f"{type(self).__name__} has no value(...)")

    @property
    def scalar(self) -> bool:
        """Whether the value is one number, which a curve can show."""
        return getattr(self, "average", None) != "none"

    @property
    def started(self) -> bool:
        """Whether a batch has been seen since the beginning, or since `reset`."""
        return self._seen is not None

    def update(self, output, target) -> None:
        """Take a batch into account."""
        self.add(self.statistics(output, target))

    def add(self, statistics: tuple) -> None:
        """Take the statistics of a batch into account."""
        self._seen = statistics if self._seen is None else type(self).join(self._seen, statistics)

    def compute(self) -> Any:
        """The value over all batches since the beginning, or since `reset`. Raises ModelError before the first one."""
        if self._seen is None:
            raise ModelError(f"{type(self).__name__} has seen no batch: call update(output, target) first")
        return self.value(*self._seen)

    def reset(self) -> None:
        """Forget all batches."""
        self._seen = None

    @property
    def seen(self) -> tuple | None:
        """The joined statistics of all batches since the beginning, or since `reset`; None before the first one."""
        return self._seen

    def merge(self, other: Metric) -> None:
        """Take all batches that another one of the same kind has seen into account, such as another process's."""
        if type(other) is not type(self):
            raise ModelError(f"{type(self).__name__} merges with its like, received {type(other).__name__}")
        if other._seen is not None:
            self.add(copy.deepcopy(other._seen))

    def fresh(self) -> Metric:
        """One with the same settings that has seen nothing."""
        twin = copy.copy(self)
        twin.reset()
        return twin

    def __call__(self, output, target) -> Any:
        """The value for one batch alone; nothing is remembered."""
        return self.value(*self.statistics(output, target))


def spelled(cls: type, suffix: str = "") -> str:
    """The name of a class in small letters: ``TopKAccuracy`` is top_k_accuracy, ``GIoULoss`` without "Loss" is giou."""
    word = cls.__name__.removesuffix(suffix).replace("IoU", "IOU").replace("ROC", "Roc")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", word).lower()


@dataclass_transform()
def metric(cls: Kind) -> Kind:
    """Register a metric: its annotated fields are its settings, its name in small letters is what `Trainer` knows it by."""
    dataclasses.dataclass(cls)
    made = cls.__init__

    def __init__(self, *args, **kwargs):  # noqa: N807
        made(self, *args, **kwargs)
        for field in dataclasses.fields(cls):  # lists, as JSON has them
            if isinstance(getattr(self, field.name), list):
                object.__setattr__(self, field.name, tuple(getattr(self, field.name)))
        settings.check(self)

    cls.__init__ = __init__  # type: ignore[misc]
    METRICS[cls.name] = cls  # type: ignore[attr-defined]
    return cls


def averaged(values: np.ndarray, weights: np.ndarray, present: np.ndarray, average: Average) -> Any:
    """One number from those of the classes: their mean over classes that occur, or weighted by how often they do."""
    if average == "none":
        return values
    if average == "weighted":
        return float(np.average(values, weights=weights)) if weights.any() else 0.0
    return float(values[present].mean()) if present.any() else 0.0


def ratio(above, below) -> np.ndarray:
    """above / below, 0 where both are 0."""
    above, below = np.asarray(above, "float64"), np.asarray(below, "float64")
    return np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below != 0)


def paired(name: str, output, target) -> tuple[np.ndarray, np.ndarray]:
    """Output and target as float64 of one shape. Raises ModelError where they would broadcast instead."""
    output, target = np.asarray(output, "float64"), np.asarray(target, "float64")
    if output.shape != target.shape:
        raise ModelError(f"{name} wants output and target of one shape, received {output.shape} and {target.shape}")
    return output, target
