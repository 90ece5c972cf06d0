"""Targets in the dtype and with the axes that a loss takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from labdl.data.conversion.arrays import native_order
from labdl.data.conversion.inputs import INDICES, describe_objects, whole_numbers
from labdl.data.conversion.labels import encode_labels, is_text
from labdl.errors import ConfigError
from labdl.spec import Spec


@dataclass(frozen=True)
class TargetRule:
    """Targets that a loss takes: class numbers for outputs (..., classes), values in the shape of the output, or anything.

    ``output`` is the Spec of the model's output, None if it is unknown; ``loss`` its name in messages; ``labels`` is True
    if it takes text labels, by their numbers. ``aligned`` are the numbers of axes of targets that are aligned with the
    output although the loss takes anything.
    """

    kind: Literal["classes", "values", "any"] = "any"
    output: Spec | None = None
    loss: str = "the loss"
    labels: bool = False
    aligned: frozenset[int] = frozenset()


def fit_target(array: np.ndarray, rule: TargetRule, names: Sequence[str] | None = None) -> np.ndarray:
    """Convert targets to the dtype and the axes of a rule; ``names`` are those of the classes of text labels.

    Raises ConfigError for text where the loss takes numbers, and for fractions where it takes classes.
    """
    array = native_order(array)
    if is_text(array):
        array = _encode(array, rule, names)
    if array.dtype.kind in "OmM":
        raise ConfigError(
            f"the targets hold {describe_objects(array)}, the loss {rule.loss} takes numbers: convert them, and leave out "
            "samples without a target"
        )
    if rule.kind == "classes" and rule.output is not None:
        return _classes(array, rule, rule.output)
    floating = rule.output.dtype if rule.output is not None and rule.output.dtype.startswith("float") else "float32"
    if (array.dtype.kind == "f" or (rule.kind == "values" and array.dtype.kind in "biu")) and array.dtype != floating:
        array = array.astype(floating)
    if rule.output is not None and (rule.kind == "values" or array.ndim in rule.aligned):
        return align(array, rule.output.shape)
    return array


def align(array: np.ndarray, output: Sequence[int | None]) -> np.ndarray:
    """Add or remove the last axis of size 1 that distinguishes targets from an output of this shape."""
    if array.ndim == len(output) - 1 and output[-1] == 1:
        return array[..., None]
    if array.ndim == len(output) + 1 and array.shape[-1] == 1:
        return array[..., 0]
    return array


def _encode(array: np.ndarray, rule: TargetRule, names: Sequence[str] | None) -> np.ndarray:
    if not rule.labels:
        raise ConfigError(
            f"the targets hold {describe_objects(array)}, the loss {rule.loss} takes numbers: choose a loss of classes such "
            "as cross_entropy, or convert the labels"
        )
    if names is None:
        raise ConfigError(
            f"the targets hold {describe_objects(array)}, and the names of all classes are not known: set model.class_names "
            "to all of them, in order, or give a data set that is read sample by sample its attribute classes; "
            "fit(x, labels) finds them in an array of labels"
        )
    return encode_labels(array, names)


def _classes(array: np.ndarray, rule: TargetRule, output: Spec) -> np.ndarray:
    """Class numbers (...), or probabilities and one-hot rows (..., classes) as floating-point numbers."""
    classes, axes = output.shape[-1], len(output.shape)
    if array.ndim == axes and array.shape[-1] == 1 and classes != 1:
        array = array[..., 0]
    if array.ndim == axes:
        return array if array.dtype == output.dtype else array.astype(output.dtype)
    if array.dtype.kind == "f":
        return whole_numbers(
            array, "int64", "the targets hold", f"the loss {rule.loss} takes class numbers from 0, or one row per class"
        )
    if array.dtype.kind in "iub" and array.dtype.name not in INDICES:
        return array.astype("int64")
    return array
