"""Sums over the processes of mindspore.communication."""

from mindspore.communication import GlobalComm, get_group_size
from mindspore.ops import operations as P

from labdl.backends.mindspore.normalization import batch_norm


def _is_running() -> bool:
    return GlobalComm.INITED and get_group_size() > 1


def all_reduce(x):
    return P.AllReduce()(x) if _is_running() else x


def sync_batch_norm(x, scale, offset, mean, variance, *, training=False, **options):
    """The fused kernel where one process runs alone."""
    if training and _is_running():
        return NotImplemented
    return batch_norm(x, scale, offset, mean, variance, training=training, **options)
