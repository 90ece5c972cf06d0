"""Calibration of predicted probabilities."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, metric, ratio
from labdl.train.metrics.outputs import class_numbers, counted_samples, log_probabilities

__all__ = ["ExpectedCalibrationError", "MaximumCalibrationError"]


def _confidences(name: str, output, target, from_logits: bool) -> tuple[np.ndarray, np.ndarray]:
    """Probability of the predicted class and whether it is right; for one output, of class 1 and whether it is true."""
    output, target = np.asarray(output, "float64"), np.asarray(target)
    if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
        output = output[..., 0]
    if output.shape == target.shape:
        if target.size and not np.isin(target, (0, 1)).all():
            raise ModelError(f"{name} of one output wants targets 0 and 1")
        return 0.5 + 0.5 * np.tanh(output / 2) if from_logits else output, target > 0.5
    if output.shape[:-1] != target.shape:
        raise ModelError(
            f"{name} wants (..., classes) with class numbers (...), received {output.shape} and {target.shape}"
        )
    chosen = output.argmax(-1)
    probabilities = np.exp(log_probabilities(output, True)) if from_logits else output
    right = chosen == class_numbers(name, target, output.shape[-1])
    return np.take_along_axis(probabilities, chosen[..., None], -1)[..., 0], right


@dataclasses.dataclass
class _CalibrationError(Metric):
    """Base class of calibration errors, which differ in the summary of the gaps of all bins."""

    task = "classification"
    higher_is_better = False

    bins: Annotated[int, Ge(1)] = 15
    from_logits: bool | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        name = type(self).__name__
        output, target = counted_samples(self.ignored_target, output, target)
        confidences, right = (v.ravel() for v in _confidences(name, output, target, self.takes_logits))
        if confidences.size and not (confidences.min() >= 0 and confidences.max() <= 1):
            raise ModelError(
                f"{name} wants finite logits, received NaN or infinity"
                if self.takes_logits
                else f"{name}(from_logits=False) wants probabilities from 0 to 1, received other numbers"
            )
        at = np.searchsorted(np.linspace(0, 1, self.bins + 1)[1:-1], confidences)
        return tuple(np.bincount(at, weights, self.bins) for weights in (None, confidences, right))

    def value(self, counts, confidences, right):
        if not counts.any():
            return float("nan")
        return float(self.summary(np.abs(ratio(right, counts) - ratio(confidences, counts)), counts / counts.sum()))

    def summary(self, gaps: np.ndarray, shares: np.ndarray):
        """Combine the differences of accuracy and confidence in the bins, given the share of samples in each."""
        raise NotImplementedError(f"{type(self).__name__} has no summary")


@metric
class ExpectedCalibrationError(_CalibrationError):
    """Mean difference of accuracy and confidence over ``bins`` of equal width, weighted by samples (Naeini et al., 2015).

    Logits (..., classes), probabilities with ``from_logits=False``, with class numbers (...): the confidence is the
    probability of the predicted class (Guo et al., 2017). Or of one output (N) or (N, 1) with targets 0 and 1: it is
    the probability of class 1, compared with the fraction of class 1. Bins are open at their lower end.
    """

    def summary(self, gaps, shares):
        return gaps @ shares


@metric
class MaximumCalibrationError(_CalibrationError):
    """Largest difference of accuracy and confidence in a bin (Naeini et al., 2015); as ExpectedCalibrationError."""

    def summary(self, gaps, shares):
        return gaps.max()
