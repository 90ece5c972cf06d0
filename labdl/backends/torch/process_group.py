"""Sums over the processes of torch.distributed."""

import torch
from torch import distributed

from labdl.backends.torch.neural import batch_norm


def _is_running() -> bool:
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


class _AllReduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return _AllReduce.apply(gradient)


def all_reduce(x):
    return _AllReduce.apply(x) if _is_running() else x


def sync_batch_norm(x, scale, offset, mean, variance, *, training=False, **options):
    """The fused kernel where one process runs alone."""
    if training and _is_running():
        return NotImplemented
    return batch_norm(x, scale, offset, mean, variance, training=training, **options)
