"""Recurrence: the whole sequence in one of TensorFlow's kernels, forward and backward."""

import tensorflow as tf


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None):
    size = recurrent_kernel.shape[0]
    zeros = tf.zeros((tf.shape(x)[0], size), x.dtype)
    outputs, cells = _lstm(
        tf.transpose(x, (1, 0, 2)), tf.concat((kernel, recurrent_kernel), 0), tf.convert_to_tensor(bias),
        zeros if hidden is None else hidden, zeros if cell is None else cell)  # fmt: skip
    return tf.transpose(outputs, (1, 0, 2)), outputs[-1], cells[-1]


@tf.custom_gradient
def _lstm(x, weights, bias, hidden, cell):
    """Hidden and cell states (steps, N, H) of x (steps, N, in); TensorFlow registers the gradient of another gate order."""
    none = tf.zeros_like(bias[: bias.shape[0] // 4])
    given = {
        "seq_len_max": tf.shape(x, tf.int64)[0], "x": x, "cs_prev": cell, "h_prev": hidden, "w": weights, "wci": none,
        "wcf": none, "wco": none, "b": bias,
    }  # fmt: skip
    made = tf.raw_ops.BlockLSTMV2(**given, cell_clip=0.0, use_peephole=False)

    def gradient(hidden_gradient, cell_gradient):
        found = tf.raw_ops.BlockLSTMGradV2(
            **given, **made._asdict(), cs_grad=cell_gradient, h_grad=hidden_gradient, use_peephole=False)  # fmt: skip
        return found.x_grad, found.w_grad, found.b_grad, found.h_prev_grad, found.cs_prev_grad

    return (made.h, made.cs), gradient
