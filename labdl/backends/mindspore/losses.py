"""MindSpore implementations of losses."""

from functools import lru_cache

import mindspore
import numpy as np
from mindspore import Tensor
from mindspore.ops import operations as P

from labdl.backends.mindspore.dtypes import float32

_log_softmax, _filled, _equal = P.LogSoftmax(-1), P.MaskedFill(), P.Equal()
_POSITIONS = (mindspore.int32, mindspore.int64)


@lru_cache(None)
def _kernel(reduction: str, ignore_index: int):
    return P.NLLLoss(reduction, ignore_index)


@lru_cache(16)
def _alike(classes: int) -> Tensor:
    return Tensor(np.ones(classes, "float32"))


def _of_classes(scores, target, ignore_index, reduction, logs):
    """Minus the score of the right class, by the fused kernel: NotImplemented for unsupported arguments."""
    shape, classes = scores.shape[:-1], scores.shape[-1]
    if (
        scores.dtype is not float32
        or target.shape != shape
        or not scores.size
        or reduction not in ("mean", "sum", "none")
    ):
        return NotImplemented
    target = target if target.dtype in _POSITIONS else target.astype(mindspore.int32)
    if len(shape) != 1:
        scores, target = scores.reshape(-1, classes), target.reshape(-1)
    loss = _kernel(reduction, ignore_index)(logs(scores), target, _alike(classes))[0]
    if reduction != "none":
        return loss
    # the kernel leaves ignored losses uninitialized
    return _filled(loss, _equal(target, ignore_index), 0.0).reshape(shape)


def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, ignore_index=-100, reduction="mean"):
    """MindSpore needs the classes on axis 1, and has no gradient of class weights."""
    # SparseSoftmaxCrossEntropyWithLogits is a little faster, but ignores no index and gives infinity from about 100 on
    if weight is not None or label_smoothing:
        return NotImplemented
    return _of_classes(logits, target, ignore_index, reduction, _log_softmax)


def nll_loss(log_probabilities, target, *, weight=None, ignore_index=-100, reduction="mean"):
    """MindSpore needs the classes on axis 1, and has no gradient of class weights."""
    if weight is not None:
        return NotImplemented
    return _of_classes(log_probabilities, target, ignore_index, reduction, lambda scores: scores)
