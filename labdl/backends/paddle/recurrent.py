"""PaddlePaddle's attention and recurrence."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false, reportAssignmentType=false

import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.backends.paddle.dtypes import INT64, as_tensor, cast, full_tensor, in_dtype, integer_range
from labdl.backends.paddle.frozen_inputs import trainable_copy


def _lower(rows, columns):
    return paddle.tril(paddle.ones([rows, columns], "bool"))


@any_precision
def causal_mask(scores):
    return paddle.where(_lower(*scores.shape[-2:]), scores, paddle.full([], -float("inf"), scores.dtype))


@any_precision
def scaled_dot_product_attention(query, key, value, mask=None, causal=False, *, scale=None, rate=0.0, training=False):
    if (rate and training) or query.shape[:-2] != key.shape[:-2] or key.shape[:-2] != value.shape[:-2]:
        return NotImplemented
    scale = query.shape[-1] ** -0.5 if scale is None else float(scale)
    scores = kernels.matmul(kernels.scale(query, scale, -0.0, True), key, False, True)
    if mask is None:
        scores = causal_mask(scores) if causal else scores
        return kernels.matmul(kernels.softmax(scores, -1), value, False, False)
    mask = as_tensor(mask)
    if mask.dtype != paddle.bool:
        return NotImplemented
    allowed = kernels.logical_and(mask, _lower(*scores.shape[-2:])) if causal else mask
    # finite, because a row of infinities would give NaN; masked keys get zero weight, also in such a row
    scores = paddle.where(allowed, scores, paddle.full([], -1e30, scores.dtype))
    weights = paddle.where(allowed, kernels.softmax(scores, -1), paddle.zeros([], scores.dtype))
    return kernels.matmul(weights, value, False, False)


def _backwards(x, lengths):
    """Steps (steps, N, …) in the opposite order; padding of shorter sequences stays at the end."""
    if lengths is None:
        return kernels.flip(x, [0])
    steps = integer_range(x.shape[0]).unsqueeze(-1)
    places = paddle.where(steps < lengths, lengths - 1 - steps, steps).unsqueeze(-1)
    return kernels.take_along_axis(x, kernels.expand(places, x.shape), 0)


def _recurrent(mode, x, kernel, recurrent_kernel, biases, states, lengths, reverse):
    """Outputs and last states of Paddle's recurrent networks of one layer and direction; steps come first."""
    size, features = recurrent_kernel.shape[0], kernel.shape[0]
    if 0 in x.shape:
        return NotImplemented
    if lengths is not None:  # the kernel reads invalid memory for a length above the number of steps
        lengths = in_dtype(as_tensor(lengths), INT64)
        lengths = kernels.minimum(lengths, full_tensor([], x.shape[1], INT64))
        lengths = kernels.maximum(lengths, full_tensor([], 0, INT64))
    zeros = paddle.zeros([1, x.shape[0], size], x.dtype)
    states = [zeros if s is None else s.unsqueeze(0) for s in states]
    if not all(t.stop_gradient for t in (x, kernel, recurrent_kernel, *biases, *states)):
        kernel, recurrent_kernel, *biases = map(trainable_copy, (kernel, recurrent_kernel, *biases))
    weights = [kernel.t(), recurrent_kernel.t(), *biases]
    turned = x.transpose([1, 0, 2])
    turned = _backwards(turned, lengths) if reverse else turned
    ends = None if lengths is None else cast(lengths, paddle.int32)
    y, _, last = kernels.rnn(
        turned,
        states,
        weights,
        ends,
        paddle.empty([0], "uint8"),
        0.0,
        False,
        features,
        size,
        1,
        mode,
        0,
        not paddle.is_grad_enabled(),
    )
    y = _backwards(y, lengths) if reverse else y
    return y.transpose([1, 0, 2]), *(s.squeeze(0) for s in last)


@any_precision
def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None, *, lengths=None, reverse=False):
    biases = (bias, paddle.zeros_like(bias))
    return _recurrent("LSTM", x, kernel, recurrent_kernel, biases, (hidden, cell), lengths, reverse)


@any_precision
def gru(x, kernel, recurrent_kernel, bias, recurrent_bias, hidden=None, *, lengths=None, reverse=False):
    return _recurrent("GRU", x, kernel, recurrent_kernel, (bias, recurrent_bias), (hidden,), lengths, reverse)


@any_precision
def rnn(x, kernel, recurrent_kernel, bias, hidden=None, *, activation="tanh", lengths=None, reverse=False):
    if activation != "tanh":  # the kernel's relu returns 0 for NaN
        return NotImplemented
    return _recurrent(
        "RNN_TANH", x, kernel, recurrent_kernel, (bias, paddle.zeros_like(bias)), (hidden,), lengths, reverse
    )
