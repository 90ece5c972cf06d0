"""Losses of sequences as TensorFlow loops, whose graph does not grow with the steps."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportOperatorIssue=false

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import HALVES
from labdl.backends.tensorflow.losses import REDUCED

# log-probability of impossible alignments: finite, because the difference of two infinities is NaN, also in gradients
_NEVER = -1e30


def _size(x, axis):
    return tf.shape(x)[axis] if x.shape[axis] is None else x.shape[axis]


def _log_probabilities(logits):
    wide = tf.cast(logits, tf.float32) if logits.dtype in HALVES else logits
    return tf.maximum(tf.nn.log_softmax(wide), tf.constant(_NEVER, wide.dtype))


def _either(*logs):
    """The logarithm of the sum of probabilities given by their logarithms."""
    most = tf.stop_gradient(tf.reduce_max(tf.stack(logs), 0))
    return most + tf.math.log(tf.add_n([tf.exp(v - most) for v in logs]))


def _shift(x, count):
    """Shift the last axis by ``count``, filled with impossible ones."""
    return tf.pad(x, ((0, 0), (count, 0)), constant_values=_NEVER)[:, : -count or None]


def _labels(targets, lengths, blank):
    """Labels as int64, padding replaced by the blank."""
    inside = tf.sequence_mask(lengths, tf.shape(targets)[1])
    return tf.where(inside, tf.cast(targets, tf.int64), tf.constant(blank, tf.int64))


def _loop(step, count, *start):
    """Run ``step(at, *values)`` in a loop from ``start``; returns the last values."""

    def body(at, *values):
        return at + 1, *(tf.ensure_shape(v, s.shape) for v, s in zip(step(at, *values), start, strict=True))

    return tf.while_loop(lambda at, *_: at < count, body, (0, *start))[1:]


def ctc_loss(logits, targets, input_lengths, target_lengths, blank=0, *, reduction="mean", zero_infinity=False):
    """TensorFlow's kernel fails if a target does not fit, and returns infinity for probabilities below 1e-38."""
    logs = _log_probabilities(logits)
    input_lengths, target_lengths = (tf.cast(v, tf.int64)[:, None] for v in (input_lengths, target_lengths))
    targets = _labels(targets, target_lengths[:, 0], blank)
    # a blank before each label and after the last
    last = tf.fill(tf.shape(target_lengths), tf.constant(blank, tf.int64))
    spaced = tf.stack((tf.fill(tf.shape(targets), tf.constant(blank, tf.int64)), targets), -1)
    states = tf.concat((tf.reshape(spaced, (tf.shape(targets)[0], 2 * targets.shape[1])), last), 1)
    # a label may follow the label before it without a blank, unless it is the same
    before = tf.pad(states, ((0, 0), (2, 0)), constant_values=-1)[:, :-2]
    skips = tf.logical_and(tf.not_equal(states, blank), tf.not_equal(states, before))
    place = tf.range(tf.shape(states, tf.int64)[1])[None]
    never = tf.constant(_NEVER, logs.dtype)
    start = tf.zeros_like(states, logs.dtype) + tf.where(tf.equal(place, 0), tf.zeros((), logs.dtype), never)
    everywhere = tf.broadcast_to(states, tf.concat((tf.shape(logs)[:1], tf.shape(states)), 0))
    seen = tf.gather(logs, everywhere, batch_dims=2)

    def step(at, reached):
        two = tf.where(skips, _shift(reached, 2), never)
        found = _either(reached, _shift(reached, 1), two) + tf.gather(seen, at)
        return (tf.where(input_lengths > tf.cast(at, tf.int64), found, reached),)

    (reached,) = _loop(step, _size(logits, 0), start)
    ends = tf.logical_or(tf.equal(place, 2 * target_lengths), tf.equal(place, 2 * target_lengths - 1))
    losses = -tf.reduce_logsumexp(tf.where(ends, reached, never), -1)
    infinite = tf.constant(0 if zero_infinity else float("inf"), losses.dtype)
    losses = tf.where(losses > -_NEVER / 2, infinite, losses)
    if reduction == "mean":
        losses /= tf.cast(tf.maximum(target_lengths[:, 0], 1), losses.dtype)
    return tf.cast(REDUCED[reduction](losses), logits.dtype)


def _skew(grid):
    """A grid (N, steps, width) read along its diagonals: row d - u, column u is at (d, u)."""
    count, steps, width = tf.unstack(tf.shape(grid))
    rows = tf.pad(tf.transpose(grid, (0, 2, 1)), ((0, 0), (0, 0), (0, width)), constant_values=_NEVER)
    flat = tf.reshape(rows, (count, width * (steps + width)))[:, : width * (steps + width - 1)]
    return tf.transpose(tf.reshape(flat, (count, width, steps + width - 1)), (2, 0, 1))


def rnnt_loss(logits, targets, input_lengths, target_lengths, blank=0, *, reduction="mean"):
    """Not in TensorFlow."""
    logs = _log_probabilities(logits)
    input_lengths, target_lengths = (tf.cast(v, tf.int64)[:, None] for v in (input_lengths, target_lengths))
    waits = _skew(logs[..., blank])
    labels = _labels(targets, target_lengths[:, 0], blank)[:, None]
    labels = tf.broadcast_to(labels, tf.shape(logs[:, :, :-1, 0], tf.int64))
    speaks = tf.gather(logs[:, :, :-1], labels, batch_dims=3)
    speaks = _skew(tf.pad(speaks, ((0, 0), (0, 0), (0, 1)), constant_values=_NEVER))
    place = tf.range(tf.shape(logs, tf.int64)[2])[None]
    never = tf.constant(_NEVER, logs.dtype)
    zeros = tf.zeros_like(logs[:, 0, :, 0])
    goal, ends = input_lengths - 1 + target_lengths, tf.equal(place, target_lengths)

    def step(at, reached, result):
        # the first diagonal: no label emitted, no step passed
        before = tf.maximum(at - 1, 0)
        moved = _either(reached + tf.gather(waits, before), _shift(reached + tf.gather(speaks, before), 1))
        reached = tf.where(tf.equal(at, 0), reached, moved)
        done = tf.logical_and(tf.equal(goal, tf.cast(at, tf.int64)), ends)
        return reached, tf.where(done, reached + tf.gather(waits, at), result)

    _, result = _loop(step, _size(logits, 1) + _size(logits, 2) - 1, tf.where(tf.equal(place, 0), zeros, never), zeros)
    losses = -tf.reduce_sum(result, -1)
    losses = tf.where(losses > -_NEVER / 2, tf.constant(float("inf"), losses.dtype), losses)
    return tf.cast(REDUCED[reduction](losses), logits.dtype)
