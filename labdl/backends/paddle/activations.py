"""PaddlePaddle implementations of activation functions."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

import math

import numpy as np
import paddle
import paddle.nn.functional as F

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import maximum, where
from labdl.backends.paddle.call_recorder import has_python_gradients
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.backends.paddle.dtypes import FLOAT32, HALVES, INTEGERS, each, full_tensor, in_wider_dtype

_of_whole_numbers = in_wider_dtype(lambda x: maximum(x, 0))


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


def _relu(x):
    if x.stop_gradient:
        return kernels.clip(x, 0.0, math.inf)
    # in a program the slope of hardtanh at 0 is 0, that of clip is 1
    return _Relu.apply(x) if has_python_gradients() else kernels.hardtanh(x, 0.0, math.inf)


_of_fractions = in_wider_dtype(_relu, dict.fromkeys(HALVES, FLOAT32))


def relu(x):
    """Paddle's own relu returns 0 for NaN."""
    kind = x.dtype
    if kind is FLOAT32:
        return _relu(x)
    return _of_whole_numbers(x) if kind in INTEGERS else _of_fractions(x)


class _Silu(paddle.autograd.PyLayer):
    """The kernel's gradient is NaN where exp(-x) overflows: there it gets the last x before."""

    @staticmethod
    def forward(ctx, x):
        y = kernels.silu(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensor()
        least = -84.0 if x.dtype is FLOAT32 else -700.0
        return kernels.silu_grad(kernels.clip(x, least, math.inf), y, gradient)


@each
def silu(x):
    if x.stop_gradient:
        return kernels.silu(x)
    return _Silu.apply(x) if has_python_gradients() else kernels.multiply(x, F.sigmoid(x))


sigmoid, softsign = each(F.sigmoid), each(kernels.softsign)
hardswish, tanhshrink = each(kernels.hardswish), each(kernels.tanh_shrink)


@in_wider_dtype
def hardtanh(x, low=-1.0, high=1.0):
    """As a clip, with slope 0 at the limits; the kernel rounds these to float32."""
    if isinstance(low, str) or isinstance(high, str):  # a number for `float`
        return NotImplemented
    if x.dtype is FLOAT32 or (float(np.float32(low)) == low and float(np.float32(high)) == high):
        return kernels.hardtanh(x, float(low), float(high))
    bounds = (full_tensor([], n, x.dtype) for n in (low, high))
    inside = kernels.logical_and(
        *(compare(x, n) for compare, n in zip((paddle.greater_than, kernels.less_than), bounds, strict=True))
    )
    return where(inside, x, kernels.clip(x.detach(), low, high))


@any_precision
def gelu(x, approximate="none"):
    return NotImplemented if approximate not in ("none", "tanh") else F.gelu(x, approximate == "tanh")


@in_wider_dtype
def softplus(x, beta=1.0):
    return F.softplus(x, float(beta), 88.0)  # Paddle becomes linear at 20, which is inaccurate in float64


def relu6(x):
    return hardtanh(x, 0.0, 6.0)


class _LeakyRelu(paddle.autograd.PyLayer):
    """The kernel's slope at 0 is 1: its gradient gets a number below 0 there."""

    @staticmethod
    def forward(ctx, x, slope):
        ctx.slope = slope
        ctx.save_for_backward(x)
        return F.leaky_relu(x, slope)

    @staticmethod
    def backward(ctx, gradient):
        below = kernels.scale(ctx.saved_tensor()[0], 1.0, -1e-30, True)
        return kernels.leaky_relu_grad(below, gradient, ctx.slope)


@in_wider_dtype
def leaky_relu(x, negative_slope=0.01):
    if x.stop_gradient:
        return F.leaky_relu(x, float(negative_slope))
    if has_python_gradients():
        return _LeakyRelu.apply(x, float(negative_slope))
    return where(
        paddle.greater_than(x, full_tensor([], 0, x.dtype)), x, kernels.scale(x, float(negative_slope), 0.0, True)
    )


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
    """By `elu`: the gradient of Paddle's own is NaN where exp(x) overflows."""
    if alpha == 1:
        return F.elu(x, 1.0)
    return kernels.scale(F.elu(kernels.scale(x, 1 / alpha, 0.0, True), 1.0), float(alpha), 0.0, True)


selu = _rounded_constants(each(lambda x: kernels.selu(x, 1.0507009873554805, 1.6732632423543772)))


@each
def hardsigmoid(x):
    if x.dtype is FLOAT32:
        return kernels.hardsigmoid(x, 1 / 6, 0.5)
    return kernels.hardtanh(kernels.scale(x, 1 / 6, 0.5, True), 0.0, 1.0)


@in_wider_dtype
def softmax(x, axis=-1):
    """In long rows Paddle counts no element as more than 64 below the largest: no result is 0, and a row of -inf is even."""
    return kernels.softmax(x, axis)


@any_precision
def log_softmax(x, axis=-1):
    """Paddle's own log_softmax is at least -64."""
    if not x.ndim or 0 in x.shape:
        return NotImplemented
    return kernels.subtract(x, paddle.logsumexp(x, [axis], True, False))
