"""Threshold-free metrics of scores and probabilities."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.metric import Average, Metric, average_classes, extend_statistics, metric
from labdl.train.metrics.outputs import class_numbers, counted_samples, log_probabilities

__all__ = ["ROCAUC", "AveragePrecision", "LogLoss"]


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 in ascending order, averaged over ties."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse.reshape(-1)]


def score_columns(owner: Metric, output, target):
    """Scores (N, columns) and 0 or 1 for each: one column for the positive class, or one per class or label."""
    name, from_logits = type(owner).__name__, owner.takes_logits
    output, target = counted_samples(owner.ignored_target, output, target)
    if output.ndim == target.ndim + 1 and output.shape[-1] > 1 and output.shape[:-1] == target.shape:
        classes = output.shape[-1]
        scores = (log_probabilities(output, True) if from_logits else output).reshape(-1, classes)
        numbers = class_numbers(name, target, classes).reshape(-1, 1)
        return _check_scores(name, scores), numbers == np.arange(classes)
    if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
        output = output[..., 0]
    if output.shape != target.shape:
        raise ModelError(
            f"{name} wants scores (..., classes) with class numbers (...), or scores with targets of the same "
            f"shape, received {output.shape} and {target.shape}"
        )
    if target.size and not (target.min() >= -1 and target.max() <= 1):
        raise ModelError(f"{name} of scores with targets of the same shape wants targets 0 and 1, or -1 and 1")
    shape = (math.prod(output.shape[:-1]), output.shape[-1]) if output.ndim > 1 else (-1, 1)
    return _check_scores(name, output.reshape(shape)), target.reshape(shape) > 0.5


def _check_scores(name: str, scores: np.ndarray) -> np.ndarray:
    """A copy of the scores, which a metric keeps. Raises ModelError for NaN."""
    if np.isnan(scores).any():
        raise ModelError(f"{name} wants scores to sort by, received NaN, or logits that are infinite")
    return scores.copy()


def _each_column(owner, function, all_scores: list, all_truths: list):
    scores, truths = np.concatenate(all_scores), np.concatenate(all_truths)
    weights = truths.sum(0)
    if owner.average == "micro":
        return float(function(scores.ravel(), truths.ravel()))
    values = np.array([function(scores[:, i], truths[:, i]) for i in range(scores.shape[1])])
    return average_classes(values, np.where(np.isnan(values), 0, weights), ~np.isnan(values), owner.average)


def _area(scores: np.ndarray, true: np.ndarray) -> float:
    """Fraction of pairs of a positive and a negative sample in which the positive scores higher; ties count half."""
    positive = np.count_nonzero(true)
    negative = true.size - positive
    if not positive or not negative:
        return float("nan")
    return float((ranks(scores)[true].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _average_precision(scores: np.ndarray, true: np.ndarray) -> float:
    """Mean of the precisions at all thresholds, weighted by the increase in recall."""
    if not true.any():
        return float("nan")
    order = np.argsort(scores, kind="stable")[::-1]
    scores, true = scores[order], true[order]
    last = np.append(scores[1:] != scores[:-1], True)  # last of equal scores
    found = np.cumsum(true)[last]
    return float(np.sum(np.diff(found, prepend=0) / found[-1] * found / (np.flatnonzero(last) + 1)))


@metric
class ROCAUC(Metric):
    """Area under the ROC curve: the probability that a positive sample scores above a negative one.

    Scores (N) or (N, 1) with targets 0 and 1; or logits (N, classes), probabilities with ``from_logits=False``, with class
    numbers (N), each class against the rest; or scores and targets (N, labels). Classes without a positive and a negative
    sample are ignored. Stores all scores. Semantics: sklearn.metrics.roc_auc_score.
    """

    task = "classification"
    higher_is_better = True

    join = staticmethod(extend_statistics)
    costly: ClassVar[bool] = True
    average: Average = "macro"
    from_logits: bool | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        scores, truths = score_columns(self, output, target)
        return [scores], [truths]

    def value(self, scores, truths):
        return _each_column(self, _area, scores, truths)


@metric
class AveragePrecision(Metric):
    """Area under the precision-recall curve, as a sum over thresholds; inputs as in ROCAUC.

    Semantics: sklearn.metrics.average_precision_score.
    """

    task = "classification"
    higher_is_better = True

    join = staticmethod(extend_statistics)
    costly: ClassVar[bool] = True
    average: Average = "macro"
    from_logits: bool | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        scores, truths = score_columns(self, output, target)
        return [scores], [truths]

    def value(self, scores, truths):
        return _each_column(self, _average_precision, scores, truths)


@metric
class LogLoss(Metric):
    """Mean negative log-probability of the true class.

    Logits (..., classes), probabilities with ``from_logits=False``, with class numbers (...); or binary ones (N) or (N, 1)
    with targets 0 and 1. Semantics: sklearn.metrics.log_loss.
    """

    task = "classification"
    higher_is_better = False

    from_logits: bool | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        output, target = counted_samples(self.ignored_target, np.asarray(output, "float64"), target)
        if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
            output = output[..., 0]
        if output.shape == target.shape:
            zero = np.zeros_like(output)
            output = np.stack([zero, output] if self.takes_logits else [1 - output, output], -1)
            if target.ndim and ((target < 0) | (target > 1)).any():
                raise ModelError("LogLoss of one output wants targets 0 and 1")
        elif output.shape[:-1] != target.shape:
            raise ModelError(
                f"LogLoss wants (..., classes) with class numbers (...), received {output.shape} and {target.shape}"
            )
        logs = log_probabilities(output, self.takes_logits)
        numbers = class_numbers("LogLoss", target, logs.shape[-1])
        return -np.take_along_axis(logs, numbers[..., None], -1).sum(), target.size

    def value(self, total, n):
        return float(total / n) if n else float("nan")
