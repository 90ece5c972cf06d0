"""Losses of scores for classes and labels; what `Trainer` names them by is the class's name in small letters."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Lt, MinLen

from labdl import ops
from labdl.nn.initialisers import given
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import floats, ints
from labdl.spec import show

Reduction = Literal["mean", "sum", "none"]
Weights = Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1)]

_EACH = {"reduction": "none"}  # in an example the losses of all samples say more than their mean
_SCORES = (floats(4, 3), ints(4, high=3))
_LABELS = (floats(4, 3), floats(4, 3, low=0.1, high=0.9))
_SIGNS = (floats(4, 3), floats(4, 3, low=0.5, high=1.0))


def _weights(values: tuple[float, ...] | None) -> Buffer | None:
    return None if values is None else Buffer((len(values),), given(values))


@layer({**_EACH, "class_weights": (1.0, 2.0, 0.5)}, *_SCORES)
class CrossEntropyLoss(Module):
    """Cross-entropy of logits with classes: the usual loss of classification.

    Output (..., classes) as logits; target (...) of class numbers, or (..., classes) of probabilities or one-hot rows.
    ``class_weights`` weighs the classes, and the mean divides by the sum of the weights; positions whose class number is
    ``ignore_index`` do not count; ``label_smoothing`` mixes the target with the uniform distribution.
    Semantics: torch.nn.CrossEntropyLoss, with the classes last.
    """

    label_smoothing: Annotated[float, Ge(0), Lt(1)] = 0.0
    ignore_index: int = -100
    class_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        return ops.cross_entropy(output, target, self.label_smoothing, weight=self.weight,
                                 ignore_index=self.ignore_index, reduction=self.reduction)  # fmt: skip


@layer(_EACH, *_LABELS)
class BinaryCrossEntropyLoss(Module):
    """Binary cross-entropy of logits, or probabilities, with targets between 0 and 1 of the same shape.

    ``from_logits=False`` takes probabilities, which is less accurate. ``positive_weights``, one number or one for each
    label on the last axis, weighs the positive targets of logits.
    Semantics: torch.nn.BCEWithLogitsLoss and torch.nn.BCELoss.
    """

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


@layer(_EACH, *_SCORES)
class NLLLoss(Module):
    """Minus the log-probability of the right class, for outputs that are log-probabilities already.

    Output (..., classes), target (...) of class numbers; ``class_weights`` and ``ignore_index`` as in CrossEntropyLoss.
    Semantics: torch.nn.NLLLoss, with the classes last.
    """

    ignore_index: int = -100
    class_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        return ops.nll_loss(
            output, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


@layer(_EACH, *_LABELS)
class FocalLoss(Module):
    """Binary cross-entropy that counts less where the answer is right already: for many easy negatives, few positives.

    Logits and targets between 0 and 1 of one shape. ``alpha`` weighs the positive targets and 1 - alpha the negative ones, a
    negative alpha none; ``gamma`` says how fast easy answers fade (Lin et al., 2017).
    Semantics: torchvision.ops.sigmoid_focal_loss, with the mean as the default.
    """

    alpha: Annotated[float, Ge(-1)] = 0.25
    gamma: Annotated[float, Ge(0)] = 2.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.focal_loss(output, target, alpha=self.alpha, gamma=self.gamma, reduction=self.reduction)


@layer(_EACH, *_SCORES)
class MultiMarginLoss(Module):
    """Hinge of every wrong class against the right one: the mean of max(0, margin - x[target] + x[i]) ** p.

    Scores (..., classes), class numbers (...). Semantics: torch.nn.MultiMarginLoss, with the classes last.
    """

    p: Literal[1, 2] = 1
    margin: float = 1.0
    class_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        return ops.multi_margin_loss(output, target, p=self.p, margin=self.margin, weight=self.weight,
                                     reduction=self.reduction)  # fmt: skip


@layer(_EACH, floats(3, 4), ints(3, 4, low=-1, high=4))
class MultilabelMarginLoss(Module):
    """Hinge of every wrong class against each right one, where samples have several right classes.

    Scores (..., classes); targets (..., classes) list the numbers of the right classes and end at the first -1.
    Semantics: torch.nn.MultiLabelMarginLoss.
    """

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.multilabel_margin_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_LABELS)
class MultilabelSoftMarginLoss(Module):
    """Mean over the labels on the last axis of the binary cross-entropy of logits with targets between 0 and 1.

    ``class_weights`` weighs the labels. Semantics: torch.nn.MultiLabelSoftMarginLoss.
    """

    class_weights: Weights | None = None
    reduction: Reduction = "mean"

    def setup(self, output, target):
        self.weight = _weights(self.class_weights)

    def forward(self, output, target):
        return ops.multilabel_soft_margin_loss(output, target, weight=self.weight, reduction=self.reduction)


@layer(_EACH, *_SIGNS)
class SoftMarginLoss(Module):
    """log(1 + exp(-target * output)) with targets 1 and -1: logistic regression. Semantics: torch.nn.SoftMarginLoss."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.soft_margin_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_SIGNS)
class HingeLoss(Module):
    """max(0, 1 - target * output) with targets 1 and -1: support vector machines. Semantics: keras.losses.Hinge."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.hinge_loss(output, target, reduction=self.reduction)


@layer(_EACH, *_SIGNS)
class SquaredHingeLoss(Module):
    """max(0, 1 - target * output)² with targets 1 and -1. Semantics: keras.losses.SquaredHinge."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.squared_hinge_loss(output, target, reduction=self.reduction)


@layer({"temperature": 0.5, **_EACH}, floats(4, 3), floats(4, 3, low=0.1, high=0.9))
class DistillationLoss(Module):
    """Cross-entropy of a student's logits with the softened probabilities of a teacher's (Hinton et al., 2015).

    Output and target (..., classes) are logits of both; the loss is temperature² times the Kullback-Leibler divergence of
    softmax(output / temperature) from softmax(target / temperature), for each position.
    """

    temperature: Positive = 2.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        student, teacher = (ops.log_softmax(v * (1 / self.temperature)) for v in (output, target))
        losses = ops.sum(ops.kl_divergence(student, teacher, log_target=True, reduction="none"), axis=-1)
        return reduced(losses * self.temperature**2, self.reduction)


def reduced(losses, reduction: Reduction):
    """The losses as they are, their sum or their mean."""
    return {"mean": ops.mean, "sum": ops.sum, "none": lambda values: values}[reduction](losses)


def alike(name: str, output, target) -> None:
    """What would broadcast by mistake, (N, 1) with (N,), is refused as in the operators."""
    if len(output.shape) != len(target.shape):
        raise ValueError(f"{name} wants output and target with the same number of axes, received "
                         f"{show(output.shape)} and {show(target.shape)}")  # fmt: skip
