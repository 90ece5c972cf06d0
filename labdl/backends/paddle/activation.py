"""PaddlePaddle's spelling of activation functions."""

import math

import paddle
from paddle import _C_ops, in_dynamic_mode

from labdl.backends.paddle.arithmetic import maximum
from labdl.backends.paddle.operands import FLOAT32, HALVES, INTEGERS, each, widened
from labdl.backends.paddle.precision import any_precision

_of_whole_numbers = widened(lambda x: maximum(x, 0))
_of_fractions = widened(lambda x: _C_ops.clip(x, 0.0, math.inf), dict.fromkeys(HALVES, FLOAT32))


class _Relu(paddle.autograd.PyLayer):
    """For its gradient clip keeps x, which nothing else in a network needs; the next layer keeps the result in any case."""

    @staticmethod
    def forward(ctx, x):
        y = _C_ops.clip(x, 0.0, math.inf)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        return _C_ops.relu_grad(*ctx.saved_tensor(), gradient)


def relu(x):
    """Paddle's own relu makes 0 of NaN."""
    kind = x.dtype
    if kind is FLOAT32:
        plain = x.stop_gradient or not in_dynamic_mode()
        return _C_ops.clip(x, 0.0, math.inf) if plain else _Relu.apply(x)
    return _of_whole_numbers(x) if kind in INTEGERS else _of_fractions(x)


sigmoid, silu, softsign = each(_C_ops.sigmoid), each(_C_ops.silu), each(_C_ops.softsign)
hardswish, tanhshrink = each(_C_ops.hardswish), each(_C_ops.tanh_shrink)


@any_precision
def gelu(x, approximate="none"):
    return NotImplemented if approximate not in ("none", "tanh") else _C_ops.gelu(x, approximate == "tanh")


@widened
def softplus(x, beta=1.0):
    return _C_ops.softplus(x, float(beta), 88.0)  # Paddle leaves the curve at 20, which float64 notices


@widened
def leaky_relu(x, negative_slope=0.01):
    return _C_ops.leaky_relu(x, float(negative_slope))


def _rounded_constants(function):
    """For kernels whose constants have the precision of float32: in float64 the composite computes."""

    def call(x, *args, **kwargs):
        return NotImplemented if x.dtype == paddle.float64 else function(x, *args, **kwargs)

    return call


@_rounded_constants
@widened
def elu(x, alpha=1.0):
    return _C_ops.elu(x, float(alpha))


@_rounded_constants
@widened
def celu(x, alpha=1.0):
    return _C_ops.celu(x, float(alpha))


selu = _rounded_constants(each(lambda x: _C_ops.selu(x, 1.0507009873554805, 1.6732632423543772)))
hardsigmoid = _rounded_constants(each(lambda x: _C_ops.hardsigmoid(x, 1 / 6, 0.5)))


@widened
def softmax(x, axis=-1):
    return _C_ops.softmax(x, axis)


@any_precision
def log_softmax(x, axis=-1):
    """Paddle's own log_softmax gives no less than -64."""
    return _C_ops.subtract(x, _C_ops.logsumexp(x, [axis], True, False)) if x.size and x.ndim else NotImplemented
