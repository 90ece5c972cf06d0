"""PaddlePaddle implementations of losses."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

import math

import paddle
import paddle.nn.functional as F

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import where
from labdl.backends.paddle.call_recorder import reads_values
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.backends.paddle.dtypes import INT64, cast, full_tensor, in_dtype


def _reduce(losses, reduction):
    if reduction == "mean":
        return NotImplemented if 0 in losses.shape else kernels.mean_all(losses)
    return losses if reduction == "none" else paddle.sum(losses) if reduction == "sum" else NotImplemented


_MOST = 64.0  # losses below are not clamped


def _correction(logits, classes, ignore_index):
    """The part of each loss that the clamping removes, without a gradient: that of the kernel is right."""
    zero = full_tensor([], 0, INT64)
    ignored = kernels.equal(classes, full_tensor([], ignore_index, INT64))
    own = kernels.take_along_axis(logits, where(ignored, zero, classes), logits.ndim - 1)
    gap = kernels.subtract(paddle.amax(logits, [-1], True), own)
    beyond = kernels.clip(kernels.scale(gap, 1.0, -_MOST, True), 0.0, math.inf)
    return where(ignored, full_tensor([], 0, logits.dtype), beyond)


@any_precision
def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, ignore_index=-100, reduction="mean"):
    """Paddle clamps logits at 64 below the largest one, and counts ignored classes in the mean: corrected here."""
    ndim = logits.ndim
    if label_smoothing or weight is not None or target.ndim == ndim or 0 in logits.shape:
        return NotImplemented
    target = in_dtype(target, INT64)
    # soft_label, use_softmax, numeric_stable_mode, ignore_index, axis
    classes = kernels.unsqueeze(target, [-1])
    chances, losses = kernels.cross_entropy_with_softmax(logits, classes, False, True, True, ignore_index, -1)
    read = reads_values(losses)
    if not (read and float(paddle.amax(losses.detach(), [], False).item()) < _MOST):
        losses = kernels.add(losses, _correction(logits.detach(), classes, ignore_index))
    if ndim != 2:
        chances, target = chances.reshape([-1, chances.shape[-1]]), target.flatten()
    # checks the targets, of which the other kernel looks at 32 bits; its sums write to invalid memory for ignored ones
    kernels.nll_loss(chances.detach(), target, None, ignore_index, "none")
    if reduction != "mean":
        return _reduce(losses.squeeze(-1), reduction)
    if read and ignore_index < 0 <= int(paddle.amin(target, [], False).item()):
        return kernels.mean_all(losses)
    counted = paddle.not_equal(target, full_tensor([], ignore_index, INT64))
    return kernels.divide(paddle.sum(losses), paddle.sum(cast(counted, losses.dtype)))


@any_precision
def binary_cross_entropy(logits, target, *, weight=None, pos_weight=None, reduction="mean"):
    if weight is not None or pos_weight is not None or not target.stop_gradient or logits.shape != target.shape:
        return NotImplemented  # the kernel has no gradient for its target
    return _reduce(F.binary_cross_entropy_with_logits(logits, target, reduction="none"), reduction)


def _of_difference(measure):
    @any_precision
    def loss(prediction, target, *, reduction="mean"):
        return _reduce(measure(kernels.subtract(prediction, target)), reduction)

    return loss


mean_squared_error, mean_absolute_error = _of_difference(paddle.square), _of_difference(paddle.abs)


@any_precision
def huber_loss(prediction, target, delta=1.0, *, reduction="mean"):
    if prediction.shape != target.shape:
        return NotImplemented
    return _reduce(kernels.huber_loss(prediction, target, float(delta)), reduction)
