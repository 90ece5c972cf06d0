"""Gradients in TensorFlow."""

import tensorflow as tf


def clear_gradients(variables) -> None:
    """TensorFlow stores none."""


def gradients(function, values):
    leaves = [v if isinstance(v, tf.Variable) else tf.identity(v) for v in values]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(leaves)
        result = function(*leaves)
    found = tape.gradient(result, leaves, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    # the gradient of a lookup is sparse
    return result, [tf.convert_to_tensor(g) for g in found]


def is_trainable(variable) -> bool:
    return variable.trainable


def set_trainable(variable, flag: bool) -> None:
    """For users and their tapes: LabDL computes gradients for the requested variables only.

    A tf.Variable takes the flag at its creation alone, but a new variable would lose what refers to this one.
    """
    variable._trainable = flag


def with_gradient(forward, pull):
    @tf.custom_gradient
    def call(*tensors):
        def gradient(*gradients):
            found = pull(gradients, tensors)
            return [tf.zeros_like(t) if g is None else g for g, t in zip(found, tensors, strict=True)]

        return forward(*tensors), gradient

    return lambda *tensors: call(*map(tf.convert_to_tensor, tensors))
