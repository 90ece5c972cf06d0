"""Classification losses; their names for `Trainer` are derived from the class names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Lt, MinLen

from labdl import ops
from labdl.nn.initializers import from_values
from labdl.nn.loss.target_values import CLASS_LISTS, CLASSES, PROBABILITIES, SIGNS, TargetValues
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import floats, ints
from labdl.spec import show

Reduction = Literal["mean", "sum", "none"]
Weights = Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1)]

_EACH = {"reduction": "none"}  # examples compare the losses of all samples instead of their mean
_SCORES = (floats(4, 3), ints(4, high=3))
_LABELS = (floats(4, 3), floats(4, 3, low=0.1, high=0.9))
_SIGNS = (floats(4, 3), floats(4, 3, low=0.5, high=1.0))


def _weights(values: tuple[float, ...] | None) -> Buffer | None:
    return None if values is None else Buffer((len(values),), from_values(values))


@layer({**_EACH, "class_weights": (1.0, 2.0, 0.5)}, *_SCORES, task="classification")
class CrossEntropyLoss(Module):
    """Cross-entropy of logits and classes, the usual classification loss.

    Output (..., classes) as logits; target (...) of class numbers, or (..., classes) of probabilities or one-hot rows.
    ``class_weights`` weights the classes, and the mean divides by the sum of the weights; positions whose class number is
    ``ignore_index`` are ignored; ``label_smoothing`` mixes the target with the uniform distribution. The classes are on the
    ``axis`` of the output: 1 for the logits (N, classes, height, width) of a segmentation with targets (N, height, width).
    Semantics: torch.nn.CrossEntropyLoss, with the classes last by default.
    """

    target_values: ClassVar[TargetValues] = CLASSES

    label_smoothing: Annotated[float, Ge(0), Lt(1)] = 0.0
    ignore_index: int = -100
    class_weights: Weights | None = None
    reduction: Reduction = "mean"
    axis: int = -1

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        if self.axis != -1:
            if len(target.shape) == len(output.shape):
                target = ops.moveaxis(target, self.axis, -1)
            output = ops.moveaxis(output, self.axis, -1)
        return ops.cross_entropy(
            output,
            target,
            self.label_smoothing,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )

    def normalizer(self, target: np.ndarray, axes: int) -> float:
        """The divisor of the mean, for targets of an output of ``axes`` axes: the weights of those that count."""
        rows = np.moveaxis(target, self.axis, -1) if target.ndim == axes else target
        return counted_weight(rows, axes, self.ignore_index, self.class_weights)


@layer(_EACH, *_LABELS, task="binary classification")
class BinaryCrossEntropyLoss(Module):
    """Binary cross-entropy of logits, or probabilities, and targets between 0 and 1 of the same shape.

    ``from_logits=False`` takes probabilities, which is less accurate. ``positive_weights``, one number or one for each
    label on the last axis, weights the positive targets of logits.
    Semantics: torch.nn.BCEWithLogitsLoss and torch.nn.BCELoss.
    """

    target_values: ClassVar[TargetValues] = PROBABILITIES

    from_logits: bool = True
    positive_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        if self.positive_weights is not None and not self.from_logits:
            raise ValueError("BinaryCrossEntropyLoss: positive_weights wants from_logits=True")
        self.positive_weight = _weights(self.positive_weights)

    def forward(self, output, target):
        if self.from_logits:
            return ops.binary_cross_entropy(output, target, pos_weight=self.positive_weight, reduction=self.reduction)
        return ops.binary_cross_entropy_probabilities(output, target, reduction=self.reduction)


@layer(_EACH, *_SCORES, task="classification")
class NLLLoss(Module):
    """Negative log-likelihood of the target class, for outputs that are log-probabilities.

    Output (..., classes), target (...) of class numbers; ``class_weights`` and ``ignore_index`` as in CrossEntropyLoss.
    Semantics: torch.nn.NLLLoss, with the classes last.
    """

    target_values: ClassVar[TargetValues] = CLASSES

    ignore_index: int = -100
    class_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        return ops.nll_loss(
            output, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )

    def normalizer(self, target: np.ndarray, axes: int) -> float:
        """The divisor of the mean, for targets of an output of ``axes`` axes: the weights of those that count."""
        return counted_weight(target, axes, self.ignore_index, self.class_weights)


@layer(_EACH, *_LABELS, task="binary classification")
class FocalLoss(Module):
    """Focal loss: binary cross-entropy that down-weights well-classified samples, for imbalanced classes (Lin et al., 2017).

    Logits and targets between 0 and 1 of the same shape. ``alpha`` weights the positive targets and 1 - alpha the negative
    ones, a negative alpha disables weighting; ``gamma`` is the focusing exponent.
    Semantics: torchvision.ops.sigmoid_focal_loss, with the mean as the default.
    """

    target_values: ClassVar[TargetValues] = PROBABILITIES

    alpha: Annotated[float, Ge(-1)] = 0.25
    gamma: Annotated[float, Ge(0)] = 2.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.focal_loss(output, target, alpha=self.alpha, gamma=self.gamma, reduction=self.reduction)


@layer(_EACH, *_SCORES, task="classification")
class MultiMarginLoss(Module):
    """Multi-class hinge loss: the mean over other classes i of max(0, margin - x[target] + x[i]) ** p.

    Scores (..., classes), class numbers (...). Semantics: torch.nn.MultiMarginLoss, with the classes last.
    """

    target_values: ClassVar[TargetValues] = CLASSES

    p: Literal[1, 2] = 1
    margin: float = 1.0
    class_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        return ops.multi_margin_loss(
            output, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


@layer(_EACH, floats(3, 4), ints(3, 4, low=-1, high=4), task="multilabel classification")
class MultilabelMarginLoss(Module):
    """Multi-label hinge loss of each target class against every other class.

    Scores (..., classes); targets (..., classes) list the numbers of the target classes and end at the first -1.
    Semantics: torch.nn.MultiLabelMarginLoss.
    """

    target_values: ClassVar[TargetValues] = CLASS_LISTS

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.multilabel_margin_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_LABELS, task="multilabel classification")
class MultilabelSoftMarginLoss(Module):
    """Mean over the labels on the last axis of the binary cross-entropy of logits and targets between 0 and 1.

    ``class_weights`` weights the labels. Semantics: torch.nn.MultiLabelSoftMarginLoss.
    """

    target_values: ClassVar[TargetValues] = PROBABILITIES

    class_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        return ops.multilabel_soft_margin_loss(output, target, weight=self.weight, reduction=self.reduction)


@layer(_EACH, *_SIGNS, task="binary classification")
class SoftMarginLoss(Module):
    """Logistic loss log(1 + exp(-target * output)) with targets 1 and -1. Semantics: torch.nn.SoftMarginLoss."""

    target_values: ClassVar[TargetValues] = SIGNS

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.soft_margin_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_SIGNS, task="binary classification")
class HingeLoss(Module):
    """Hinge loss max(0, 1 - target * output) with targets 1 and -1. Semantics: keras.losses.Hinge."""

    target_values: ClassVar[TargetValues] = SIGNS

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.hinge_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_SIGNS, task="binary classification")
class SquaredHingeLoss(Module):
    """Squared hinge loss max(0, 1 - target * output)² with targets 1 and -1. Semantics: keras.losses.SquaredHinge."""

    target_values: ClassVar[TargetValues] = SIGNS

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.squared_hinge_loss(output, target, reduction=self.reduction)


@layer({"temperature": 0.5, **_EACH}, floats(4, 3), floats(4, 3, low=0.1, high=0.9), task="distillation")
class DistillationLoss(Module):
    """Knowledge distillation: divergence of a student's logits from a teacher's at a temperature (Hinton et al., 2015).

    Output and target (..., classes) are logits of both; the loss is temperature² times the Kullback-Leibler divergence of
    softmax(output / temperature) from softmax(target / temperature), for each position.
    """

    temperature: Positive = 2.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        student, teacher = (ops.log_softmax(v * (1 / self.temperature)) for v in (output, target))
        losses = ops.sum(ops.kl_divergence(student, teacher, log_target=True, reduction="none"), axis=-1)
        return reduce_losses(losses * self.temperature**2, self.reduction)


def reduce_losses(losses, reduction: Reduction):
    """Apply a reduction to losses: their mean, their sum, or none."""
    return {"mean": ops.mean, "sum": ops.sum, "none": lambda values: values}[reduction](losses)


def counted_weight(
    target: np.ndarray, axes: int, ignore_index: int | None = None, class_weights: Sequence[float] | None = None
) -> float:
    """The weights of the classes of all positions that are not ignored; of rows of probabilities the number."""
    if target.ndim == axes:
        return target.size / max(target.shape[-1], 1)
    counted = target != ignore_index if ignore_index is not None else np.ones(target.shape, bool)
    if class_weights is None:
        return float(np.count_nonzero(counted))
    numbers = target[counted].astype("int64")  # clipped: frameworks have errors of their own for unknown classes
    return float(np.take(np.asarray(class_weights, "float64"), numbers, mode="clip").sum())


def check_same_rank(name: str, output, target) -> None:
    """Raise ValueError for shapes that would broadcast by mistake, such as (N, 1) and (N,)."""
    if len(output.shape) != len(target.shape):
        raise ValueError(
            f"{name} wants output and target with the same number of axes, received "
            f"{show(output.shape)} and {show(target.shape)}"
        )
