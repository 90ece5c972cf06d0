"""Shape rules of losses."""

from __future__ import annotations

from labdl.ops.rules.elementwise import common_dtype, promoting
from labdl.spec import FLOATS, Spec, broadcast, show


def reduce_loss(shape, dtype: str, reduction: str) -> Spec:
    """A loss for each element, or one number."""
    return Spec(shape if reduction == "none" else (), dtype)


def _specs(*values) -> list[Spec]:
    return [v for v in values if isinstance(v, Spec)]


def _check_same(prediction, target) -> None:
    if prediction.ndim != target.ndim:
        raise ValueError(
            f"prediction {show(prediction.shape)} and target {show(target.shape)} must have the same number of axes"
        )


@promoting
def paired_loss(prediction, target, *others, reduction="mean", **options) -> Spec:
    """A loss of prediction and target, element by element; further tensors broadcast with them."""
    _check_same(prediction, target)
    specs = [prediction, target, *_specs(*others, *options.values())]
    return reduce_loss(broadcast(*(s.shape for s in specs)), common_dtype(*specs), reduction)


@promoting
def kl_divergence(log_probabilities, target, *, reduction="mean", **options) -> Spec:
    _check_same(log_probabilities, target)
    shape = broadcast(log_probabilities.shape, target.shape)
    return reduce_loss(shape, common_dtype(log_probabilities, target), reduction)


def sample_loss(drop: int):
    """A loss with one value for all that lies on the last ``drop`` axes of prediction and target."""

    @promoting
    def rule(prediction, target, *others, reduction="mean", **options) -> Spec:
        _check_same(prediction, target)
        specs = [prediction, target, *_specs(*others, *options.values())]
        shape = broadcast(prediction.shape, target.shape)
        if len(shape) < drop:
            raise ValueError(f"this loss wants at least {drop} axes, received {show(prediction.shape)}")
        return reduce_loss(shape[: len(shape) - drop], common_dtype(*specs), reduction)

    return rule


@promoting
def batch_loss(prediction, target, *, reduction="mean", **options) -> Spec:
    """A loss with one value for each element of the first axis."""
    _check_same(prediction, target)
    shape = broadcast(prediction.shape, target.shape)
    if not shape:
        raise ValueError("this loss wants a first axis, the batch, received a prediction without axes")
    return reduce_loss(shape[:1], common_dtype(prediction, target), reduction)


@promoting
def labeled_pair(first, second, target, *args, reduction="mean", **options) -> Spec:
    """A loss of two tensors and a label, 1 or -1, for each element of both."""
    specs = (first, second, target)
    return reduce_loss(broadcast(*(s.shape for s in specs)), common_dtype(*specs), reduction)


@promoting
def labeled_vectors(first, second, target, *args, reduction="mean", **options) -> Spec:
    """A loss of two tensors of vectors on the last axis and a label, 1 or -1, for each pair of vectors."""
    vectors = broadcast(first.shape, second.shape)
    if min(first.ndim, second.ndim) < 1:
        raise ValueError(f"vectors have at least one axis, received {show(first.shape)} and {show(second.shape)}")
    if target.ndim != len(vectors) - 1:
        raise ValueError(f"vectors {show(vectors)} want labels of one axis less, received {show(target.shape)}")
    return reduce_loss(broadcast(vectors[:-1], target.shape), common_dtype(first, second, target), reduction)


@promoting
def triplet(anchor, positive, negative, *args, reduction="mean", **options) -> Spec:
    specs = (anchor, positive, negative)
    vectors = broadcast(*(s.shape for s in specs))
    if not vectors:
        raise ValueError("triplet_margin_loss wants vectors on the last axis, received tensors without axes")
    return reduce_loss(vectors[:-1], common_dtype(*specs), reduction)


def class_numbers(logits, target, *, weight=None, reduction="mean", **options) -> Spec:
    """A loss of scores (..., classes) and one class number for each position (...)."""
    if target.ndim != logits.ndim - 1:
        raise ValueError(
            f"scores {show(logits.shape)} with the classes last want class numbers of one axis less, "
            f"received {show(target.shape)}"
        )
    _check_weight(logits, weight)
    shape = _same(logits.shape[:-1], target.shape, "scores", "class numbers")
    return reduce_loss(shape, common_dtype(*_specs(logits, weight)), reduction)


def _check_weight(logits, weight) -> None:
    if weight is not None and (
        weight.ndim != 1 or (None not in (weight.shape[0], logits.shape[-1]) and weight.shape[0] != logits.shape[-1])
    ):
        raise ValueError(
            f"weight wants one number for each of the {logits.shape[-1]} classes, received {show(weight.shape)}"
        )


def _same(first, second, what: str, other: str):
    """Merge two shapes, which may differ only in unknown sizes."""
    if any(a != b for a, b in zip(first, second, strict=True) if None not in (a, b)):
        hint = (
            ": the classes are on the last axis; where they are on axis 1, write nn.CrossEntropyLoss(axis=1), or move them "
            "with ops.moveaxis(x, 1, -1)"
            if what == "scores"
            else ""
        )
        raise ValueError(f"{what} for {show(first)} and {other} for {show(second)} do not match{hint}")
    return tuple(b if a is None else a for a, b in zip(first, second, strict=True))


def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, reduction="mean", **options) -> Spec:
    if logits.ndim == 0 or target.ndim not in (logits.ndim - 1, logits.ndim):
        raise ValueError(
            f"cross_entropy of logits {show(logits.shape)} wants class numbers of one axis less, or "
            f"probabilities of the same shape, received {show(target.shape)}"
        )
    if (target.dtype in FLOATS) != (target.ndim == logits.ndim):
        raise ValueError(
            f"cross_entropy wants integer class numbers {show(logits.shape[:-1])} or floating-point "
            f"probabilities {show(logits.shape)}, received {target.dtype} {show(target.shape)}"
        )
    if target.ndim < logits.ndim:
        return class_numbers(logits, target, weight=weight, reduction=reduction)
    _check_weight(logits, weight)
    shape = _same(logits.shape, target.shape, "logits", "probabilities")
    return reduce_loss(shape[:-1], common_dtype(*_specs(logits, target, weight)), reduction)


def multilabel_margin(prediction, target, *, reduction="mean") -> Spec:
    _check_same(prediction, target)
    shape = _same(prediction.shape, target.shape, "scores", "classes")
    return reduce_loss(shape[:-1], prediction.dtype, reduction)


def ctc_loss(logits, targets, input_lengths, target_lengths, blank=0, *, reduction="mean", **options) -> Spec:
    if logits.ndim != 3 or targets.ndim != 2:
        raise ValueError(
            f"ctc_loss wants logits (steps, N, classes) and targets (N, labels), received "
            f"{show(logits.shape)} and {show(targets.shape)}"
        )
    return reduce_loss(
        _batch("ctc_loss", logits.shape[1], targets, input_lengths, target_lengths), logits.dtype, reduction
    )


def rnnt_loss(logits, targets, input_lengths, target_lengths, blank=0, *, reduction="mean", **options) -> Spec:
    if logits.ndim != 4 or targets.ndim != 2:
        raise ValueError(
            f"rnnt_loss wants logits (N, steps, labels + 1, classes) and targets (N, labels), received "
            f"{show(logits.shape)} and {show(targets.shape)}"
        )
    if logits.shape[1] == 0:
        raise ValueError(f"rnnt_loss wants at least one step, received {show(logits.shape)}")
    if None not in (logits.shape[2], targets.shape[1]) and logits.shape[2] != targets.shape[1] + 1:
        raise ValueError(f"rnnt_loss wants logits for {targets.shape[1]} + 1 labels, received {show(logits.shape)}")
    return reduce_loss(
        _batch("rnnt_loss", logits.shape[0], targets, input_lengths, target_lengths), logits.dtype, reduction
    )


def _batch(name: str, size, targets, *lengths):
    for spec in lengths:
        if spec.ndim != 1:
            raise ValueError(f"{name} wants one length for each sample of the batch, received {show(spec.shape)}")
    for spec in (targets, *lengths):
        size = _same((size,), spec.shape[:1], f"{name}: a batch", "lengths or targets")[0]
    return (size,)
