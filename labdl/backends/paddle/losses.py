"""PaddlePaddle's spelling of losses."""

import paddle
import paddle.nn.functional as F
from paddle import _C_ops

from labdl.backends.paddle.operands import INT64, in_dtype
from labdl.backends.paddle.precision import any_precision


def _reduced(losses, reduction):
    if reduction == "mean":
        return _C_ops.mean_all(losses) if losses.size else NotImplemented
    return losses if reduction == "none" else paddle.sum(losses) if reduction == "sum" else NotImplemented


@any_precision
def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, ignore_index=-100, reduction="mean"):
    """Paddle counts no logit as more than 64 below the largest one, and divides by the number of ignored classes too."""
    ndim = logits.ndim
    if label_smoothing or weight is not None or target.ndim == ndim or not logits.size:
        return NotImplemented
    target = in_dtype(target, INT64)
    # soft_label, use_softmax, numeric_stable_mode, ignore_index, axis
    chances, losses = _C_ops.cross_entropy_with_softmax(
        logits, target.unsqueeze(-1), False, True, True, ignore_index, -1
    )
    if reduction != "mean":
        return _reduced(losses.squeeze(-1), reduction)
    if ndim != 2:
        chances, target = chances.reshape([-1, chances.shape[-1]]), target.flatten()
    # of this kernel only its second result is wanted: how many targets count
    counted = _C_ops.nll_loss(chances.detach(), target, None, ignore_index, "sum")[1]
    return _C_ops.divide(paddle.sum(losses), counted)


@any_precision
def binary_cross_entropy(logits, target, *, weight=None, pos_weight=None, reduction="mean"):
    if weight is not None or pos_weight is not None or not target.stop_gradient or logits.shape != target.shape:
        return NotImplemented  # the kernel gives its target no gradient
    return _reduced(F.binary_cross_entropy_with_logits(logits, target, reduction="none"), reduction)


def _of_difference(measure):
    @any_precision
    def loss(prediction, target, *, reduction="mean"):
        return _reduced(measure(_C_ops.subtract(prediction, target)), reduction)

    return loss


mean_squared_error, mean_absolute_error = _of_difference(_C_ops.square), _of_difference(_C_ops.abs)


@any_precision
def huber_loss(prediction, target, delta=1.0, *, reduction="mean"):
    if prediction.shape != target.shape:
        return NotImplemented
    return _reduced(_C_ops.huber_loss(prediction, target, float(delta)), reduction)
