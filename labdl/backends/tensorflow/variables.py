"""Changes of variables."""

import tensorflow as tf


def assign(variable, value):
    """A tensor that is no variable keeps its value; the replicas of a strategy store the mean of their values, once."""
    if not variable.shape.is_compatible_with(value.shape):
        raise ValueError(f"assign wants a value of shape {tuple(variable.shape)}, received {tuple(value.shape)}")
    value = tf.cast(tf.stop_gradient(value), variable.dtype)
    if isinstance(variable, tf.Variable):
        replica = tf.distribute.get_replica_context()
        if replica is None or replica.num_replicas_in_sync == 1:
            variable.assign(value)
        else:
            replica.merge_call(_assign_mean, (variable, value))
    return value


@tf.autograph.experimental.do_not_convert
def _assign_mean(strategy, variable, value):
    variable.assign(strategy.reduce(tf.distribute.ReduceOp.MEAN, value, axis=None))
