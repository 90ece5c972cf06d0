"""Sums over the replicas of a strategy of tf.distribute."""

import tensorflow as tf

from labdl.backends.tensorflow.normalization import batch_norm


def _is_running() -> bool:
    """Whether a strategy runs several replicas. Raises RuntimeError outside of ``strategy.run``."""
    if tf.distribute.get_strategy().num_replicas_in_sync == 1:
        return False
    if tf.distribute.get_replica_context() is None:
        raise RuntimeError(
            "a sum over replicas needs each replica's own call: call the model in strategy.run(function)"
        )
    return True


def all_reduce(x):
    if not _is_running():
        return x
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)


def sync_batch_norm(x, scale, offset, mean, variance, *, training=False, **options):
    """The fused kernel where one replica runs alone."""
    if training and _is_running():
        return NotImplemented
    return batch_norm(x, scale, offset, mean, variance, training=training, **options)
