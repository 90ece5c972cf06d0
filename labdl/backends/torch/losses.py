"""PyTorch implementations of losses."""

import torch
import torch.nn.functional as F


def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, ignore_index=-100, reduction="mean"):
    """torch needs the classes on axis 1, and has NaN where a class of logit minus infinity has the share or weight 0."""
    if target.is_floating_point() or (weight is not None and (weight.requires_grad or label_smoothing)):
        return NotImplemented  # weights would get no gradient
    classes, shape = logits.shape[-1], logits.shape[:-1]
    target = target.long()
    if len(shape) != 1:
        logits, target = logits.reshape(-1, classes), target.reshape(-1)
    if weight is None:
        loss = F.cross_entropy(
            logits, target, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
        )
    else:
        logs = F.log_softmax(logits, -1).masked_fill(weight == 0, 0.0)
        loss = F.nll_loss(logs, target, weight.to(logs.dtype), ignore_index=ignore_index, reduction=reduction)
    return loss.reshape(shape) if reduction == "none" else loss


def _differ(x, y):
    """True for operands that only the composite promotes."""
    return x.__class__ is not y.__class__ or x.dtype is not y.dtype or x.shape != y.shape


def binary_cross_entropy(logits, target, *, weight=None, pos_weight=None, reduction="mean"):
    if weight is not None or pos_weight is not None or _differ(logits, target):
        return NotImplemented
    return F.binary_cross_entropy_with_logits(logits, target, reduction=reduction)


def mean_squared_error(prediction, target, *, reduction="mean"):
    return NotImplemented if _differ(prediction, target) else F.mse_loss(prediction, target, reduction=reduction)


def mean_absolute_error(prediction, target, *, reduction="mean"):
    return NotImplemented if _differ(prediction, target) else F.l1_loss(prediction, target, reduction=reduction)


def huber_loss(prediction, target, delta=1.0, *, reduction="mean"):
    if _differ(prediction, target):
        return NotImplemented
    return F.huber_loss(prediction, target, delta=delta, reduction=reduction)


def ctc_loss(logits, targets, input_lengths, target_lengths, blank=0, *, reduction="mean", zero_infinity=False):
    """torch takes log-probabilities, and its kernel no half precision and nothing empty."""
    if logits.dtype not in (torch.float32, torch.float64) or 0 in (*logits.shape, *targets.shape):
        return NotImplemented
    inside = torch.arange(targets.shape[1], device=targets.device) < target_lengths[:, None]
    labels = torch.where(inside, targets.long(), blank)  # padding may be any number
    logs = F.log_softmax(logits, -1)
    lengths = input_lengths.long(), target_lengths.long()
    return F.ctc_loss(logs, labels, *lengths, blank, reduction=reduction, zero_infinity=zero_infinity)
