"""Paddle's random numbers."""

import paddle

from labdl.backends.paddle.arithmetic import less, where
from labdl.backends.paddle.runtime import dtype_name


def _wide(name):
    """Paddle's CPU kernels draw float32 and float64; narrower ones are rounded from float32."""
    return name if name in ("float32", "float64") else "float32"


def random_uniform(shape, low, high, name):
    drawn = paddle.uniform(list(shape), _wide(name), low, high).astype(name)
    if name == _wide(name):
        return drawn
    return where(less(drawn, high), drawn, low)  # rounded up to the end, which does not belong to it


def random_normal(shape, mean, std, name):
    wide = _wide(name)
    return (paddle.randn(list(shape), wide) * std + mean).astype(name)


def random_integers(shape, low, high, name):
    return paddle.randint(low, high, list(shape), "int64").astype(name)


def random_permutation(n):
    return paddle.randperm(n, "int64")


def random_uniform_like(x, low=0.0, high=1.0):
    return random_uniform(x.shape, low, high, dtype_name(x))


def random_normal_like(x, mean=0.0, std=1.0):
    return random_normal(x.shape, mean, std, dtype_name(x))
