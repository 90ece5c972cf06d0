"""PaddlePaddle implementations of activation functions."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

import math

import paddle
import paddle.nn.functional as F
from paddle import in_dynamic_mode

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import maximum
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.backends.paddle.dtypes import FLOAT32, HALVES, INTEGERS, each, in_wider_dtype

_of_whole_numbers = in_wider_dtype(lambda x: maximum(x, 0))
_of_fractions = in_wider_dtype(lambda x: kernels.clip(x, 0.0, math.inf), dict.fromkeys(HALVES, FLOAT32))


class _Relu(paddle.autograd.PyLayer):
    """The gradient of clip would keep x; that of this kernel needs the result only, which the next layer keeps too."""

    @staticmethod
    def forward(ctx, x):
        y = kernels.clip(x, 0.0, math.inf)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        return kernels.relu_grad(*ctx.saved_tensor(), gradient)


def relu(x):
    """Paddle's own relu returns 0 for NaN."""
    kind = x.dtype
    if kind is FLOAT32:
        plain = x.stop_gradient or not in_dynamic_mode()
        return kernels.clip(x, 0.0, math.inf) if plain else _Relu.apply(x)
    return _of_whole_numbers(x) if kind in INTEGERS else _of_fractions(x)


sigmoid, silu, softsign = each(F.sigmoid), each(kernels.silu), each(kernels.softsign)
hardswish, tanhshrink = each(kernels.hardswish), each(kernels.tanh_shrink)


@any_precision
def gelu(x, approximate="none"):
    return NotImplemented if approximate not in ("none", "tanh") else F.gelu(x, approximate == "tanh")


@in_wider_dtype
def softplus(x, beta=1.0):
    return F.softplus(x, float(beta), 88.0)  # Paddle becomes linear at 20, which is inaccurate in float64


@in_wider_dtype
def leaky_relu(x, negative_slope=0.01):
    return F.leaky_relu(x, float(negative_slope))


def _rounded_constants(function):
    """For kernels whose constants have the precision of float32: in float64 the composite computes."""

    def call(x, *args, **kwargs):
        return NotImplemented if x.dtype == paddle.float64 else function(x, *args, **kwargs)

    return call


@_rounded_constants
@in_wider_dtype
def elu(x, alpha=1.0):
    return F.elu(x, float(alpha))


@_rounded_constants
@in_wider_dtype
def celu(x, alpha=1.0):
    return F.celu(x, float(alpha))


selu = _rounded_constants(each(lambda x: kernels.selu(x, 1.0507009873554805, 1.6732632423543772)))
hardsigmoid = _rounded_constants(each(lambda x: kernels.hardsigmoid(x, 1 / 6, 0.5)))


@in_wider_dtype
def softmax(x, axis=-1):
    return kernels.softmax(x, axis)


@any_precision
def log_softmax(x, axis=-1):
    """Paddle's own log_softmax is at least -64."""
    return kernels.subtract(x, paddle.logsumexp(x, [axis], True, False)) if x.size and x.ndim else NotImplemented
