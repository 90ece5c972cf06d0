"""MindSpore's spelling of activations."""

from mindspore import ops
from mindspore.ops import operations as P

relu = P.ReLU()
silu, softplus, hardswish, hardsigmoid, softsign = ops.silu, ops.softplus, ops.hardswish, ops.hardsigmoid, ops.softsign


def leaky_relu(x, negative_slope=0.01):
    return ops.leaky_relu(x, negative_slope)
