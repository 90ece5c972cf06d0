"""Regression metrics."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from labdl.train.metrics.metric import Metric, as_arrays, extend_statistics, metric, ratio
from labdl.train.metrics.ranking import ranks

__all__ = [
    "R2",
    "ExplainedVariance",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "PearsonCorrelation",
    "RootMeanSquaredError",
    "SpearmanCorrelation",
]


def _sum_of(name: str, output, target, function):
    gap = function(*as_arrays(name, output, target))
    return gap.sum(), gap.size


def _mean(total, n) -> float:
    return float(total / n) if n else float("nan")


@metric
class MeanAbsoluteError(Metric):
    """Mean of the absolute differences. Semantics: sklearn.metrics.mean_absolute_error."""

    task = "regression"
    higher_is_better = False

    def statistics(self, output, target):
        return _sum_of("MeanAbsoluteError", output, target, lambda x, y: np.abs(x - y))

    def value(self, total, n):
        return _mean(total, n)


@metric
class MeanSquaredError(Metric):
    """Mean of the squared differences. Semantics: sklearn.metrics.mean_squared_error."""

    task = "regression"
    higher_is_better = False

    def statistics(self, output, target):
        return _sum_of("MeanSquaredError", output, target, lambda x, y: (x - y) ** 2)

    def value(self, total, n):
        return _mean(total, n)


@metric
class RootMeanSquaredError(Metric):
    """Square root of the mean of the squared differences, over all elements; in the unit of the target."""

    task = "regression"
    higher_is_better = False

    def statistics(self, output, target):
        return _sum_of("RootMeanSquaredError", output, target, lambda x, y: (x - y) ** 2)

    def value(self, total, n):
        return _mean(total, n) ** 0.5


@metric
class MeanAbsolutePercentageError(Metric):
    """Mean of |target - output| / |target|, as a fraction. Semantics: sklearn.metrics.mean_absolute_percentage_error."""

    task = "regression"
    higher_is_better = False

    def statistics(self, output, target):
        least = np.finfo("float64").eps
        return _sum_of(
            "MeanAbsolutePercentageError", output, target, lambda x, y: np.abs(x - y) / np.maximum(np.abs(y), least)
        )

    def value(self, total, n):
        return _mean(total, n)


def _columns(name: str, output, target) -> tuple[np.ndarray, np.ndarray]:
    output, target = as_arrays(name, output, target)
    width = int(np.prod(output.shape[1:]))
    return output.reshape(-1, width), target.reshape(-1, width)


_ROUNDING = 64 * np.finfo("float64").eps  # of a mean, relative to it


def moments(first: tuple, second: tuple) -> tuple:
    """Combine counts, means and central moments of two batches, numerically stable (Chan et al., 1983)."""
    (n, mean, products), (m, other, more) = first, second
    total = n + m
    gap = other - mean
    shift = m / total if total else 0.0
    return total, mean + gap * shift, products + more + gap[:, None] * gap[None] * (n * shift)


def _moments_of(name: str, output, target):
    """Counts, means and central moments of the pairs (output, target) of each column."""
    both = np.stack(_columns(name, output, target))  # (2, N, columns)
    n = both.shape[1]
    mean = both.mean(1) if n else np.zeros((2, both.shape[2]))
    away = both - mean[:, None]
    return n, mean, np.einsum("anc,bnc->abc", away, away)


def _spreads(n, mean: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Sums of squared deviations of output and target (2, columns), 0 for the rounding of equal ones, NaN without samples."""
    if not n:
        return np.full((2, mean.shape[1]), np.nan)
    spreads = products[[0, 1], [0, 1]]
    return np.where(spreads <= n * (_ROUNDING * mean) ** 2, 0.0, spreads)


def _explained_share(unexplained: np.ndarray, total: np.ndarray, average: str):
    """1 - unexplained / total of each column or their mean; a constant target counts 1 when it is met, else 0."""
    values = np.where(total > 0, 1 - ratio(unexplained, total), np.where(unexplained > 0, 0.0, 1.0))
    values = np.where(np.isnan(total), np.nan, values)
    return values if average == "none" else float(values.mean())


@metric
class R2(Metric):
    """Coefficient of determination: 1 is perfect, 0 is no better than the mean.

    The mean over columns where there are several. Semantics: sklearn.metrics.r2_score.
    """

    task = "regression"
    higher_is_better = True

    join = staticmethod(moments)
    average: Literal["macro", "none"] = "macro"

    def statistics(self, output, target):
        return _moments_of("R2", output, target)

    def value(self, n, mean, products):
        # the squared error, from the moments about the means
        wrong = products[0, 0] + products[1, 1] - 2 * products[0, 1] + n * (mean[0] - mean[1]) ** 2
        wrong = np.where(wrong <= n * (_ROUNDING * mean[1]) ** 2, 0.0, wrong)
        return _explained_share(wrong, _spreads(n, mean, products)[1], self.average)


@metric
class ExplainedVariance(Metric):
    """Share of the target's variance that the output explains: as `R2`, without a penalty for a constant offset.

    The mean over columns where there are several. Semantics: sklearn.metrics.explained_variance_score.
    """

    task = "regression"
    higher_is_better = True

    join = staticmethod(moments)
    average: Literal["macro", "none"] = "macro"

    def statistics(self, output, target):
        return _moments_of("ExplainedVariance", output, target)

    def value(self, n, mean, products):
        output, target = _spreads(n, mean, products)
        unexplained = np.where(target > 0, output + target - 2 * products[0, 1], output)
        return _explained_share(unexplained, target, self.average)


@metric
class PearsonCorrelation(Metric):
    """Linear correlation of output and target, NaN where one of them is constant; the mean over columns.

    Semantics: scipy.stats.pearsonr.
    """

    task = "regression"
    higher_is_better = True

    join = staticmethod(moments)
    average: Literal["macro", "none"] = "macro"

    def statistics(self, output, target):
        return _moments_of("PearsonCorrelation", output, target)

    def value(self, n, mean, products):
        size = np.sqrt(np.prod(_spreads(n, mean, products), axis=0))
        values = np.where(size > 0, ratio(products[0, 1], size), float("nan"))
        return values if self.average == "none" else float(values.mean())


@metric
class SpearmanCorrelation(Metric):
    """Correlation of the ranks of output and target, NaN where one of them is constant; the mean over columns.

    Stores all outputs and targets. Semantics: scipy.stats.spearmanr.
    """

    task = "regression"
    higher_is_better = True

    join = staticmethod(extend_statistics)
    costly: ClassVar[bool] = True
    average: Literal["macro", "none"] = "macro"

    def statistics(self, output, target):
        output, target = _columns("SpearmanCorrelation", output, target)
        return [output.copy()], [target.copy()]

    def value(self, outputs, targets):
        places = [np.stack([_ranks(c) for c in np.concatenate(v).T], 1) for v in (outputs, targets)]
        return PearsonCorrelation(average=self.average)(*places)


def _ranks(column: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(column), np.nan, ranks(column))
