"""MindSpore's random numbers."""

import mindspore
from mindspore import Tensor, ops

from labdl.backends.mindspore.runtime import dtype


def random_uniform(shape, low, high, name):
    drawn = ops.rand(*shape, dtype=mindspore.float32)
    return (drawn * (high - low) + low).astype(dtype(name))


def random_normal(shape, mean, std, name):
    return (ops.randn(*shape, dtype=mindspore.float32) * std + mean).astype(dtype(name))


def random_integers(shape, low, high, name):
    drawn = ops.rand(*shape, dtype=mindspore.float32).astype(mindspore.float64)
    return ops.floor(drawn * (high - low) + low).astype(dtype(name))


def random_permutation(n):
    return ops.argsort(ops.rand(n, dtype=mindspore.float32)).astype(mindspore.int64) if n else Tensor([], mindspore.int64)


def random_uniform_like(x, low=0.0, high=1.0):
    return ops.rand(*x.shape, dtype=mindspore.float32).mul(high - low).add(low).astype(x.dtype)


def random_normal_like(x, mean=0.0, std=1.0):
    return ops.randn(*x.shape, dtype=mindspore.float32).mul(std).add(mean).astype(x.dtype)
