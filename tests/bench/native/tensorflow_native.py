"""Steps as an experienced TensorFlow user writes them: channels last, the fused kernels of optimizers; eager, as one
tf.function, and with XLA."""

import numpy as np
import tensorflow as tf

CHANNELS_LAST = ("cnn", "unet")  # the data set of such a user is channels-last from the start


def steps(name: str, optimizer: str, clip: float | None = None) -> dict:
    return {kind: _step(name, optimizer, clip, kind) for kind in ("eager", "compiled", "xla")}


def _step(name, optimizer, clip, kind):
    variables, forward = _made(name)
    apply = OPTIMIZERS[optimizer](variables)

    def update(inputs, targets):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, forward(inputs)))
        gradients = tape.gradient(loss, variables)
        if clip:
            gradients, _ = tf.clip_by_global_norm(gradients, clip)
        apply(gradients)
        return loss

    run = update if kind == "eager" else tf.function(update, jit_compile=kind == "xla" or None)

    def step(x, y):
        return float(run(tf.constant(_channels_last(name, x)), tf.constant(y)))

    return step


def _made(name):
    return _deep(int(name[4:])) if name.startswith("deep") else MODELS[name]()


def epochs(name: str, batch: int) -> dict:
    """A function that trains an epoch with Adam, and returns its mean loss and accuracy: read once, at the end."""
    variables, forward = _made(name)
    apply, total, right = OPTIMIZERS["adam"](variables), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)

    @tf.function(reduce_retracing=True)
    def update(inputs, targets):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            output = forward(inputs)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, output))
        apply(tape.gradient(loss, variables))
        total.assign_add(loss * tf.cast(tf.shape(inputs)[0], tf.float32))
        right.assign_add(tf.math.count_nonzero(tf.argmax(output, -1) == targets))

    def run(x, y):
        x = _channels_last(name, x)
        total.assign(0.0)
        right.assign(0)
        order = np.random.permutation(len(x))
        for at in range(0, len(x), batch):
            rows = order[at : at + batch]
            update(tf.constant(x[rows]), tf.constant(y[rows]))
        return float(total) / len(x), int(right) / len(x)

    return {"compiled": run}


def predictions(name: str, batch: int) -> dict:
    forward = tf.function(_made(name)[1], reduce_retracing=True)

    def run(x):
        x = _channels_last(name, x)
        return np.concatenate([forward(tf.constant(x[at : at + batch])).numpy() for at in range(0, len(x), batch)])

    return {"compiled": run}


_stored: dict = {}


def _channels_last(name, x):
    if name not in CHANNELS_LAST:
        return x
    if id(x) not in _stored:
        _stored[id(x)] = x.transpose(0, 2, 3, 1).copy()
    return _stored[id(x)]


# -- optimizers: each takes the variables, and returns a function of the gradients


def _zeros(variables):
    return [tf.Variable(tf.zeros_like(v)) for v in variables]


def _sgd(variables):
    def apply(gradients):
        for v, g in zip(variables, gradients, strict=True):
            tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.01, delta=g)

    return apply


def _momentum(variables, nesterov=False):
    sums = _zeros(variables)

    def apply(gradients):
        for v, m, g in zip(variables, sums, gradients, strict=True):
            tf.raw_ops.ResourceApplyMomentum(
                var=v.handle, accum=m.handle, lr=0.01, grad=g, momentum=0.9, use_nesterov=nesterov
            )

    return apply


def _adam(variables, decay=0.0):
    means, squares = _zeros(variables), _zeros(variables)
    powers = [tf.Variable(1.0), tf.Variable(1.0)]

    def apply(gradients):
        for power, beta in zip(powers, (0.9, 0.999), strict=True):
            power.assign(power * beta)
        for v, m, s, g in zip(variables, means, squares, gradients, strict=True):
            if decay:
                v.assign_sub(1e-3 * decay * v)
            tf.raw_ops.ResourceApplyAdam(
                var=v.handle,
                m=m.handle,
                v=s.handle,
                beta1_power=powers[0],
                beta2_power=powers[1],
                lr=1e-3,
                beta1=0.9,
                beta2=0.999,
                epsilon=1e-8,
                grad=g,
            )

    return apply


def _rmsprop(variables):
    squares, sums = _zeros(variables), _zeros(variables)

    def apply(gradients):
        for v, s, m, g in zip(variables, squares, sums, gradients, strict=True):
            tf.raw_ops.ResourceApplyRMSProp(
                var=v.handle, ms=s.handle, mom=m.handle, lr=0.01, rho=0.99, momentum=0.0, epsilon=1e-8, grad=g
            )

    return apply


def _lamb(variables):
    means, squares, count = _zeros(variables), _zeros(variables), tf.Variable(0.0)

    def apply(gradients):
        step = count.assign_add(1.0)
        first, second = 1 - 0.9**step, 1 - 0.999**step
        for v, m, s, g in zip(variables, means, squares, gradients, strict=True):
            m.assign_add(0.1 * (g - m))
            s.assign_add(0.001 * (g * g - s))
            change = (m / first) / (tf.sqrt(s / second) + 1e-6) + 0.01 * v
            trust = tf.math.divide_no_nan(tf.norm(v), tf.norm(change))
            v.assign_sub(1e-3 * tf.where(trust > 0, trust, 1.0) * change)

    return apply


OPTIMIZERS = {
    "sgd": _sgd,
    "momentum": _momentum,
    "nesterov": lambda variables: _momentum(variables, nesterov=True),
    "adam": _adam,
    "adamw": lambda variables: _adam(variables, 0.01),
    "rmsprop": _rmsprop,
    "lamb": _lamb,
}


# -- models: the variables and the forward


def _variable(*shape):
    return tf.Variable(tf.keras.initializers.GlorotUniform(0)(shape) if len(shape) > 1 else tf.zeros(shape))


def _mlp():
    w1, b1, w2, b2 = _variable(784, 256), _variable(256), _variable(256, 10), _variable(10)
    return [w1, b1, w2, b2], lambda x: tf.nn.bias_add(tf.nn.relu(tf.nn.bias_add(x @ w1, b1)) @ w2, b2)


def _cnn():
    k1, b1, k2, b2 = _variable(3, 3, 3, 32), _variable(32), _variable(3, 3, 32, 64), _variable(64)
    w, b = _variable(64 * 8 * 8, 10), _variable(10)

    def forward(x):
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k1, 1, "SAME"), b1)), 2, 2, "VALID")
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k2, 1, "SAME"), b2)), 2, 2, "VALID")
        return tf.nn.bias_add(tf.reshape(x, (-1, 64 * 8 * 8)) @ w, b)

    return [k1, b1, k2, b2, w, b], forward


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


def _cell(features, hidden):
    return [_variable(features, 4 * hidden), _variable(hidden, 4 * hidden), _variable(4 * hidden)]


def _states(x, kernel, recurrent, bias, hidden, reverse=False):
    state = cell = tf.zeros((len(x) if tf.executing_eagerly() else tf.shape(x)[0], hidden))
    drives = tf.unstack(tf.nn.bias_add(x @ kernel, bias), axis=1)  # written out: faster than a loop in the graph
    states = []
    for drive in drives[::-1] if reverse else drives:
        enter, forget, change, leave = tf.split(drive + state @ recurrent, 4, -1)
        cell = tf.sigmoid(forget) * cell + tf.sigmoid(enter) * tf.tanh(change)
        state = tf.sigmoid(leave) * tf.tanh(cell)
        states.append(state)
    return tf.stack(states[::-1] if reverse else states, 1)


def _lstm(directions=1):
    features, hidden, steps = 64, 128, 50
    cells = [_cell(features, hidden) for _ in range(directions)]
    w, b = _variable(steps * hidden * directions, 10), _variable(10)

    def forward(x):
        states = [_states(x, *cell, hidden, reverse=bool(at)) for at, cell in enumerate(cells)]
        return tf.nn.bias_add(tf.reshape(tf.concat(states, -1), (-1, steps * hidden * directions)) @ w, b)

    return [*(variable for cell in cells for variable in cell), w, b], forward


def _normalize(x, scale, shift, mean, variance):
    y, now, spread, *_ = tf.compat.v1.nn.fused_batch_norm(x, scale, shift, epsilon=1e-5, is_training=True)
    mean.assign_sub(0.1 * (mean - now))
    variance.assign_sub(0.1 * (variance - spread))
    return y


def _convolutions(inputs, outputs):
    kernels = [_variable(3, 3, size, outputs) for size in (inputs, outputs)]
    norms = [[tf.Variable(tf.ones(outputs)), tf.Variable(tf.zeros(outputs))] for _ in kernels]
    statistics = [[tf.Variable(tf.zeros(outputs)), tf.Variable(tf.ones(outputs))] for _ in kernels]

    def forward(x):
        for kernel, norm, kept in zip(kernels, norms, statistics, strict=True):
            x = tf.nn.relu(_normalize(tf.nn.conv2d(x, kernel, 1, "SAME"), *norm, *kept))
        return x

    return [*kernels, *(variable for norm in norms for variable in norm)], forward


def _enlarge(inputs, outputs, size):
    kernel, bias = _variable(2, 2, outputs, inputs), _variable(outputs)

    def forward(x):
        shape = tf.stack([tf.shape(x)[0], size, size, outputs])
        return tf.nn.bias_add(tf.nn.conv2d_transpose(x, kernel, shape, 2, "VALID"), bias)

    return [kernel, bias], forward


def _unet():
    parts = [
        _convolutions(3, 16),
        _convolutions(16, 32),
        _convolutions(32, 64),
        _enlarge(64, 32, 32),
        _convolutions(64, 32),
        _enlarge(32, 16, 64),
        _convolutions(32, 16),
    ]
    first, second, middle, enlarge_second, decode_second, enlarge_first, decode_first = (run for _, run in parts)
    kernel, bias = _variable(1, 1, 16, 10), _variable(10)

    def pool(x):
        return tf.nn.max_pool2d(x, 2, 2, "VALID")

    def forward(x):
        one = first(x)
        two = second(pool(one))
        three = middle(pool(two))
        two = decode_second(tf.concat([two, enlarge_second(three)], -1))
        one = decode_first(tf.concat([one, enlarge_first(two)], -1))
        return tf.nn.bias_add(tf.nn.conv2d(one, kernel, 1, "SAME"), bias)

    return [*(variable for variables, _ in parts for variable in variables), kernel, bias], forward


def _deep(layers):
    sizes = [(64, 64)] * (layers // 2) + [(64, 10)]
    kernels, biases = [_variable(*size) for size in sizes], [_variable(size[1]) for size in sizes]

    def forward(x):
        for kernel, bias in zip(kernels[:-1], biases[:-1], strict=True):
            x = tf.nn.relu(tf.nn.bias_add(x @ kernel, bias))
        return tf.nn.bias_add(x @ kernels[-1], biases[-1])

    return [*kernels, *biases], forward


MODELS = {
    "mlp": _mlp,
    "cnn": _cnn,
    "block": _block,
    "lstm": _lstm,
    "bilstm": lambda: _lstm(2),
    "unet": _unet,
}
