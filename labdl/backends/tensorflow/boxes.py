"""Suppression of overlapping boxes by TensorFlow's kernels."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportArgumentType=false

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import HALVES
from labdl.backends.tensorflow.sorting import argsort


def _suppress(boxes, scores, select):
    """Positions of the boxes that ``select`` keeps, from sorted finite scores: the kernels ignore NaN and -inf."""
    order = argsort(scores, descending=True, stable=True)
    count = tf.shape(scores)[0]
    falling = tf.cast(count - tf.range(count), tf.float32)
    return tf.gather(order, select(tf.gather(boxes, order), falling, count, order))


def _overlap(boxes):
    """Intersection over union of every two boxes."""
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    sides = tf.nn.relu(tf.minimum(high, boxes[:, 2:]) - tf.maximum(low, boxes[:, :2]))
    common, areas = sides[..., 0] * sides[..., 1], tf.reduce_prod(boxes[:, 2:] - boxes[:, :2], -1)
    return common / (areas[:, None] + areas - common)


def _among_all(boxes, scores, iou_threshold, classes):
    """Suppression by a table of all pairs, in the boxes' own dtype."""

    def select(ranked, falling, count, order):
        overlaps = _overlap(tf.cast(ranked, tf.float32) if ranked.dtype in HALVES else ranked) > iou_threshold
        if classes is not None:
            of = tf.gather(classes, order)
            overlaps &= tf.equal(of[:, None], of)
        return tf.raw_ops.NonMaxSuppressionWithOverlaps(
            overlaps=tf.cast(overlaps, tf.float32),
            scores=falling,
            max_output_size=count,
            overlap_threshold=0.5,
            score_threshold=0.0,
        )

    return _suppress(boxes, scores, select)


def nms(boxes, scores, iou_threshold):
    """TensorFlow's kernel computes in float32, drops scores of NaN and minus infinity, lets a box with an infinite corner
    cover all others, and returns int32."""
    if boxes.dtype is tf.float64:
        return _among_all(boxes, scores, iou_threshold, None)

    def select(ranked, falling, count, order):
        finite = tf.reduce_all(tf.math.is_finite(ranked), -1, keepdims=True)
        ranked = tf.where(finite, ranked, 0)  # without an area it overlaps nothing
        return tf.raw_ops.NonMaxSuppressionV3(
            boxes=tf.cast(ranked, tf.float32),
            scores=falling,
            max_output_size=count,
            iou_threshold=iou_threshold,
            score_threshold=0.0,
        )

    return _suppress(boxes, scores, select)


def batched_nms(boxes, scores, classes, iou_threshold):
    """TensorFlow has none for arbitrary classes."""
    return _among_all(boxes, scores, iou_threshold, classes)
