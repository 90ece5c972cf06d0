"""Losses of detection and segmentation: rare classes, masks and boxes.

``reduction`` is "mean", "sum" or "none".
"""

from labdl.ops import rules
from labdl.ops.losses.classification import binary_cross_entropy
from labdl.ops.losses.regression import _reduce
from labdl.ops.math.arithmetic import divide, maximum, multiply, negative
from labdl.ops.math.arithmetic import pow as power
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.activation import sigmoid
from labdl.ops.neural.boxes import _boxes, _ciou, _diou, _giou
from labdl.ops.operator import Number, case, floats, operator
from labdl.ops.precision.float32 import _narrow, _wide

_BOXES = (
    case(_boxes(4, 4), _boxes(4, 4)),
    case(_boxes(2, 3, 4), _boxes(2, 3, 4), reduction="none"),
    case(_boxes(3, 4), _boxes(3, 4), reduction="sum"),
)


def _wrong(logits, target, gamma):
    """The probability of the wrong answer."""
    probability = sigmoid(logits)
    if gamma >= 1:
        return probability + target - 2 * multiply(probability, target)
    # the slope of the power is infinite at 0: what is right to the last digit keeps the digits of its small rest
    wrong = multiply(probability, 1 - target) + multiply(sigmoid(negative(logits)), target)
    return maximum(wrong, 1e-37)


@operator(
    rules.paired_loss,
    case(floats(4, 3), floats(4, 3, low=0, high=1)),
    case(floats(4, 3), floats(4, 3, low=0, high=1), alpha=-1, gamma=1.5, reduction="sum"),
    case(floats(3), floats(3, low=0, high=1), alpha=0.5, gamma=0, reduction="none"),
    composite=True,
    options={"alpha": Number(high=1), "gamma": Number(0)},
    precision="float32",
)
def focal_loss(logits, target, *, alpha=0.25, gamma=2.0, reduction="mean"):
    """Binary cross-entropy of logits, weighted by (1 - p) ** gamma, where p is the probability of the right answer.

    ``alpha`` weighs the positive targets and 1 - alpha the negative ones; a negative alpha weighs none (Lin et al., 2017).
    Semantics: torchvision.ops.sigmoid_focal_loss, with the mean as the default.
    """
    losses = binary_cross_entropy(logits, target, reduction="none")
    if gamma:
        losses = multiply(losses, power(_wrong(logits, target, gamma), gamma))
    if alpha >= 0:
        losses = multiply(losses, multiply(target, 2 * alpha - 1) + (1 - alpha))
    return _reduce(losses, reduction)


@operator(
    rules.batch_loss,
    case(floats(2, 3, 4, low=0, high=1), floats(2, 3, 4, low=0, high=1)),
    case(floats(2, 3, low=0, high=1), floats(2, 3, low=0, high=1), epsilon=0.1, reduction="none"),
    composite=True,
    precision="float32",
)
def dice_loss(probabilities, target, *, epsilon=1e-5, reduction="mean"):
    """1 less twice the overlap of predicted and true masks over the sum of both, for each sample (Milletari et al., 2016).

    Probabilities and targets are between 0 and 1, with the batch on the first axis; ``epsilon`` keeps empty masks finite.
    """
    axes = tuple(range(1, len(probabilities.shape)))
    sums = [total(v, axis=axes) if axes else v for v in (multiply(probabilities, target), probabilities + target)]
    return _reduce(1 - divide(2 * sums[0] + epsilon, sums[1] + epsilon), reduction)


def _box_loss(measure, prediction, target, reduction):
    losses = 1 - measure(_wide(prediction), _wide(target), 1e-7)
    return _narrow(_reduce(losses, reduction), prediction, target)


@operator(rules.box_loss, *_BOXES, composite=True, precision="float32")
def generalized_box_iou_loss(prediction, target, *, reduction="mean"):
    """1 less the generalized IoU of each box (..., 4) and its target (Rezatofighi et al., 2019).

    Semantics: torchvision.ops.generalized_box_iou_loss, with the mean as the default.
    """
    return _box_loss(_giou, prediction, target, reduction)


@operator(rules.box_loss, *_BOXES, composite=True, precision="float32")
def distance_box_iou_loss(prediction, target, *, reduction="mean"):
    """1 less the distance IoU of each box (..., 4) and its target (Zheng et al., 2020).

    Semantics: torchvision.ops.distance_box_iou_loss, with the mean as the default.
    """
    return _box_loss(_diou, prediction, target, reduction)


# differentiable, but not equal to finite differences: the trade-off factor counts as a constant
@operator(rules.box_loss, *_BOXES, composite=True, differentiable=False, precision="float32")
def complete_box_iou_loss(prediction, target, *, reduction="mean"):
    """1 less the complete IoU of each box (..., 4) and its target (Zheng et al., 2020).

    Semantics: torchvision.ops.complete_box_iou_loss, with the mean as the default.
    """
    return _box_loss(_ciou, prediction, target, reduction)
