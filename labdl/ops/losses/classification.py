"""Losses of scores for classes and labels (PyTorch's semantics, with the classes on the last axis).

``reduction`` is "mean", "sum" or "none", one value for each position.
"""

import math

import numpy as np

from labdl.ops import rules
from labdl.ops.array.shape import astype, expand_dims, one_hot, ones_like, squeeze, take, take_along_axis
from labdl.ops.losses.regression import _reduce
from labdl.ops.math.arithmetic import divide, log, maximum, multiply, negative
from labdl.ops.math.comparison import equal, greater, less, logical_and, not_equal, where
from labdl.ops.math.reduction import cumulative_sum, mean
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.activation import log_softmax, relu, softplus
from labdl.ops.operator import Choice, case, floats, ints, operator
from labdl.ops.operator.value_checks import refuse_outside

_CLASSES = (
    case(floats(4, 3), ints(4, high=3)),
    case(floats(2, 3, 5), ints(2, 3, high=5), reduction="none"),
    case(floats(5, 3), ints(5, high=3), weight=floats(3, low=0.2), ignore_index=1),
    case(floats(5, 3), ints(5, high=3), weight=floats(3, low=0.2), reduction="sum"),
)
_LABELS = (case(floats(4, 3), floats(4, 3, low=0, high=1)), case(floats(3), floats(3, low=0, high=1), reduction="sum"))
_SIGNS = (
    case(floats(4, 3), floats(4, 3)),
    case(floats(3), floats(3), reduction="sum"),
    case(floats(2, 3), floats(2, 3), reduction="none"),
)


def _gather_classes(scores, target):
    """The score of the given class at each position."""
    return squeeze(take_along_axis(scores, expand_dims(target, -1), axis=-1), -1)


def _weigh(logs, share):
    """Logarithms times their weights; minus infinity counts nothing beside a weight of 0."""
    impossible = logical_and(equal(share, 0), equal(logs, -math.inf))
    return multiply(where(impossible, 0.0, logs), share)


def _class_losses(logs, target, weight, ignore_index):
    """Weighted negative log-probabilities of the targets, the weights, and the mask of counted positions."""
    target = astype(target, "int64")
    counted = not_equal(target, ignore_index)
    if isinstance(target, np.ndarray) and np.any(counted & (target < 0)):  # frameworks have errors of their own
        raise IndexError(f"class numbers are 0 or more, or ignore_index={ignore_index}, received {np.min(target)}")
    known = where(counted, target, 0)
    known = where(less(known, 0), logs.shape[-1], known)  # which no class has: negative ones would count from the last
    chosen = _gather_classes(logs, known)
    share = where(counted, ones_like(chosen) if weight is None else take(weight, known), 0.0)
    return where(counted, negative(_weigh(chosen, share)), 0.0), share, counted


@operator(
    rules.cross_entropy,
    *_CLASSES,
    case(floats(4, 3), ints(4, high=3), label_smoothing=0.1),
    case(floats(5, 3), ints(5, high=3), 0.2, weight=floats(3, low=0.2), ignore_index=0),
    case(floats(4, 3), floats(4, 3, low=0.1, high=0.9)),
    case(floats(4, 3), floats(4, 3, low=0.1, high=0.9), 0.1, weight=floats(3, low=0.2), reduction="none"),
    composite=True,
    precision="float32",
)
def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, ignore_index=-100, reduction="mean"):
    """Cross-entropy of logits (..., classes) with class numbers (...) or probabilities (..., classes).

    ``weight`` (classes) weighs the classes; the mean over class numbers divides by the sum of their weights.
    Positions whose class number is ``ignore_index`` do not count.
    ``label_smoothing`` mixes the target with the uniform distribution (Szegedy et al., 2016).
    Semantics: torch.nn.functional.cross_entropy, with the classes last.
    """
    logs = log_softmax(logits)
    classes = logits.shape[-1]
    if len(target.shape) == len(logits.shape):
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        share = target if weight is None else multiply(target, weight)
        return _reduce(negative(total(_weigh(logs, share), axis=-1)), reduction)
    losses, share, counted = _class_losses(logs, target, weight, ignore_index)
    if label_smoothing:
        weighted = logs if weight is None else _weigh(logs, weight)
        spread = where(counted, total(weighted, axis=-1), 0.0)
        losses = losses * (1 - label_smoothing) - spread * (label_smoothing / classes)
    return divide(total(losses), total(share)) if reduction == "mean" else _reduce(losses, reduction)


@operator(rules.class_numbers, *_CLASSES, composite=True, precision="float32")
def nll_loss(log_probabilities, target, *, weight=None, ignore_index=-100, reduction="mean"):
    """Minus the predicted log-probability (..., classes) of the right class (...).

    ``weight`` (classes) weighs the classes, and the mean divides by the sum of the weights; positions whose class number is
    ``ignore_index`` do not count. Semantics: torch.nn.functional.nll_loss, with the classes last.
    """
    losses, share, _ = _class_losses(log_probabilities, target, weight, ignore_index)
    return divide(total(losses), total(share)) if reduction == "mean" else _reduce(losses, reduction)


@operator(
    rules.paired_loss,
    *_LABELS,
    case(floats(4, 3), floats(4, 3, low=0, high=1), weight=floats(3, low=0.2), pos_weight=floats(3, low=0.2)),
    case(floats(4, 3), floats(4, 3, low=0, high=1), pos_weight=floats(3, low=0.2), reduction="none"),
    composite=True,
    precision="float32",
)
def binary_cross_entropy(logits, target, *, weight=None, pos_weight=None, reduction="mean"):
    """Binary cross-entropy of logits with targets between 0 and 1.

    ``weight`` weighs the elements, ``pos_weight`` the positive targets; both broadcast.
    Semantics: torch.nn.functional.binary_cross_entropy_with_logits.
    """
    return _reduce(_binary(logits, target, weight, pos_weight), reduction)


def _binary(logits, target, weight=None, pos_weight=None):
    if weight is not None:  # an infinite logit beside a weight of 0 counts nothing
        logits = where(equal(weight, 0), 0.0, logits)
    if pos_weight is None:
        losses = softplus(logits) - multiply(logits, target)
    else:
        share = multiply(target, pos_weight - 1) + 1
        losses = multiply(1 - target, logits) + multiply(share, softplus(negative(logits)))
    return losses if weight is None else multiply(losses, weight)


def _clamped_log(x):
    """log(x), at least -100 (as in PyTorch), with the gradient 0 instead of inf * 0 where x is 0."""
    positive = greater(x, 0)
    return maximum(where(positive, log(where(positive, x, 1.0)), -100.0), -100.0)


@operator(
    rules.paired_loss,
    case(floats(4, 3, low=0.1, high=0.9), floats(4, 3, low=0, high=1)),
    case(floats(3, low=0.1, high=0.9), floats(3, low=0, high=1), weight=floats(3, low=0.2), reduction="sum"),
    case(floats(3, low=0.1, high=0.9), floats(3, low=0, high=1), reduction="none"),
    composite=True,
    precision="float32",
)
def binary_cross_entropy_probabilities(probabilities, target, *, weight=None, reduction="mean"):
    """Binary cross-entropy of probabilities with targets between 0 and 1; logarithms are clamped to at least -100.

    `binary_cross_entropy`, which takes logits, is more accurate. Semantics: torch.nn.functional.binary_cross_entropy.
    """
    losses = multiply(target - 1, _clamped_log(1 - probabilities)) - multiply(target, _clamped_log(probabilities))
    return _reduce(losses if weight is None else multiply(losses, weight), reduction)


@operator(
    rules.sample_loss(1),
    *_LABELS[:1],
    case(floats(4, 3), floats(4, 3, low=0, high=1), weight=floats(3, low=0.2)),
    case(floats(2, 2, 3), floats(2, 2, 3, low=0, high=1), reduction="none"),
    composite=True,
    precision="float32",
)
def multilabel_soft_margin_loss(logits, target, *, weight=None, reduction="mean"):
    """The mean over the last axis, the classes, of the binary cross-entropy of logits with targets between 0 and 1.

    ``weight`` (classes) weighs the classes. Semantics: torch.nn.functional.multilabel_soft_margin_loss.
    """
    return _reduce(mean(_binary(logits, target, weight), axis=-1), reduction)


@operator(rules.paired_loss, *_SIGNS, composite=True, precision="float32")
def soft_margin_loss(prediction, target, *, reduction="mean"):
    """log(1 + exp(-target * prediction)) with targets 1 and -1. Semantics: torch.nn.functional.soft_margin_loss."""
    return _reduce(softplus(negative(multiply(target, prediction))), reduction)


@operator(rules.paired_loss, *_SIGNS, composite=True, precision="float32")
def hinge_loss(prediction, target, *, reduction="mean"):
    """max(0, 1 - target * prediction) with targets 1 and -1, the loss of support vector machines."""
    return _reduce(relu(1 - multiply(target, prediction)), reduction)


@operator(rules.paired_loss, *_SIGNS, composite=True, precision="float32")
def squared_hinge_loss(prediction, target, *, reduction="mean"):
    """The square of `hinge_loss`, element by element."""
    hinge = relu(1 - multiply(target, prediction))
    return _reduce(multiply(hinge, hinge), reduction)


def _check_margin_classes(prediction, target, **options):
    refuse_outside("multi_margin_loss wants class numbers", target, 0, prediction.shape[-1] - 1)


def _check_margin_lists(prediction, target, **options):
    refuse_outside(
        "multilabel_margin_loss wants class numbers, or -1 at the end,", target, -1, prediction.shape[-1] - 1
    )


@operator(
    rules.class_numbers,
    case(floats(4, 3), ints(4, high=3)),
    case(floats(2, 2, 3), ints(2, 2, high=3), reduction="none"),
    case(floats(4, 3), ints(4, high=3), p=2, margin=0.5, weight=floats(3, low=0.2), reduction="sum"),
    composite=True,
    precision="float32",
    options={"p": Choice(1, 2)},
    check_values=_check_margin_classes,
)
def multi_margin_loss(prediction, target, *, p=1, margin=1.0, weight=None, reduction="mean"):
    """The hinge of every wrong class against the right one: the mean of max(0, margin - x[target] + x[i]) ** p.

    Scores are (..., classes), class numbers (...); ``p`` is 1 or 2, ``weight`` (classes) weighs the right classes.
    Semantics: torch.nn.functional.multi_margin_loss, with the classes last.
    """
    target = astype(target, "int64")
    classes = prediction.shape[-1]
    hinges = relu(prediction - expand_dims(_gather_classes(prediction, target), -1) + margin)
    hinges = where(astype(one_hot(target, classes), "bool"), 0.0, multiply(hinges, hinges) if p == 2 else hinges)
    losses = total(hinges, axis=-1) * (1 / classes)
    return _reduce(losses if weight is None else multiply(losses, take(weight, target)), reduction)


@operator(
    rules.multilabel_margin,
    case(floats(3, 4), ints(3, 4, low=-1, high=4)),
    case(floats(3, 4), ints(3, 4, low=-1, high=4), reduction="none"),
    composite=True,
    check_values=_check_margin_lists,
    precision="float32",
)
def multilabel_margin_loss(prediction, target, *, reduction="mean"):
    """The hinge of every wrong class against each right one, for scores (..., classes) with several right classes.

    Targets (..., classes) list the numbers of the right classes and end at the first -1.
    Semantics: torch.nn.functional.multilabel_margin_loss.
    """
    target = astype(target, "int64")
    classes = prediction.shape[-1]
    ended = greater(cumulative_sum(astype(less(target, 0), "int64"), axis=-1), 0)
    listed = where(ended, 0, target)
    chosen = multiply(one_hot(listed, classes), astype(expand_dims(where(ended, 0, 1), -1), "float32"))
    right = greater(largest(chosen, axis=-2), 0)
    gaps = expand_dims(prediction, -2) - expand_dims(take_along_axis(prediction, listed, axis=-1), -1) + 1
    excluded = greater(expand_dims(astype(ended, "int64"), -1) + expand_dims(astype(right, "int64"), -2), 0)
    return _reduce(total(where(excluded, 0.0, relu(gaps)), axis=(-2, -1)) * (1 / classes), reduction)
