"""Channels-last layout, the only one of TensorFlow's spatial CPU kernels, without transposes between operators.

Every spatial operator on channels-first tensors transposes its input and its result. While a tf.function is traced, the
transposed result refers to its original, on which further operators compute if they can (`labdl.ops.channels_last`), so that
the transposes between them are not executed. For tapes such a use is still a transpose, so that the gradient of every
logical tensor exists; the graph optimizer (Grappler) removes unused pairs. Eager tensors have no reference: they are
transposed at once.
"""

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record  # the only way to record the origin of a tensor on a tape
from tensorflow.python.ops import gradients_util

_ORIGINAL, _USED, _PICTURE = "_labdl_channels_last", "_labdl_used_channels_last", "_labdl_picture"


def follows(kind: type) -> bool:
    """True if operators dispatched on this type may receive channels-last tensors."""
    return kind is not tf.__internal__.EagerTensor


def lies_last(x) -> bool:
    """True if the tensor was computed channels-last and then transposed."""
    return _ORIGINAL in getattr(x, "__dict__", ())


def channels_last(x, rank: int | None = None):
    """(N, C, ...) as (N, ..., C), with axes of size 1 before it up to ``rank``."""
    x = tf.convert_to_tensor(x) if isinstance(x, np.ndarray) else x
    if rank is not None and len(x.shape) < rank:
        x = tf.reshape(x, [1] * (rank - len(x.shape)) + _sizes(x))
    if not tf.is_symbolic_tensor(x):
        return _last(x)
    original, used = x.__dict__.get(_ORIGINAL), x.__dict__.get(_USED)
    tapes = _tapes(x)
    if original is not None and not tapes:
        return original
    if used is None or tapes > 1 or tapes != _tapes(used):  # a newer tape has not recorded its origin
        used = _last(x) if original is None else _as_made_of(x, original)
        if used.graph is x.graph:  # not across the body of a loop or a condition
            setattr(x, _USED, used)
    return used


def channels_first(y):
    """(N, ..., C) as (N, C, ...), with a reference to the original."""
    x = _first(y)
    if tf.is_symbolic_tensor(x):
        setattr(x, _ORIGINAL, y)
    return x


def _tapes(x) -> int:
    """The number of tapes that record a tensor: 0, 1, or 2 for several and for a persistent one."""
    return gradients_util.PossibleTapeGradientTypes([x])


def _last(x):
    return tf.transpose(x, [0, *range(2, x.shape.rank), 1])


def _first(y):
    return tf.transpose(y, [0, y.shape.rank - 1, *range(1, y.shape.rank - 1)])


def _as_made_of(x, original):
    """The original of x; for tapes it is the transpose of x."""
    return _record_as_made_from(tf.identity, original, x, _first)


def _record_as_made_from(make, original, x, back):
    """``make(original)`` in the graph, recorded on tapes as a function of x; ``back`` converts its gradient."""
    with record.stop_recording():
        made = make(original)
    record.record_operation("ChannelsLast", [made], [x], lambda gradient: [back(tf.convert_to_tensor(gradient))])
    return made


def remember_picture(x, y):
    """``y`` with a reference to the original of x if it flattens each sample of x."""
    if lies_last(x) and tf.is_symbolic_tensor(y) and y.shape.rank == 2 and y.shape[0] == x.shape[0] is not None:
        setattr(y, _PICTURE, x)
    return y


def rows(x, kernel):
    """Operands of a product: flattened channels-last samples and a reordered kernel, if that is cheaper."""
    picture = getattr(x, "__dict__", {}).get(_PICTURE)
    count = x.shape.num_elements() if picture is not None else None
    if count is None or kernel.shape.num_elements() >= count or kernel.shape.rank != 2:
        return x, kernel
    original = picture.__dict__[_ORIGINAL]
    channels, outputs, shape, flat = original.shape[-1], kernel.shape[-1], original.shape, x.shape
    x = _record_as_made_from(
        lambda y: tf.reshape(y, flat), original, x, lambda g: tf.reshape(_first(tf.reshape(g, shape)), flat)
    )
    kernel = tf.transpose(tf.reshape(kernel, [channels, -1, outputs]), [1, 0, 2])
    return x, tf.reshape(kernel, [-1, outputs])


def _sizes(x) -> list:
    known = x.shape.as_list()
    return known if known.count(None) == 0 else tf.unstack(tf.shape(x))
