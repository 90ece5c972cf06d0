"""PaddlePaddle's linear layers, normalization, dropout and embedding."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

import math

import paddle
import paddle.nn.functional as F

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arrays import take_rows
from labdl.backends.paddle.call_recorder import reads_values, refuse_negative
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.backends.paddle.dtypes import FLOAT32, HALVES, INT64, cast, in_dtype
from labdl.backends.paddle.frozen_inputs import trainable_copy

LARGE_MEAN = 300  # in standard deviations: where the rounding of the kernel's mean moves results by about .003


@any_precision
def linear(x, kernel, bias=None):
    if bias is not None and x.ndim == 2 and not bias.stop_gradient:  # addmm's gradient crashes on a frozen bias
        return kernels.addmm(bias, x, kernel, 1.0, 1.0)
    y = kernels.matmul(x, kernel, False, False)
    return y if bias is None else kernels.add(y, bias)


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    if x.dtype in HALVES:
        return _narrow_batch_norm(
            x, scale, offset, mean, variance, training=training, momentum=momentum, epsilon=epsilon, axis=axis
        )
    last = x.ndim - 1
    axis %= x.ndim
    if last > 4 and axis == 1:  # the kernel supports five axes
        flat = x.flatten(2)
        y = batch_norm(flat, scale, offset, mean, variance, training=training, momentum=momentum, epsilon=epsilon)
        return kernels.reshape(y, x.shape)
    if axis != 1 and (axis != last or last > 4):
        return batch_norm(
            x.moveaxis(axis, 1), scale, offset, mean, variance, training=training, momentum=momentum, epsilon=epsilon
        ).moveaxis(1, axis)
    layout = "NCHW" if axis == 1 else "NHWC"
    if scale.stop_gradient != offset.stop_gradient:  # otherwise neither would get a gradient
        scale, offset = trainable_copy(scale), trainable_copy(offset)
    count = math.prod(x.shape) // x.shape[axis]
    if training and count == 1:  # Paddle stores the value itself
        flat = kernels.reshape(x, [-1]).detach()
        kernels.assign_out_(
            kernels.add(kernels.scale(mean, 1 - momentum, 0.0, True), kernels.scale(flat, momentum, 0.0, True)), mean
        )
        kernels.assign_out_(kernels.scale(variance, 1 - momentum, 0.0, True), variance)
        x, training = kernels.subtract(x, x), False
        mean, variance = kernels.scale(mean, 0.0, 0.0, True), kernels.scale(variance, 0.0, 0.0, True)
    if not training:
        return F.batch_norm(x, mean, variance, scale, offset, training, 1 - momentum, epsilon, layout)
    # Paddle uses the biased variance; scaled before and after, it is the unbiased one
    moving = kernels.scale(variance, (count - 1) / count, 0.0, True)
    settings = x, mean, moving, scale, offset, momentum, epsilon, layout
    if x.dtype == FLOAT32 and reads_values(x):
        y = _even_batch_norm(*settings)
    else:
        y = F.batch_norm(*settings[:5], True, 1 - momentum, epsilon, layout)
    kernels.assign_out_(kernels.scale(moving, count / (count - 1), 0.0, True), variance)
    return y


def _even_batch_norm(x, mean, variance, scale, offset, momentum, epsilon, layout):
    """In training, also where the values of a channel differ by less than the rounding of the kernel's mean.

    That has five digits: such a batch is computed again, of its differences from the first value of each channel, whose mean is
    exact where all are equal. To do so for every batch takes ten times as long as the kernel.
    """
    last = (False, 1 - momentum, epsilon, layout, False, False)
    y, _, _, *statistics, _ = kernels.batch_norm(x, mean, variance, scale, offset, *last)
    means, inverses = (t.numpy() for t in statistics)
    if not LARGE_MEAN < (abs(means) * inverses).max(initial=0) < math.inf:
        return y
    axis = 1 if layout == "NCHW" else x.ndim - 1
    first = x.detach()[tuple(slice(None) if d == axis else slice(1) for d in range(x.ndim))]
    moving = paddle.zeros_like(mean), paddle.zeros_like(mean)
    y = F.batch_norm(x - first, *moving, scale, offset, True, 0.0, epsilon, layout)
    corrections = first.flatten() + moving[0] - statistics[0], moving[1] + epsilon - statistics[1] ** -2
    for state, correction in zip((mean, variance), corrections, strict=True):
        kernels.assign_out_(kernels.add(state, kernels.scale(correction, momentum, 0.0, True)), state)
    return y


def _narrow_batch_norm(x, scale, offset, *moving, **options):
    wide = [in_dtype(t, FLOAT32) for t in (x, scale, offset, *moving)]
    y = batch_norm(*wide, **options)
    for kept, moved in zip(moving, wide[3:], strict=True):
        if kept is not moved:
            kernels.assign_out_(cast(moved, kept.dtype), kept)
    return cast(y, x.dtype)


@any_precision
def layer_norm(x, scale, offset, epsilon=1e-5):
    if x.ndim == scale.ndim or scale.shape != offset.shape:  # the kernel needs an axis that is not normalized
        return NotImplemented
    if not x.stop_gradient:  # the gradient of x ignores a frozen scale
        scale = trainable_copy(scale)
    return F.layer_norm(x, scale.shape, scale.flatten(), offset.flatten(), epsilon)


@any_precision
def dropout(x, rate, training=False):
    return F.dropout(x, rate, training=training)


def embedding(indices, table):
    """Paddle's own reads before the table for index -1."""
    places = in_dtype(indices, INT64)
    refuse_negative(places, "embedding")
    rows = take_rows(table, kernels.reshape(places, [-1]), 0)
    return rows if places.ndim == 1 else kernels.reshape(rows, [*places.shape, table.shape[1]])
