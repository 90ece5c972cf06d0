"""ROC and precision-recall curves of scores, as arrays of points."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from labdl.train.metrics.metric import Metric, extend_statistics, metric, ratio
from labdl.train.metrics.ranking import score_columns

__all__ = ["PrecisionRecallCurve", "ROCCurve"]


class ROCPoints(NamedTuple):
    """Points of a ROC curve by descending threshold; the first threshold is infinite, where nothing is positive."""

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    thresholds: np.ndarray


class PrecisionRecallPoints(NamedTuple):
    """Points of a precision-recall curve by ascending threshold, and at the end precision 1, recall 0 without one."""

    precision: np.ndarray
    recall: np.ndarray
    thresholds: np.ndarray


def _counts(scores: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False positives, true positives and thresholds: the distinct scores in descending order."""
    order = np.argsort(scores, kind="stable")[::-1]
    scores, true = scores[order], true[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) if scores.size else np.zeros(0, "int64")
    found = np.cumsum(true)[last]
    return last + 1 - found, found, scores[last]


def _share(counts: np.ndarray, total) -> np.ndarray:
    return counts / total if total else np.full(counts.shape, np.nan)


def _inner(changes: np.ndarray) -> np.ndarray:
    """True for the first and last points, and for those in between at which there is a change."""
    return np.concatenate([[True], changes, [True]]) if changes.size else np.ones(2, bool)


class _Curve(Metric):
    """Base class of curves, which differ in the points of one column of scores."""

    task = "classification"
    join = staticmethod(extend_statistics)
    costly: ClassVar[bool] = True

    @property
    def scalar(self) -> bool:
        return False

    def statistics(self, output, target):
        scores, truths = score_columns(self, output, target)
        return [scores], [truths]

    def value(self, scores, truths) -> Any:
        scores, truths = np.concatenate(scores), np.concatenate(truths)
        curves = [self.points(scores[:, i], truths[:, i]) for i in range(scores.shape[1])]
        return curves[0] if len(curves) == 1 else curves

    def points(self, scores: np.ndarray, true: np.ndarray) -> Any:
        """Compute the curve of one column of scores."""
        raise NotImplementedError(f"{type(self).__name__} has no points")


@metric
class ROCCurve(_Curve):
    """ROC curve: false and true positive rates at each threshold, three arrays (points,).

    Inputs as in ROCAUC; for several classes or labels a list with the curve of each. ``drop_intermediate`` leaves out points
    on a straight line between others. Rates are NaN without a negative or without a positive sample. Stores all scores.
    Semantics: sklearn.metrics.roc_curve::

        false_positive_rate, true_positive_rate, thresholds = ROCCurve()(scores, targets)
    """

    from_logits: bool | None = None
    ignore_index: int | None = None
    drop_intermediate: bool = True

    def points(self, scores, true):
        wrong, right, thresholds = _counts(scores, true)
        if self.drop_intermediate and len(wrong) > 2:
            kept = _inner((np.diff(wrong, 2) != 0) | (np.diff(right, 2) != 0))
            wrong, right, thresholds = wrong[kept], right[kept], thresholds[kept]
        wrong, right = np.append(0, wrong), np.append(0, right)
        return ROCPoints(_share(wrong, wrong[-1]), _share(right, right[-1]), np.append(np.inf, thresholds))


@metric
class PrecisionRecallCurve(_Curve):
    """Precision-recall curve: both at each threshold, arrays (points + 1,), and thresholds (points,).

    Inputs as in ROCAUC; for several classes or labels a list with the curve of each. ``drop_intermediate`` leaves out points
    that have the recall of both neighbors. Recalls are NaN without a positive sample. Stores all scores.
    Semantics: sklearn.metrics.precision_recall_curve.
    """

    from_logits: bool | None = None
    ignore_index: int | None = None
    drop_intermediate: bool = False

    def points(self, scores, true):
        wrong, right, thresholds = _counts(scores, true)
        if self.drop_intermediate and len(right) > 2:
            kept = _inner(np.diff(right[:-1]).astype(bool) | np.diff(right[1:]).astype(bool))
            wrong, right, thresholds = wrong[kept], right[kept], thresholds[kept]
        precision = ratio(right, right + wrong)
        recall = _share(right, right[-1] if right.size else 0)
        return PrecisionRecallPoints(np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1])
