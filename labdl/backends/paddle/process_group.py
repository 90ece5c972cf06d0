"""Sums over the processes of paddle.distributed."""

import paddle
from paddle import distributed
from paddle.autograd import PyLayer

from labdl.backends.paddle.neural import batch_norm


def _is_running() -> bool:
    return distributed.is_initialized() and distributed.get_world_size() > 1


class _AllReduce(PyLayer):
    @staticmethod
    def forward(ctx, x):
        x = paddle.assign(x)
        distributed.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        gradient = paddle.assign(gradient)
        distributed.all_reduce(gradient)
        return gradient


def all_reduce(x):
    return _AllReduce.apply(x) if _is_running() else x


def sync_batch_norm(x, scale, offset, mean, variance, *, training=False, **options):
    """The fused kernel where one process runs alone."""
    if training and _is_running():
        return NotImplemented
    return batch_norm(x, scale, offset, mean, variance, training=training, **options)
