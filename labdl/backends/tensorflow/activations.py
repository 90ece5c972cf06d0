"""Activations as single kernels, or in few."""

import math

import tensorflow as tf

from labdl.backends.tensorflow.arithmetic import erf, needs_gradient
from labdl.backends.tensorflow.dtypes import HALVES, floating

_raw = tf.raw_ops

relu, silu = tf.nn.relu, tf.nn.silu
sigmoid = floating(lambda x: _raw.Sigmoid(x=x))
relu6, softsign = tf.nn.relu6, tf.nn.softsign


def softplus(x, beta=1.0):
    return tf.math.softplus(x) if beta == 1 else tf.math.softplus(x * beta) * (1 / beta)


def logsigmoid(x):
    return tf.math.log_sigmoid(x)


def mish(x):
    return x * tf.tanh(tf.math.softplus(x))


def gelu(x, approximate="none"):
    if approximate not in ("none", "tanh"):
        raise ValueError(f'gelu wants approximate="none" or "tanh", received {approximate!r}')
    if approximate == "tanh":
        inner = (x + tf.square(x) * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * 0.5 * (tf.tanh(inner) + 1)
    return x * 0.5 * (erf(x * math.sqrt(0.5)) + 1)


def leaky_relu(x, negative_slope=0.01):
    if x.dtype is tf.float64:  # the kernel holds its slope in float32
        return tf.where(x > 0, x, x * negative_slope)
    return tf.nn.leaky_relu(x, negative_slope)


def elu(x, alpha=1.0):
    y = tf.nn.elu(x)
    return y if alpha == 1 else tf.where(x > 0, x, alpha * y)


@tf.custom_gradient
def _selu(x):
    """The kernel's slope at 0 is that of positive elements: the gradient's kernel gets a number below 0 there."""
    y = tf.nn.selu(x)
    below = tf.constant(-1e-7 if x.dtype is tf.float16 else -1e-30, x.dtype)
    return y, lambda gradient: _raw.SeluGrad(gradients=gradient, outputs=tf.where(tf.equal(x, 0), below, y))


def selu(x):
    return _selu(tf.convert_to_tensor(x)) if needs_gradient() else tf.nn.selu(x)


def celu(x, alpha=1.0):
    y = tf.nn.elu(x * (1 / alpha))
    return tf.where(x > 0, x, alpha * y)


def hardtanh(x, low=-1.0, high=1.0):
    """The slope of a kernel of two operands goes to the first of equal ones: to the limits, where the slope is 0."""
    if not x.dtype.is_floating:
        return NotImplemented
    return _raw.Minimum(x=tf.constant(high, x.dtype), y=_raw.Maximum(x=tf.constant(low, x.dtype), y=x))


def hardsigmoid(x):
    return tf.nn.relu6(x + 3) * (1 / 6)


def hardswish(x):
    return x * (tf.nn.relu6(x + 3) * (1 / 6))


def prelu(x, slope, *, axis=1):
    rank, axis = x.shape.rank, axis % max(x.shape.rank, 1)
    if slope.shape.num_elements() == 1 and slope.shape.rank < 2:
        return tf.where(x > 0, x, x * slope)
    slope = tf.reshape(slope, [-1 if a == axis else 1 for a in range(rank)])
    return tf.where(x > 0, x, x * slope)


def softmax(x, axis=-1):
    if axis.__class__ is not int:  # TensorFlow reads None as the last axis, and fractions
        raise TypeError("an axis is an integer")
    return tf.nn.softmax(x, axis)


def log_softmax(x, axis=-1):
    if axis.__class__ is not int:
        raise TypeError("an axis is an integer")
    if x.dtype in HALVES:  # its gradient sums over the axis, which may be more than the largest number of float16
        return tf.cast(tf.nn.log_softmax(tf.cast(x, tf.float32), axis), x.dtype)
    return tf.nn.log_softmax(x, axis)
