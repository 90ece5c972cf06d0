"""PaddlePaddle implementations of losses."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

import paddle
import paddle.nn.functional as F

from labdl.backends.paddle import kernels
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.backends.paddle.dtypes import INT64, in_dtype


def _reduce(losses, reduction):
    if reduction == "mean":
        return kernels.mean_all(losses) if losses.size else NotImplemented
    return losses if reduction == "none" else paddle.sum(losses) if reduction == "sum" else NotImplemented


@any_precision
def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, ignore_index=-100, reduction="mean"):
    """Paddle clamps logits at 64 below the largest one, and counts ignored classes in the mean."""
    ndim = logits.ndim
    if label_smoothing or weight is not None or target.ndim == ndim or not logits.size:
        return NotImplemented
    target = in_dtype(target, INT64)
    # soft_label, use_softmax, numeric_stable_mode, ignore_index, axis
    chances, losses = kernels.cross_entropy_with_softmax(
        logits, target.unsqueeze(-1), False, True, True, ignore_index, -1
    )
    if reduction != "mean":
        return _reduce(losses.squeeze(-1), reduction)
    if ndim != 2:
        chances, target = chances.reshape([-1, chances.shape[-1]]), target.flatten()
    # only the second result of this kernel is used: the number of counted targets
    integer_range = kernels.nll_loss(chances.detach(), target, None, ignore_index, "sum")[1]
    return kernels.divide(paddle.sum(losses), integer_range)


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
