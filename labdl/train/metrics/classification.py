"""How often a classifier is right, and in which way it is wrong."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from labdl.errors import ModelError
from labdl.train.metrics.decisions import decided, labelled
from labdl.train.metrics.metric import Average, Metric, averaged, metric, ratio


@metric
class Accuracy(Metric):
    """Share of samples whose class is right: the largest output, or for one output its sign.

    Scores (..., classes) with class numbers (...) or one-hot rows (..., classes); scores (N) or (N, 1) with 0 and 1, where
    ``threshold`` divides no from yes (0 for logits, 0.5 for probabilities); or class numbers of integers. The other metrics
    of this file take the same, and those with ``multilabel=True`` scores and 0 or 1 for each label (..., labels).
    """

    higher_is_better = True

    threshold: float = 0.0

    def statistics(self, output, target):
        output, target = np.asarray(output), np.asarray(target)
        # each step of a training asks: the shortest way
        if output.shape[:-1] == target.shape and output.ndim and output.shape[-1] > 1:
            return np.count_nonzero(output.argmax(-1) == target), target.size
        chosen, true, _, _ = decided("Accuracy", output, target, self.threshold)
        return np.count_nonzero(chosen == true), chosen.size

    def value(self, right, n):
        return float(right / n) if n else float("nan")


@metric
class TopKAccuracy(Metric):
    """Share of samples whose class is among the k largest outputs; ties count as right.

    Scores (..., classes), class numbers (...). Semantics: keras.ops.in_top_k.
    """

    higher_is_better = True

    k: Annotated[int, Ge(1)] = 5

    def statistics(self, output, target):
        output, target = np.asarray(output), np.asarray(target)
        if output.shape[:-1] != target.shape:
            raise ModelError(f"TopKAccuracy wants scores (..., classes) and class numbers (...), received {output.shape} "
                             f"and {target.shape}")  # fmt: skip
        own = np.take_along_axis(output, target[..., None].astype("int64"), -1)
        return np.count_nonzero((output > own).sum(-1) < self.k), target.size

    def value(self, right, n):
        return float(right / n) if n else float("nan")


def _counts(asked, output, target) -> tuple:
    """For each class: how often it was chosen rightly, was chosen, was true, and the number of decisions."""
    name = type(asked).__name__
    if getattr(asked, "multilabel", False):
        chosen, true = labelled(name, output, target, asked.threshold)
        return (chosen & true).sum(0), chosen.sum(0), true.sum(0), np.int64(len(true))
    chosen, true, classes, binary = decided(name, output, target, asked.threshold)
    right = chosen[chosen == true]
    counts = [np.bincount(v, minlength=classes) for v in (right, chosen, true)]
    if binary and hasattr(asked, "average"):
        counts = [c[1:] for c in counts]  # the question is about yes
    return *counts, np.int64(chosen.size)


def _of_classes(asked, share, right, chosen, true, n):
    """The average over classes of a share of right, chosen and true; micro counts all classes as one."""
    if asked.average == "micro":
        return float(share(*(np.sum(v) for v in (right, chosen, true)), n * len(true)))
    return averaged(share(right, chosen, true, n), true, (chosen > 0) | (true > 0), asked.average)


def _f_score(beta: float, right, chosen, true):
    return ratio((1 + beta**2) * right, beta**2 * true + chosen)


@dataclasses.dataclass
class _OfClasses(Metric):
    """What metrics of single classes share: they differ in the share of right, chosen and true ones."""

    higher_is_better = True

    average: Average = "macro"
    threshold: float = 0.0
    multilabel: bool = False

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, *counts):
        return _of_classes(self, self.share, *counts)

    def share(self, right, chosen, true, n):
        """The number for each class, from counts."""
        raise NotImplementedError(f"{type(self).__name__} has no share")


@metric
class Precision(_OfClasses):
    """Share of what was chosen as a class that is of that class.

    ``average`` over classes that occur: "macro" is their mean, "weighted" by how often they are true, "micro" counts all as
    one, "none" gives all. With one output, or ``multilabel=True``, it is about "yes", for each label.
    Semantics: sklearn.metrics.precision_score with zero_division=0.
    """

    def share(self, right, chosen, true, n):
        return ratio(right, chosen)


@metric
class Recall(_OfClasses):
    """Share of a class that was found; averages as in Precision. Semantics: sklearn.metrics.recall_score."""

    def share(self, right, chosen, true, n):
        return ratio(right, true)


@metric
class Specificity(_OfClasses):
    """Share of what is not of a class that was not chosen as it: the recall of "no"; averages as in Precision."""

    def share(self, right, chosen, true, n):
        return ratio(n - chosen - true + right, n - true)


@metric
class F1(_OfClasses):
    """Harmonic mean of precision and recall; averages as in Precision. Semantics: sklearn.metrics.f1_score."""

    def share(self, right, chosen, true, n):
        return _f_score(1.0, right, chosen, true)


@metric
class FBeta(_OfClasses):
    """Harmonic mean of precision and recall, where recall counts beta times as much (van Rijsbergen, 1979).

    Averages as in Precision. Semantics: sklearn.metrics.fbeta_score.
    """

    beta: Annotated[float, Gt(0)] = 2.0

    def share(self, right, chosen, true, n):
        return _f_score(self.beta, right, chosen, true)


@metric
class Jaccard(_OfClasses):
    """Overlap of chosen and true samples of a class over their union; averages as in Precision.

    Semantics: sklearn.metrics.jaccard_score.
    """

    def share(self, right, chosen, true, n):
        return ratio(right, chosen + true - right)


@metric
class BalancedAccuracy(Metric):
    """Mean of the recalls of the classes that occur. Semantics: sklearn.metrics.balanced_accuracy_score."""

    higher_is_better = True

    threshold: float = 0.0

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, right, chosen, true, n):
        return averaged(ratio(right, true), true, true > 0, "macro")


@metric
class CohenKappa(Metric):
    """Agreement of outputs and targets beyond what chance gives (Cohen, 1960). Semantics: sklearn.metrics.cohen_kappa_score."""

    higher_is_better = True

    threshold: float = 0.0

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, right, chosen, true, n):
        chance = float((chosen / n) @ (true / n))
        return (float(right.sum() / n) - chance) / (1 - chance) if chance < 1 else float("nan")


@metric
class MatthewsCorrelation(Metric):
    """Correlation of outputs and targets, for any number of classes (Matthews, 1975; Gorodkin, 2004).

    Semantics: sklearn.metrics.matthews_corrcoef.
    """

    higher_is_better = True

    threshold: float = 0.0

    def statistics(self, output, target):
        return _counts(self, output, target)

    def value(self, right, chosen, true, n):
        chosen, true, n = chosen.astype("float64"), true.astype("float64"), float(n)
        spread = (n * n - chosen @ chosen) * (n * n - true @ true)
        return float((right.sum() * n - chosen @ true) / np.sqrt(spread)) if spread > 0 else 0.0


@metric
class HammingLoss(Metric):
    """Share of labels that are wrong; without ``multilabel=True`` of samples. Semantics: sklearn.metrics.hamming_loss."""

    higher_is_better = False

    threshold: float = 0.0
    multilabel: bool = False

    def statistics(self, output, target):
        if self.multilabel:
            chosen, true = labelled("HammingLoss", output, target, self.threshold)
        else:
            chosen, true, _, _ = decided("HammingLoss", output, target, self.threshold)
        return np.count_nonzero(chosen != true), true.size

    def value(self, wrong, n):
        return float(wrong / n) if n else float("nan")


@metric
class ConfusionMatrix(Metric):
    """How often each true class (rows) was taken for each class (columns). Semantics: sklearn.metrics.confusion_matrix."""

    threshold: float = 0.0

    @property
    def scalar(self) -> bool:
        return False

    def statistics(self, output, target):
        chosen, true, classes, _ = decided("ConfusionMatrix", output, target, self.threshold)
        return (np.bincount(true * classes + chosen, minlength=classes * classes).reshape(classes, classes),)

    def value(self, counts):
        return counts
