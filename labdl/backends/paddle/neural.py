"""PaddlePaddle's linear layers, normalisation, dropout and embedding."""

import paddle.nn.functional as F
from paddle import _C_ops

from labdl.backends.paddle.arrays import picked
from labdl.backends.paddle.operands import FLOAT32, HALVES, INT64, cast, in_dtype
from labdl.backends.paddle.precision import any_precision
from labdl.backends.paddle.recurrence import thawed


@any_precision
def linear(x, kernel, bias=None):
    if bias is not None and x.ndim == 2 and not bias.stop_gradient:  # addmm's gradient crashes on a frozen bias
        return _C_ops.addmm(bias, x, kernel, 1.0, 1.0)
    y = _C_ops.matmul(x, kernel, False, False)
    return y if bias is None else _C_ops.add(y, bias)


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    if x.dtype in HALVES:
        return _narrow_batch_norm(x, scale, offset, mean, variance, training=training, momentum=momentum, epsilon=epsilon,
                                  axis=axis)  # fmt: skip
    last = x.ndim - 1
    axis %= x.ndim
    if axis not in (1, last):
        return batch_norm(x.moveaxis(axis, 1), scale, offset, mean, variance, training=training, momentum=momentum,
                          epsilon=epsilon).moveaxis(1, axis)  # fmt: skip
    layout = "NCHW" if axis == 1 else "NHWC"
    if scale.stop_gradient != offset.stop_gradient:  # neither would get a gradient
        scale, offset = thawed(scale), thawed(offset)
    count = x.size // x.shape[axis]
    if training and count == 1:  # Paddle gives the value itself
        flat = _C_ops.reshape(x, [-1]).detach()
        _C_ops.assign_out_(
            _C_ops.add(_C_ops.scale(mean, 1 - momentum, 0.0, True), _C_ops.scale(flat, momentum, 0.0, True)), mean
        )
        _C_ops.assign_out_(_C_ops.scale(variance, 1 - momentum, 0.0, True), variance)
        x, training = _C_ops.subtract(x, x), False
        mean, variance = _C_ops.scale(mean, 0.0, 0.0, True), _C_ops.scale(variance, 0.0, 0.0, True)
    if not training:
        return F.batch_norm(x, mean, variance, scale, offset, training, 1 - momentum, epsilon, layout)
    # Paddle mixes in the biased variance; scaled before and after, it is the unbiased one
    moving = _C_ops.scale(variance, (count - 1) / count, 0.0, True)
    y = F.batch_norm(x, mean, moving, scale, offset, True, 1 - momentum, epsilon, layout)
    _C_ops.assign_out_(_C_ops.scale(moving, count / (count - 1), 0.0, True), variance)
    return y


def _narrow_batch_norm(x, scale, offset, *moving, **options):
    wide = [in_dtype(t, FLOAT32) for t in (x, scale, offset, *moving)]
    y = batch_norm(*wide, **options)
    for kept, moved in zip(moving, wide[3:], strict=True):
        if kept is not moved:
            _C_ops.assign_out_(cast(moved, kept.dtype), kept)
    return cast(y, x.dtype)


@any_precision
def layer_norm(x, scale, offset, epsilon=1e-5):
    if x.ndim == scale.ndim or scale.shape != offset.shape:  # the kernel wants an axis that is not normalised
        return NotImplemented
    if not x.stop_gradient:  # the gradient of x forgets a frozen scale
        scale = thawed(scale)
    return F.layer_norm(x, scale.shape, scale.flatten(), offset.flatten(), epsilon)


@any_precision
def dropout(x, rate, training=False):
    return F.dropout(x, rate, training=training)


def embedding(indices, table):
    """Paddle's own reads before the table at position -1."""
    places = in_dtype(indices, INT64)
    rows = picked(table, _C_ops.reshape(places, [-1]), 0)
    return rows if places.ndim == 1 else _C_ops.reshape(rows, [*places.shape, table.shape[1]])
