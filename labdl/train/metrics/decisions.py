"""Reading classes, labels and probabilities from the outputs of a classifier."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from labdl.errors import ModelError


class Decisions(NamedTuple):
    """Chosen and true class numbers, flat; ``binary``: the classes are no and yes, and the question is about yes."""

    chosen: np.ndarray
    true: np.ndarray
    classes: int
    binary: bool


def decided(name: str, output, target, threshold: float = 0.0) -> Decisions:
    """Class numbers from one of four forms of output.

    Scores (..., classes) with class numbers (...) or one-hot rows (..., classes); scores (...) or (..., 1) of one class with
    0 and 1, where ``threshold`` divides no from yes; and class numbers (...) of integers. Raises ModelError for others.
    """
    output, target = np.asarray(output), np.asarray(target)
    if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
        output = output[..., 0]
    if output.ndim == target.ndim + 1 and output.shape[:-1] == target.shape:
        chosen, true, classes = output.argmax(-1), target, output.shape[-1]
    elif output.shape == target.shape and output.dtype.kind in "iub":
        chosen, true, classes = output, target, 0
    elif output.shape == target.shape and output.ndim > 1 and output.shape[-1] > 1:
        chosen, true, classes = output.argmax(-1), target.argmax(-1), output.shape[-1]
    elif output.shape == target.shape:
        return Decisions((output > threshold).ravel().astype("int64"), (target > 0.5).ravel().astype("int64"), 2, True)
    else:
        raise ModelError(f"{name} wants scores (..., classes) with class numbers (...), or scores of one class with targets "
                         f"of the same shape, received {output.shape} and {target.shape}")  # fmt: skip
    chosen, true = chosen.ravel().astype("int64"), _class_numbers(name, true).ravel()
    if true.size and (true.min() < 0 or (classes and true.max() >= classes)):
        raise ModelError(f"{name}: targets have classes from {true.min()} to {true.max()}, outputs have room for "
                         f"{classes or 'those from 0'}, numbered from 0")  # fmt: skip
    classes = classes or int(max(chosen.max(initial=0), true.max(initial=0))) + 1
    return Decisions(chosen, true, classes, False)


def _class_numbers(name: str, target: np.ndarray) -> np.ndarray:
    whole = target.astype("int64")
    if target.dtype.kind == "f" and (whole != target).any():
        raise ModelError(f"{name} wants class numbers as targets, received numbers that are not whole")
    return whole


def labelled(name: str, output, target, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Chosen and true labels (N, labels) as booleans, for samples that may have several or none."""
    output, target = np.asarray(output), np.asarray(target)
    if output.shape != target.shape or output.ndim < 2:
        raise ModelError(f"{name}(multilabel=True) wants scores and targets (..., labels) of one shape, received "
                         f"{output.shape} and {target.shape}")  # fmt: skip
    labels = output.shape[-1]
    return (output > threshold).reshape(-1, labels), (target > 0.5).reshape(-1, labels)


def log_probabilities(output: np.ndarray, from_logits: bool) -> np.ndarray:
    """Logarithms of the probabilities (..., classes) that logits or probabilities stand for."""
    output = np.asarray(output, "float64")
    if from_logits:
        output = output - output.max(-1, keepdims=True)
        return output - np.log(np.exp(output).sum(-1, keepdims=True))
    tiny = np.finfo("float64").eps
    clipped = np.clip(output, tiny, 1 - tiny)
    return np.log(clipped / clipped.sum(-1, keepdims=True))
