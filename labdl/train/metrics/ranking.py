"""How well scores and probabilities separate classes, whatever the threshold."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.decisions import log_probabilities
from labdl.train.metrics.metric import Average, Metric, averaged, listed, metric


def ranks(values: np.ndarray) -> np.ndarray:
    """Places from 1 in ascending order; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse.reshape(-1)]


def _scored(name: str, output, target, from_logits: bool):
    """Scores (N, columns) and 0 or 1 for each: one column for "yes", or one a class, or one a label."""
    output, target = np.asarray(output), np.asarray(target)
    if output.ndim == target.ndim + 1 and output.shape[-1] > 1 and output.shape[:-1] == target.shape:
        classes = output.shape[-1]
        logs = log_probabilities(output, True) if from_logits else output
        return logs.reshape(-1, classes), target.reshape(-1, 1) == np.arange(classes)
    if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
        output = output[..., 0]
    if output.shape != target.shape:
        raise ModelError(f"{name} wants scores (..., classes) with class numbers (...), or scores with targets of the same "
                         f"shape, received {output.shape} and {target.shape}")  # fmt: skip
    columns = output.shape[-1] if output.ndim > 1 else 1
    return output.reshape(-1, columns), target.reshape(-1, columns) > 0.5


def _each_column(asked, function, all_scores: list, all_truths: list):
    scores, truths = np.concatenate(all_scores), np.concatenate(all_truths)
    weights = truths.sum(0)
    if asked.average == "micro":
        return float(function(scores.ravel(), truths.ravel()))
    values = np.array([function(scores[:, i], truths[:, i]) for i in range(scores.shape[1])])
    return averaged(values, np.where(np.isnan(values), 0, weights), ~np.isnan(values), asked.average)


def _area(scores: np.ndarray, true: np.ndarray) -> float:
    """The share of pairs of a positive and a negative sample in which the positive scores higher; ties count half."""
    positive = np.count_nonzero(true)
    negative = true.size - positive
    if not positive or not negative:
        return float("nan")
    return float((ranks(scores)[true].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _average_precision(scores: np.ndarray, true: np.ndarray) -> float:
    """Precision at each threshold, weighted by the recall that it adds."""
    if not true.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    scores, true = scores[order], true[order]
    last = np.append(scores[1:] != scores[:-1], True)  # of each run of equal scores
    found = np.cumsum(true)[last]
    return float(np.sum(np.diff(found, prepend=0) / found[-1] * found / (np.flatnonzero(last) + 1)))


@metric
class ROCAUC(Metric):
    """Area under the curve of true against false positives: how often a positive sample scores above a negative one.

    Scores (N) or (N, 1) with targets 0 and 1; or logits (N, classes), probabilities with ``from_logits=False``, with class
    numbers (N), each class against the rest; or scores and targets (N, labels). Classes without a positive and a negative
    sample do not count. Keeps all scores. Semantics: sklearn.metrics.roc_auc_score.
    """

    higher_is_better = True

    join = staticmethod(listed)
    costly: ClassVar[bool] = True
    average: Average = "macro"
    from_logits: bool = True

    def statistics(self, output, target):
        scores, truths = _scored("ROCAUC", output, target, self.from_logits)
        return [scores], [truths]

    def value(self, scores, truths):
        return _each_column(self, _area, scores, truths)


@metric
class AveragePrecision(Metric):
    """Area under the curve of precision against recall, as a sum over thresholds; inputs as in ROCAUC.

    Semantics: sklearn.metrics.average_precision_score.
    """

    higher_is_better = True

    join = staticmethod(listed)
    costly: ClassVar[bool] = True
    average: Average = "macro"
    from_logits: bool = True

    def statistics(self, output, target):
        scores, truths = _scored("AveragePrecision", output, target, self.from_logits)
        return [scores], [truths]

    def value(self, scores, truths):
        return _each_column(self, _average_precision, scores, truths)


@metric
class LogLoss(Metric):
    """Mean of minus the logarithm of the probability of what is true.

    Logits (..., classes), probabilities with ``from_logits=False``, with class numbers (...); or those of "yes", (N) or (N, 1),
    with 0 and 1. Semantics: sklearn.metrics.log_loss.
    """

    higher_is_better = False

    from_logits: bool = True

    def statistics(self, output, target):
        output, target = np.asarray(output, "float64"), np.asarray(target)
        if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
            output = output[..., 0]
        if output.shape == target.shape:
            zero = np.zeros_like(output)
            output = np.stack([zero, output] if self.from_logits else [1 - output, output], -1)
            if target.ndim and ((target < 0) | (target > 1)).any():
                raise ModelError("LogLoss of one output wants targets 0 and 1")
        elif output.shape[:-1] != target.shape:
            raise ModelError(f"LogLoss wants (..., classes) with class numbers (...), received {output.shape} and "
                             f"{target.shape}")  # fmt: skip
        logs = log_probabilities(output, self.from_logits)
        return -np.take_along_axis(logs, target[..., None].astype("int64"), -1).sum(), target.size

    def value(self, total, n):
        return float(total / n) if n else float("nan")
