"""Classification metrics."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from labdl.errors import ModelError
from labdl.train.metrics.metric import Average, Metric, average_classes, metric, ratio
from labdl.train.metrics.outputs import (
    NO_CLASS,
    binarize_labels,
    choose_classes,
    class_numbers,
    classify_outputs,
    count_classes,
    counted_samples,
)

__all__ = [
    "F1",
    "Accuracy",
    "BalancedAccuracy",
    "CohenKappa",
    "ConfusionMatrix",
    "FBeta",
    "HammingLoss",
    "Jaccard",
    "MatthewsCorrelation",
    "Precision",
    "Recall",
    "Specificity",
    "TopKAccuracy",
]


@metric
class Accuracy(Metric):
    """Fraction of samples that are classified correctly.

    Scores (..., classes) with class numbers (...) or one-hot rows (..., classes); binary scores (N) or (N, 1) with targets 0
    and 1, predicted above ``threshold``; or integer class numbers. The threshold defaults to 0 for logits and 0.5 for
    probabilities, which a trainer knows from the loss and the last layer. A sample with a score of NaN is wrong. The other
    classification metrics take the same, with ``multilabel=True`` scores and targets 0 or 1 of each label (..., labels).
    Targets that are ``ignore_index`` are left out, by default those that the loss of the training ignores, -100 of
    `nn.CrossEntropyLoss`; averages over classes are without a class of that number. Semantics: torchmetrics.
    """

    task = "classification"
    higher_is_better = True

    threshold: float | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        output, target = counted_samples(self.ignored_target, output, target)
        # fast path for training steps
        if output.shape[:-1] == target.shape and output.ndim and output.shape[-1] > 1:
            numbers = class_numbers("Accuracy", target, output.shape[-1])
            return np.count_nonzero(choose_classes(output) == numbers), target.size
        chosen, true, _, _ = classify_outputs("Accuracy", output, target, self.score_threshold)
        return np.count_nonzero(chosen == true), chosen.size

    def value(self, right, n):
        return float(right / n) if n else float("nan")


@metric
class TopKAccuracy(Metric):
    """Fraction of samples whose class is among the k largest outputs; ties count as correct, a score of NaN as wrong.

    Scores (..., classes), class numbers (...). Semantics: keras.ops.in_top_k.
    """

    task = "classification"
    higher_is_better = True

    k: Annotated[int, Ge(1)] = 5
    ignore_index: int | None = None

    def statistics(self, output, target):
        output, target = counted_samples(self.ignored_target, output, target)
        if output.shape[:-1] != target.shape:
            raise ModelError(
                f"TopKAccuracy wants scores (..., classes) and class numbers (...), received {output.shape} "
                f"and {target.shape}"
            )
        numbers = class_numbers("TopKAccuracy", target, output.shape[-1])
        own = np.take_along_axis(output, numbers[..., None], -1)
        among = (output > own).sum(-1) < self.k
        return np.count_nonzero(among & ~np.isnan(output).any(-1)), target.size

    def value(self, right, n):
        return float(right / n) if n else float("nan")


def _counts(owner, output, target) -> tuple:
    """For each class: correct, predicted and true counts, and the number of samples, of each label with ``multilabel``."""
    name = type(owner).__name__
    if getattr(owner, "multilabel", False):
        chosen, true, counted = binarize_labels(name, output, target, owner.score_threshold, owner.ignored_target)
        return (chosen & true).sum(0), chosen.sum(0), true.sum(0), counted.sum(0)
    output, target = counted_samples(owner.ignored_target, output, target)
    chosen, true, classes, binary = classify_outputs(name, output, target, owner.score_threshold)
    right = chosen[chosen == true]
    counts = [count_classes(v, classes) for v in (right, chosen, true)]
    if isinstance(owner, Specificity):  # a sample without a prediction is no true negative of any class
        missing = count_classes(true[chosen == NO_CLASS], classes)
        counts[1] = counts[1] + missing.sum() - missing
    if binary and hasattr(owner, "average"):
        counts = [c[1:] for c in counts]  # of the positive class
    elif hasattr(owner, "average") and owner.ignored_target in range(classes):
        for each in counts:
            each[owner.ignored_target] = 0
    return *counts, np.int64(chosen.size)


def _average_share(owner, share, right, chosen, true, n):
    """Average over classes of a share of correct, predicted and true counts; micro sums the counts first."""
    if owner.average == "micro":
        classes = len(true) - (not owner.multilabel and owner.ignored_target in range(len(true)))
        samples = np.sum(n) if owner.multilabel else n * classes
        return float(share(*(np.sum(v) for v in (right, chosen, true)), samples))
    return average_classes(share(right, chosen, true, n), true, (chosen > 0) | (true > 0), owner.average)


def _f_score(beta: float, right, chosen, true):
    return ratio((1 + beta**2) * right, beta**2 * true + chosen)


@dataclasses.dataclass
class _ClassMetric(Metric):
    """Base class of metrics per class, which differ in the share of correct, predicted and true counts."""

    task = "classification"
    higher_is_better = True

    average: Average = "macro"
    threshold: float | None = None
    multilabel: bool = False
    ignore_index: int | None = None

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, *counts):
        return _average_share(self, self.share, *counts)

    def share(self, right, chosen, true, n):
        """Compute the metric of each class from counts."""
        raise NotImplementedError(f"{type(self).__name__} has no share")


@metric
class Precision(_ClassMetric):
    """Fraction of the samples predicted as a class that belong to it.

    ``average`` over classes that occur: "macro" is their mean, "weighted" by their number of samples, "micro" of the summed
    counts, "none" returns all. With a single output, or ``multilabel=True``, it is that of the positive class or labels.
    Semantics: sklearn.metrics.precision_score with zero_division=0.
    """

    def share(self, right, chosen, true, n):
        return ratio(right, chosen)


@metric
class Recall(_ClassMetric):
    """Fraction of a class that is predicted as it; averages as in Precision. Semantics: sklearn.metrics.recall_score."""

    def share(self, right, chosen, true, n):
        return ratio(right, true)


@metric
class Specificity(_ClassMetric):
    """Fraction of the samples of other classes that are not predicted as a class; averages as in Precision."""

    def share(self, right, chosen, true, n):
        return ratio(n - chosen - true + right, n - true)


@metric
class F1(_ClassMetric):
    """Harmonic mean of precision and recall; averages as in Precision. Semantics: sklearn.metrics.f1_score."""

    def share(self, right, chosen, true, n):
        return _f_score(1.0, right, chosen, true)


@metric
class FBeta(_ClassMetric):
    """Harmonic mean of precision and recall, with beta times the weight for recall (van Rijsbergen, 1979).

    Averages as in Precision. Semantics: sklearn.metrics.fbeta_score.
    """

    beta: Annotated[float, Gt(0)] = 2.0

    def share(self, right, chosen, true, n):
        return _f_score(self.beta, right, chosen, true)


@metric
class Jaccard(_ClassMetric):
    """Intersection of predicted and true samples of a class over their union; averages as in Precision.

    Semantics: sklearn.metrics.jaccard_score.
    """

    def share(self, right, chosen, true, n):
        return ratio(right, chosen + true - right)


@metric
class BalancedAccuracy(Metric):
    """Mean of the recalls of the classes that occur. Semantics: sklearn.metrics.balanced_accuracy_score."""

    task = "classification"
    higher_is_better = True

    threshold: float | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, right, chosen, true, n):
        return average_classes(ratio(right, true), true, true > 0, "macro")


@metric
class CohenKappa(Metric):
    """Agreement of predictions and targets beyond chance (Cohen, 1960). Semantics: sklearn.metrics.cohen_kappa_score."""

    task = "classification"
    higher_is_better = True

    threshold: float | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, right, chosen, true, n):
        chance = float((chosen / n) @ (true / n))
        return (float(right.sum() / n) - chance) / (1 - chance) if chance < 1 else float("nan")


@metric
class MatthewsCorrelation(Metric):
    """Correlation of predictions and targets, for any number of classes (Matthews, 1975; Gorodkin, 2004).

    Semantics: sklearn.metrics.matthews_corrcoef.
    """

    task = "classification"
    higher_is_better = True

    threshold: float | None = None
    ignore_index: int | None = None

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, right, chosen, true, n):
        chosen, true, n = chosen.astype("float64"), true.astype("float64"), float(n)
        spread = (n * n - chosen @ chosen) * (n * n - true @ true)
        return float((right.sum() * n - chosen @ true) / np.sqrt(spread)) if spread > 0 else 0.0


@metric
class HammingLoss(Metric):
    """Fraction of wrong labels, without ``multilabel=True`` of wrong samples. Semantics: sklearn.metrics.hamming_loss."""

    task = "classification"
    higher_is_better = False

    threshold: float | None = None
    multilabel: bool = False
    ignore_index: int | None = None

    def statistics(self, output, target):
        if self.multilabel:
            chosen, true, counted = binarize_labels(
                "HammingLoss", output, target, self.score_threshold, self.ignored_target
            )
            return np.count_nonzero(chosen != true), np.count_nonzero(counted)
        else:
            output, target = counted_samples(self.ignored_target, output, target)
            chosen, true, _, _ = classify_outputs("HammingLoss", output, target, self.score_threshold)
        return np.count_nonzero(chosen != true), true.size

    def value(self, wrong, n):
        return float(wrong / n) if n else float("nan")


@metric
class ConfusionMatrix(Metric):
    """Confusion matrix: true classes in rows, predicted ones in columns; samples with a score of NaN are in none.

    Semantics: sklearn.metrics.confusion_matrix.
    """

    task = "classification"

    threshold: float | None = None
    ignore_index: int | None = None

    @property
    def scalar(self) -> bool:
        return False

    def statistics(self, output, target):
        output, target = counted_samples(self.ignored_target, output, target)
        chosen, true, classes, _ = classify_outputs("ConfusionMatrix", output, target, self.score_threshold)
        pairs = (true * classes + chosen)[chosen >= 0]
        return (np.bincount(pairs, minlength=classes * classes).reshape(classes, classes),)

    def value(self, counts):
        return counts
