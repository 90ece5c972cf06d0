"""Losses for which TensorFlow has a kernel of its own."""

import math

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import promote_operands

REDUCED = {"mean": tf.reduce_mean, "sum": tf.reduce_sum, "none": tf.identity}


def cross_entropy(logits, target, label_smoothing=0.0, *, weight=None, ignore_index=-100, reduction="mean"):
    """TensorFlow has neither weights nor ignored positions, and fails for invalid class numbers."""
    if target.shape.rank == logits.shape.rank:
        return _soft_cross_entropy(logits, target, label_smoothing, weight, reduction)
    if weight is not None:
        logits, weight = promote_operands(logits, weight)
    target = target if target.dtype in (tf.int32, tf.int64) else tf.cast(target, tf.int64)
    counted = tf.not_equal(target, tf.constant(ignore_index, target.dtype))
    known = tf.where(counted, target, tf.zeros_like(target))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(known, logits)
    share = tf.cast(counted, logits.dtype)
    if weight is not None:
        share *= tf.gather(weight, known)
    factor = share / tf.reduce_sum(share) if reduction == "mean" else share
    losses = tf.math.multiply_no_nan(losses, factor)  # where the factor is 0, the loss is 0, also if it was infinite
    if label_smoothing:
        logs = tf.nn.log_softmax(logits)
        spread = tf.reduce_sum(logs if weight is None else _weigh(logs, weight), -1)
        each = tf.cast(counted, logits.dtype) * (label_smoothing / logits.shape[-1])
        each = each / tf.reduce_sum(share) if reduction == "mean" else each
        losses = losses * (1 - label_smoothing) - tf.math.multiply_no_nan(spread, each)
    if reduction == "mean" and losses.shape.num_elements() == 0:
        return tf.reduce_mean(losses)  # NaN for an empty batch
    return losses if reduction == "none" else tf.reduce_sum(losses)


def _soft_cross_entropy(logits, target, label_smoothing, weight, reduction):
    """With probabilities for a target."""
    logits, target, *given = promote_operands(logits, target, *(() if weight is None else (weight,)))
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / logits.shape[-1]
    target = target * given[0] if given else target
    return REDUCED[reduction](-tf.reduce_sum(_weigh(tf.nn.log_softmax(logits), target), -1))


def _weigh(logs, share):
    """Minus infinity counts nothing beside a weight of 0, and has no gradient there."""
    zero = tf.zeros((), logs.dtype)
    impossible = tf.logical_and(tf.equal(share, zero), tf.equal(logs, -math.inf))
    return tf.where(impossible, zero, logs) * share


def binary_cross_entropy(logits, target, *, weight=None, pos_weight=None, reduction="mean"):
    if weight is not None or pos_weight is not None or logits.dtype is not target.dtype or logits.shape != target.shape:
        return NotImplemented
    if reduction not in REDUCED:
        return NotImplemented
    return REDUCED[reduction](tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits))
