"""Recurrence as loops over the steps, with every product that need not wait for its step taken out of them.

TensorFlow's BlockLSTM kernel costs 1.7 times Keras's LSTM: it sums the gradient of the weights step by step.
"""

import tensorflow as tf


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None):
    size, features = recurrent_kernel.shape[0], x.shape[-1]
    batch, steps = tf.shape(x)[0], tf.shape(x)[1] if x.shape[1] is None else x.shape[1]
    by_step = tf.transpose(x, (1, 0, 2))
    inputs = tf.nn.bias_add(tf.matmul(tf.reshape(by_step, (-1, features)), kernel), bias)
    zeros = tf.zeros((batch, size), x.dtype)
    states = (zeros if state is None else state for state in (hidden, cell))
    inputs = tf.reshape(inputs, (steps, batch, 4 * size))
    outputs, cells = _recur(inputs, *map(tf.convert_to_tensor, (recurrent_kernel, *states)))
    return tf.transpose(outputs, (1, 0, 2)), outputs[-1], cells[-1]


@tf.custom_gradient
def _recur(inputs, weights, hidden, cell):
    """Hidden and cell states (steps, N, H) from the projected inputs (steps, N, 4H)."""
    steps, size = tf.shape(inputs)[0], weights.shape[0]

    def forward(t, h, c, outputs, cells, gates):
        i, f, g, o = tf.split(tf.gather(inputs, t) + tf.matmul(h, weights), 4, -1)
        i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
        c = f * c + i * g
        h = o * tf.tanh(c)
        return t + 1, h, c, outputs.write(t, h), cells.write(t, c), gates.write(t, tf.concat((i, f, g, o), -1))

    start = (0, hidden, cell, *_arrays(3, inputs, steps))
    _, _, _, *made = tf.while_loop(lambda t, *_: t < steps, forward, start, parallel_iterations=1)
    outputs, cells, gates = (a.stack() for a in made)

    def gradient(output_gradient, cell_gradient):
        earlier_outputs = tf.concat((hidden[None], outputs[:-1]), 0)
        earlier_cells = tf.concat((cell[None], cells[:-1]), 0)
        bent = tf.tanh(cells)
        i, f, g, o = tf.split(gates, 4, -1)
        # each gate's gradient is a factor known for all steps times the gradient of cell or hidden state of its step
        factors = (g * i * (1 - i), earlier_cells * f * (1 - f), i * (1 - g * g), bent * o * (1 - o), f)
        known = tf.concat((*factors, o * (1 - bent * bent), output_gradient, cell_gradient), -1)

        def backward(t, dh, dc, found):
            di, df, dg, do, keep, through, from_output, from_cell = tf.split(tf.gather(known, t), 8, -1)
            dh += from_output
            dc += from_cell + dh * through
            dz = tf.concat((di * dc, df * dc, dg * dc, do * dh), -1)
            return t - 1, tf.matmul(dz, weights, transpose_b=True), dc * keep, found.write(t, dz)

        start = (steps - 1, tf.zeros_like(hidden), tf.zeros_like(cell), *_arrays(1, inputs, steps))
        _, dh, dc, found = tf.while_loop(lambda t, *_: t >= 0, backward, start, parallel_iterations=1)
        dz = found.stack()
        flat = tf.reshape(dz, (-1, 4 * size))
        return dz, tf.matmul(tf.reshape(earlier_outputs, (-1, size)), flat, transpose_a=True), dh, dc

    return (outputs, cells), gradient


def _arrays(count, like, steps):
    return [tf.TensorArray(like.dtype, steps) for _ in range(count)]
