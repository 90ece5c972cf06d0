"""Control flow in TensorFlow's graphs."""

import tensorflow as tf

unrolled, reads_python = 0, False


def values_are_unknown() -> bool:
    return not tf.executing_eagerly()


def number(value, dtype: str):
    return tf.constant(value, dtype)


def cond(pred, true_fn, false_fn):
    structures = []

    def tensors(function):
        found = function()
        structures.append(tf.nest.map_structure(lambda value: 0 if value is None else 1, found))
        return [value for value in tf.nest.flatten(found) if value is not None]  # tf.cond has no results of None

    found = iter(tf.cond(pred, lambda: tensors(true_fn), lambda: tensors(false_fn)))
    first, second = structures
    if first != second:
        raise TypeError(
            f"ops.cond: the results of true_fn and false_fn must have equal structures, received {structures}"
        )
    return tf.nest.map_structure(lambda some: next(found) if some else None, first)


def while_loop(cond, body, variables, maximum_iterations=None):
    return tf.while_loop(cond, body, variables, maximum_iterations=maximum_iterations)


class Sequences:
    """Slices of tensors in a loop, as TensorArrays: their gradients take linear time."""

    def __init__(self, owner, length, tensors):
        self.length = tf.shape(tensors[0])[0] if length is None else tf.constant(length)
        self.last = tf.cast(self.length, tf.int64) - 1

    def unstack(self, x):
        return self.start(x[0]).unstack(x)

    def read(self, sequence, position):
        return sequence.read(tf.cast(position, tf.int32))

    def start(self, first):
        return tf.TensorArray(first.dtype, self.length, element_shape=first.shape, clear_after_read=False)

    def write(self, sequence, position, value):
        return sequence.write(tf.cast(position, tf.int32), value)

    def stack(self, sequence):
        return sequence.stack()
