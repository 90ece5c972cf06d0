"""Metrics of ranked items: the order of scores against their relevance."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, metric
from labdl.train.metrics.outputs import class_numbers

__all__ = ["NDCG", "MeanReciprocalRank"]

Cut = Annotated[int, Ge(1)]


def _queries(name: str, output, target) -> tuple[np.ndarray, np.ndarray]:
    """Scores and relevances (queries, items). Raises ModelError for other shapes."""
    output, target = np.asarray(output, "float64"), np.asarray(target)
    if output.ndim >= 2 and output.shape[:-1] == target.shape:
        numbers = class_numbers(name, target, output.shape[-1])
        target = (numbers[..., None] == np.arange(output.shape[-1])).astype("float64")
    if output.ndim < 2 or output.shape != target.shape:
        raise ModelError(
            f"{name} wants scores (N, items) with relevances of the same shape, or class numbers (N), received "
            f"{output.shape} and {target.shape}"
        )
    if np.isnan(output).any():
        raise ModelError(f"{name} wants scores to sort by, received NaN")
    if np.isnan(target.astype("float64")).any():
        raise ModelError(f"{name} wants relevances, received NaN")
    shape = math.prod(output.shape[:-1]), output.shape[-1]
    return output.reshape(shape), target.reshape(shape)


def _mean(total, n) -> float:
    return float(total / n) if n else float("nan")


def _gain(scores: np.ndarray, gains: np.ndarray, discount: np.ndarray) -> float:
    """Discounted cumulative gain; items of equal scores share the mean of their discounts."""
    _, inverse, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    totals = np.append(0.0, np.cumsum(discount))
    shares = (totals[ends] - totals[ends - counts]) / counts
    return float(gains @ shares[inverse.reshape(-1)])


@metric
class NDCG(Metric):
    """Normalized discounted cumulative gain (Järvelin & Kekäläinen, 2002), mean over queries.

    Scores (N, items) and relevances (N, items), at least 0; an item with a negative relevance is padding. ``k`` counts the
    first places only. ``gain`` of a relevance is itself, or 2 ** relevance - 1 ("exponential", Burges et al., 2005). Items of
    equal scores share their places; a query without a relevant item gives 0. Semantics: sklearn.metrics.ndcg_score.
    """

    task = "multilabel classification"
    higher_is_better = True

    k: Cut | None = None
    gain: Literal["linear", "exponential"] = "linear"

    def statistics(self, output, target):
        scores, relevances = _queries("NDCG", output, target)
        return sum(map(self._divide_by_best, scores, relevances)), len(scores)

    def _divide_by_best(self, scores: np.ndarray, relevances: np.ndarray) -> float:
        items = relevances >= 0
        scores, gains = scores[items], relevances[items].astype("float64")
        if self.gain == "exponential":
            gains = np.exp2(gains) - 1
        places = np.arange(len(gains))
        discount = np.where(places < (len(gains) if self.k is None else self.k), 1 / np.log2(places + 2), 0.0)
        best = float(np.sort(gains)[::-1] @ discount)
        return _gain(scores, gains, discount) / best if best else 0.0

    def value(self, total, n):
        return _mean(total, n)


@metric
class MeanReciprocalRank(Metric):
    """Mean of 1 / rank of the first relevant item (Voorhees, 1999), also known as MRR.

    Scores (N, items) with relevances (N, items), above 0 for relevant items and negative for padding, or class numbers (N).
    An item of another kind with an equal score counts as ranked before. ``k`` counts the first places only; a query without a
    relevant item in them gives 0. Semantics: for one relevant item sklearn.metrics.label_ranking_average_precision_score.
    """

    task = "classification"
    higher_is_better = True

    k: Cut | None = None

    def statistics(self, output, target):
        scores, relevances = _queries("MeanReciprocalRank", output, target)
        best = np.where(relevances > 0, scores, -np.inf).max(-1, initial=-np.inf, keepdims=True)
        ranks = 1 + ((scores >= best) & (relevances == 0)).sum(-1)
        counted = (relevances > 0).any(-1) & (ranks <= (scores.shape[-1] if self.k is None else self.k))
        return np.where(counted, 1 / ranks, 0.0).sum(), len(scores)

    def value(self, total, n):
        return _mean(total, n)
