"""Conversion of classifier outputs to classes, labels and probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from labdl.errors import ModelError

NO_CLASS = -1


class Decisions(NamedTuple):
    """Predicted and true class numbers, flattened; ``binary`` if class 1 is the positive one of two.

    A prediction is `NO_CLASS`, which is wrong for any target, where a score is NaN, as in keras.ops.in_top_k.
    """

    chosen: np.ndarray
    true: np.ndarray
    classes: int
    binary: bool


def classify_outputs(name: str, output, target, threshold: float = 0.0) -> Decisions:
    """Predicted and true class numbers from one of four forms of output.

    Scores (..., classes) with class numbers (...) or one-hot rows (..., classes); binary scores (...) or (..., 1) with
    targets 0 and 1, predicted above ``threshold``; and integer class numbers (...). A sample with a score of NaN has
    `NO_CLASS`. Raises ModelError for other forms.
    """
    output, target = np.asarray(output), np.asarray(target)
    if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
        output = output[..., 0]
    if output.ndim == target.ndim + 1 and output.shape[:-1] == target.shape:
        predictions, true, classes = choose_classes(output), target, output.shape[-1]
    elif output.shape == target.shape and output.dtype.kind in "iub":
        predictions, true, classes = output, target, 0
    elif output.shape == target.shape and output.ndim > 1 and output.shape[-1] > 1:
        predictions, true, classes = choose_classes(output), target.argmax(-1), output.shape[-1]
    elif output.shape == target.shape:
        predictions = np.where(np.isnan(output), NO_CLASS, output > threshold).ravel().astype("int64")
        return Decisions(predictions, (target > 0.5).ravel().astype("int64"), 2, True)
    else:
        raise ModelError(
            f"{name} wants scores (..., classes) with class numbers (...), or scores of one class with targets "
            f"of the same shape, received {output.shape} and {target.shape}"
        )
    predictions, true = predictions.ravel().astype("int64"), class_numbers(name, true, classes).ravel()
    classes = classes or int(max(predictions.max(initial=0), true.max(initial=0))) + 1
    return Decisions(predictions, true, classes, False)


def counted_samples(ignored: int | None, output: Any, target: Any) -> tuple[np.ndarray, np.ndarray]:
    """Output and target without the positions whose class number, or 0 or 1 of one score, is ``ignored``.

    Scores (..., classes) become (N, classes). Rows of one-hot targets and what has other shapes stay as they are.
    """
    output, target = np.asarray(output), np.asarray(target)
    if ignored is None or target.dtype.kind not in "iuf":
        return output, target
    numbers = output.ndim == target.ndim + 1 and output.shape[:-1] == target.shape
    single = output.shape == target.shape and (
        output.dtype.kind in "iub" or output.ndim < 2 or output.shape[-1] == 1  # not rows of one-hot targets
    )
    if not numbers and not single:
        return output, target
    counted = target != ignored
    return (output, target) if counted.all() else (output[counted], target[counted])


def choose_classes(scores: np.ndarray) -> np.ndarray:
    """The number of the largest score on the last axis, `NO_CLASS` where one of them is NaN."""
    numbers = scores.argmax(-1)
    if scores.dtype.kind != "f":
        return numbers
    with np.errstate(all="ignore"):
        finite = not np.isnan(scores.sum())  # of one pass over all scores
    return numbers if finite else np.where(np.isnan(scores).any(-1), NO_CLASS, numbers)


def count_classes(numbers: np.ndarray, classes: int) -> np.ndarray:
    """How often each class occurs; `NO_CLASS` is not counted."""
    return np.bincount(numbers[numbers >= 0], minlength=classes)


def class_numbers(name: str, target: np.ndarray, classes: int = 0) -> np.ndarray:
    """Targets as integers. Raises ModelError for what is no number, for fractions and for numbers that are no class, of
    ``classes`` unless it is 0."""
    if target.dtype.kind not in "biuf":
        first = target.reshape(-1)[:1].tolist()
        raise ModelError(
            f"{name} wants class numbers as targets, received {repr(*first) if first else target.dtype!s:.60}"
        )
    if target.dtype.kind == "f" and not (np.isfinite(target) & (np.trunc(target) == target)).all():
        raise ModelError(f"{name} wants class numbers as targets, received numbers that are not integers")
    whole = target.astype("int64")
    if whole.size and (whole.min() < 0 or (classes and whole.max() >= classes)):
        raise ModelError(
            f"{name}: targets have classes from {whole.min()} to {whole.max()}, outputs have room for "
            f"{classes or 'those from 0'}, numbered from 0; a number for targets that do not count is ignore_index=…"
        )
    return whole


def binarize_labels(
    name: str, output, target, threshold: float, ignored: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted and true labels (N, labels) as booleans, for multi-label classification, and which of them count.

    A score of NaN is a wrong label; labels whose target is ``ignored`` are neither predicted nor true.
    """
    output, target = np.asarray(output), np.asarray(target)
    if output.shape != target.shape or output.ndim < 2:
        raise ModelError(
            f"{name}(multilabel=True) wants scores and targets (..., labels) of the same shape, received "
            f"{output.shape} and {target.shape}"
        )
    labels = output.shape[-1]
    counted = np.ones(target.shape, bool) if ignored is None else target != ignored
    true = (target > 0.5) & counted
    chosen = np.where(np.isnan(output), ~true, output > threshold) & counted
    return chosen.reshape(-1, labels), true.reshape(-1, labels), counted.reshape(-1, labels)


def log_probabilities(output: np.ndarray, from_logits: bool) -> np.ndarray:
    """Log-probabilities (..., classes) from logits or probabilities; NaN for rows with NaN or an infinite logit."""
    output = np.asarray(output, "float64")
    if from_logits:
        with np.errstate(invalid="ignore"):  # infinity - infinity
            output = output - output.max(-1, keepdims=True)
        return output - np.log(np.exp(output).sum(-1, keepdims=True))
    tiny = np.finfo("float64").eps
    clipped = np.clip(output, tiny, 1 - tiny)
    return np.log(clipped / clipped.sum(-1, keepdims=True))
