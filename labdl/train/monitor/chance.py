"""Loss of a classifier that gives the same answer for every sample, from the classes in the targets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.nn.loss.classification import BinaryCrossEntropyLoss, CrossEntropyLoss, NLLLoss
from labdl.spec import Spec

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

_COUNTED = 4096  # targets of a batch
_LABELS = 1000  # largest number of labels of a sample that are counted one by one
_CLASSES = 100_000


@dataclass(frozen=True)
class Chance:
    """Number of classes, the least ``loss`` of one answer for all samples, that of ``uniform`` scores, and the ``accuracy``."""

    classes: int
    loss: float
    uniform: float
    accuracy: float


class ClassCounter:
    """Counts the classes of the targets that a loss receives; for losses other than cross-entropies it counts nothing."""

    def __init__(self, context: TrainContext):
        loss = context.loss_function if context.standard_loss else None
        mean = getattr(loss, "reduction", None) == "mean"
        self._loss, self._counts = loss, None
        if mean and isinstance(loss, CrossEntropyLoss | NLLLoss):
            output = context.model.output_specs
            classes = output.shape[-1] if isinstance(output, Spec) and output.shape else None
            self._counts = np.zeros(classes) if classes and 1 < classes <= _CLASSES else None
        self._binary = mean and isinstance(loss, BinaryCrossEntropyLoss) and loss.positive_weights is None
        self._positive, self._samples = np.zeros(0), 0

    def add(self, target: Any) -> None:
        """Count the targets of a batch, at most a few thousand of them."""
        if not isinstance(target, np.ndarray) or not target.size:
            return
        if self._binary:
            self._add_binary(target)
        elif self._counts is not None and target.dtype.kind in "iu":
            numbers = target.reshape(-1)[:_COUNTED]
            numbers = numbers[(numbers >= 0) & (numbers < len(self._counts))]
            ignored = getattr(self._loss, "ignore_index", -1)
            self._counts += np.bincount(numbers[numbers != ignored], minlength=len(self._counts))
        elif self._counts is not None and target.dtype.kind == "f" and target.shape[-1] == len(self._counts):
            self._counts += target.reshape(-1, len(self._counts))[:_COUNTED].sum(0, dtype="float64")

    def _add_binary(self, target: np.ndarray) -> None:
        rows = target.reshape(len(target), -1)
        rows = rows[:_COUNTED] if rows.shape[1] <= _LABELS else target.reshape(-1)[:_COUNTED, None]
        if rows.dtype.kind not in "iubf" or (self._samples and len(self._positive) != rows.shape[1]):
            self._binary = False
            return
        positive = rows.sum(0, dtype="float64")
        self._positive = self._positive + positive if self._samples else positive
        self._samples += len(rows)

    def chance(self) -> Chance | None:
        """The level of chance; None where it is not known, or where there is but one class."""
        if self._binary and self._samples:
            share = np.clip(self._positive / self._samples, 0, 1)
            found = np.mean([_entropy(np.array([p, 1 - p])) for p in share.tolist()])
            level = Chance(2, float(found), math.log(2), float(np.maximum(share, 1 - share).mean()))
        elif self._counts is not None and self._counts.sum() > 0:
            level = self._multiclass(self._counts)
        else:
            return None
        return level if level.loss > 0.01 and math.isfinite(level.loss) else None

    def _multiclass(self, counts: np.ndarray) -> Chance:
        accuracy, uniform = float((counts / counts.sum()).max()), math.log(len(counts))
        weights = getattr(self._loss, "class_weights", None)
        if weights is not None and len(weights) == len(counts):
            counts = counts * np.asarray(weights, "float64")
        share = counts / max(counts.sum(), 1e-300)
        mixed = getattr(self._loss, "label_smoothing", 0.0)
        return Chance(len(counts), _entropy(share * (1 - mixed) + mixed / len(counts)), uniform, accuracy)


def _entropy(share: np.ndarray) -> float:
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())
