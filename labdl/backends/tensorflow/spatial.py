"""Layout, padding and a second axis for operators over spatial axes."""

import tensorflow as tf

from labdl.backends.tensorflow.layout import channels_first, channels_last


def planar(x, rank):
    """One spatial axis as two, the first of size 1: the kernels for two support explicit padding and oneDNN."""
    return tf.expand_dims(x, 1) if rank == 1 else x


def as_planar(rank, *values):
    """Options of one axis as those of two."""
    return [(1, *v) for v in values] if rank == 1 else values


def spatial(rank, compute):
    """``compute`` on (N, ..., C) with at least two spatial axes, whatever the logical layout."""

    def call(x, *args, data_format="channels_first", **kwargs):
        """TensorFlow's CPU kernels need channels last, and support "same" and no padding."""
        if x.shape.rank != rank + 2:  # oneDNN does not check, and aborts the process
            raise ValueError(f"{rank + 2} axes expected, received shape {x.shape}")
        first = data_format == "channels_first"
        x = channels_last(x) if first else x
        y = compute(planar(x, rank), *args, **kwargs)
        y = tf.squeeze(y, 1) if rank == 1 else y
        return channels_first(y) if first else y

    return call


def padded(x, pairs, rank, value=0.0):
    """The padded input, and the padding argument for the kernels; their explicit padding is slower."""
    if pairs == "same":
        return x, "SAME"
    if [p for p in pairs if p != (0, 0)]:
        x = tf.pad(x, [(0, 0), *((0, 0),) * (rank == 1), *pairs, (0, 0)], constant_values=value)
    return x, "VALID"
