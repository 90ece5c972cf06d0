"""Recurrence as loops over the steps, with all products that do not depend on earlier steps outside of them.

TensorFlow's BlockLSTM kernel costs 1.7 times Keras's LSTM: it sums the gradient of the weights step by step. Few steps are
unrolled, which is a sixth faster than a loop in a graph; many would take long to compile.
"""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportCallIssue=false

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import promote_operands, sizes


def _network(recur):
    """A network from ``recur(projected inputs (steps, N, gates), recurrent weights, initial states)``.

    It returns the states (steps, N, H) after each step, the output first. The loop can ignore the lengths: values after the end
    of a sequence do not affect earlier ones.
    """

    def call(x, kernel, bias, weights, states, lengths, reverse):
        x, kernel, bias, *weights = promote_operands(x, kernel, bias, *weights)
        if lengths is not None:
            lengths = tf.clip_by_value(tf.cast(lengths, tf.int64), 0, tf.shape(x, tf.int64)[1])
        x = _backwards(x, lengths) if reverse else x
        size, features = weights[0].shape[0], x.shape[-1]
        batch, steps, _ = sizes(x)
        by_step = tf.transpose(x, (1, 0, 2))
        inputs = tf.nn.bias_add(tf.matmul(tf.reshape(by_step, (-1, features)), kernel), bias)
        zeros = tf.zeros((batch, size), x.dtype)
        start = [zeros if s is None else tf.cast(s, x.dtype) for s in states]
        found = recur(tf.reshape(inputs, (steps, batch, kernel.shape[1])), *weights, *start)
        outputs = tf.transpose(found[0], (1, 0, 2))
        if lengths is None:
            return _backwards(outputs, None) if reverse else outputs, *(f[-1] for f in found)
        inside = tf.sequence_mask(lengths, steps)[:, :, None]
        outputs = tf.where(inside, outputs, tf.zeros_like(outputs))
        last = tf.stack((lengths, tf.range(tf.cast(batch, tf.int64))), 1)
        ends = (tf.gather_nd(tf.concat((s[None], f), 0), last) for s, f in zip(start, found, strict=True))
        return _backwards(outputs, lengths) if reverse else outputs, *ends

    return call


def _backwards(x, lengths):
    """(N, steps, ...) with each sequence's steps in the opposite order."""
    return tf.reverse(x, (1,)) if lengths is None else tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)


_FEW = 100


def _steps(inputs, step, states, kept):
    """Run ``step(input, *states)``, which returns new states and values to keep; returns the kept values, stacked."""
    steps = inputs.shape[0]
    if steps and steps <= _FEW:
        found = []
        for now in tf.unstack(inputs):
            states, values = step(now, *states)
            found.append(values)
        return [tf.stack(each) for each in zip(*found, strict=True)]
    if steps is None:
        steps = tf.shape(inputs)[0]

    def body(t, states, arrays):
        states, values = step(tf.gather(inputs, t), *states)
        return t + 1, states, tuple(a.write(t, v) for a, v in zip(arrays, values, strict=True))

    arrays = tuple(tf.TensorArray(inputs.dtype, steps) for _ in range(kept))
    *_, arrays = tf.while_loop(lambda t, *_: t < steps, body, (0, tuple(states), arrays), parallel_iterations=1)
    return [a.stack() for a in arrays]


def _steps_back(known, weights, dh, dc, step):
    """The gradients of all projected inputs and of the initial states, from the kept values of each step.

    ``step(kept values, dh, dc)`` returns the values to keep, the gradient of the recurrent product, other gradients of the
    previous hidden state, and the new dc.
    """

    def once(now, dh, dc):
        kept, product, beside, dc = step(now, dh, dc)
        dh = tf.matmul(product, weights, transpose_b=True)
        return kept, dh if beside is None else dh + beside, dc

    steps = known.shape[0]
    if steps and steps <= _FEW:
        found = []
        for now in reversed(tf.unstack(known)):
            kept, dh, dc = once(now, dh, dc)
            found.append(kept)
        return tf.stack(found[::-1]), dh, dc
    if steps is None:
        steps = tf.shape(known)[0]

    def body(t, dh, dc, found):
        kept, dh, dc = once(tf.gather(known, t), dh, dc)
        return t - 1, dh, dc, found.write(t, kept)

    start = (steps - 1, dh, dc, tf.TensorArray(known.dtype, steps))
    _, dh, dc, found = tf.while_loop(lambda t, *_: t >= 0, body, start, parallel_iterations=1)
    return found.stack(), dh, dc


def _flat(x):
    return tf.reshape(x, (-1, x.shape[-1]))


def _weights_gradient(initial, outputs, products):
    """Gradient of the recurrent weights: states before each step times the gradients of their products."""
    return tf.matmul(_flat(tf.concat((initial[None], outputs[:-1]), 0)), _flat(products), transpose_a=True)


@_network
@tf.custom_gradient
def _lstm(inputs, weights, hidden, cell):
    def forward(now, h, c):
        i, f, g, o = tf.split(now + tf.matmul(h, weights), 4, -1)
        i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
        c = f * c + i * g
        h = o * tf.tanh(c)
        return (h, c), (h, c, i, f, g, o)

    outputs, cells, i, f, g, o = _steps(inputs, forward, (hidden, cell), 6)

    def gradient(output_gradient, cell_gradient):
        earlier_cells = tf.concat((cell[None], cells[:-1]), 0)
        bent = tf.tanh(cells)
        # each gate's gradient is a factor known for all steps times the gradient of cell or hidden state of its step
        factors = (g * i * (1 - i), earlier_cells * f * (1 - f), i * (1 - g * g), bent * o * (1 - o), f)
        known = tf.concat((*factors, o * (1 - bent * bent), output_gradient, cell_gradient), -1)

        def backward(now, dh, dc):
            di, df, dg, do, keep, through, from_output, from_cell = tf.split(now, 8, -1)
            dh += from_output
            dc += from_cell + dh * through
            dz = tf.concat((di * dc, df * dc, dg * dc, do * dh), -1)
            return dz, dz, None, dc * keep

        dz, dh, dc = _steps_back(known, weights, tf.zeros_like(hidden), tf.zeros_like(cell), backward)
        return dz, _weights_gradient(hidden, outputs, dz), dh, dc

    return (outputs, cells), gradient


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None, *, lengths=None, reverse=False):
    return _lstm(x, kernel, bias, (recurrent_kernel,), (hidden, cell), lengths, reverse)


@_network
@tf.custom_gradient
def _gru(inputs, weights, bias, hidden):
    def forward(now, h):
        past = tf.nn.bias_add(tf.matmul(h, weights), bias)
        (r, u, n), (past_r, past_u, past_n) = tf.split(now, 3, -1), tf.split(past, 3, -1)
        r, u = tf.sigmoid(r + past_r), tf.sigmoid(u + past_u)
        n = tf.tanh(n + r * past_n)
        h = n + u * (h - n)
        return (h,), (h, r, u, n, past_n)

    outputs, r, u, n, past_n = _steps(inputs, forward, (hidden,), 5)

    def gradient(output_gradient):
        earlier = tf.concat((hidden[None], outputs[:-1]), 0)
        new = (1 - u) * (1 - n * n)
        factors = (new * past_n * r * (1 - r), (earlier - n) * u * (1 - u), new, new * r, u)
        known = tf.concat((*factors, output_gradient), -1)

        def backward(now, dh, dc):
            dr, du, dn, dp, keep, from_output = tf.split(now, 6, -1)
            dh += from_output
            dr, du, dn, dp = dr * dh, du * dh, dn * dh, dp * dh
            return tf.concat((dr, du, dn, dp), -1), tf.concat((dr, du, dp), -1), keep * dh, dc

        found, dh, _ = _steps_back(known, weights, tf.zeros_like(hidden), tf.zeros((), inputs.dtype), backward)
        dr, du, dn, dp = tf.split(found, 4, -1)
        products = tf.concat((dr, du, dp), -1)
        projected = tf.concat((dr, du, dn), -1)
        return projected, _weights_gradient(hidden, outputs, products), tf.reduce_sum(products, (0, 1)), dh

    return (outputs,), gradient


def gru(x, kernel, recurrent_kernel, bias, recurrent_bias, hidden=None, *, lengths=None, reverse=False):
    return _gru(x, kernel, bias, (recurrent_kernel, recurrent_bias), (hidden,), lengths, reverse)


def _rnn(activation, slope):
    """``slope``: the activation's derivative at its result."""

    @_network
    @tf.custom_gradient
    def recur(inputs, weights, hidden):
        def forward(now, h):
            h = activation(now + tf.matmul(h, weights))
            return (h,), (h,)

        (outputs,) = _steps(inputs, forward, (hidden,), 1)

        def gradient(output_gradient):
            def backward(now, dh, dc):
                bent, from_output = tf.split(now, 2, -1)
                dz = bent * (dh + from_output)
                return dz, dz, None, dc

            known = tf.concat((slope(outputs), output_gradient), -1)
            dz, dh, _ = _steps_back(known, weights, tf.zeros_like(hidden), tf.zeros((), inputs.dtype), backward)
            return dz, _weights_gradient(hidden, outputs, dz), dh

        return (outputs,), gradient

    return recur


_RNN = {
    "tanh": _rnn(tf.tanh, lambda y: 1 - y * y),
    "relu": _rnn(tf.nn.relu, lambda y: tf.cast(y > 0, y.dtype)),
}


def rnn(x, kernel, recurrent_kernel, bias, hidden=None, *, activation="tanh", lengths=None, reverse=False):
    return _RNN[activation](x, kernel, bias, (recurrent_kernel,), (hidden,), lengths, reverse)
