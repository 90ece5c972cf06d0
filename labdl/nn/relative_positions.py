"""Distances between the steps of two sequences, and scores by distance as scores by key (Dai et al., 2019)."""

from __future__ import annotations

from labdl import ops
from labdl.nn.positions import count_steps


def count_distances(x, context):
    """Distances between the steps of x (N, steps, ...) and of a context (N, keys, ...) that ends with them.

    Integers (keys + steps - 1,): from that of the first key before the last step, keys - 1, to 1 - steps, that of the last
    key after the first step.
    """
    back = ops.flip(count_steps(context), axis=1)
    ahead = ops.negative(ops.getitem(count_steps(x), (slice(None), slice(1, None))))
    return ops.getitem(ops.concat([back, ahead], axis=1), 0)


def shift_distances(scores, x, context):
    """Scores (N, heads, steps, distances) by the distances of `count_distances` as scores (N, heads, steps, keys) by key.

    As `ops.relative_shift`, also for unknown numbers of steps and keys.
    """
    if None not in (*x.shape[1:2], *context.shape[1:2], *scores.shape[-2:]):
        return ops.relative_shift(scores, context.shape[1])
    steps, keys = count_steps(x), count_steps(context)
    places = ops.subtract(ops.expand_dims(ops.add(keys, ops.max(steps)), 1), ops.expand_dims(steps, 2))
    heads = ops.zeros_like(ops.getitem(scores, (..., slice(0, 1))), dtype="int64")
    return ops.take_along_axis(scores, ops.add(heads, ops.expand_dims(places, 1)), axis=-1)
