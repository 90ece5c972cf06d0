"""TensorFlow tensors, variables, gradients and compiled steps."""

import tensorflow as tf

from labdl.spec import Spec


def spec_of(value) -> Spec:
    return Spec(tuple(value.shape), value.dtype.name)


def tensor(array):
    return tf.constant(array)


def to_numpy(value):
    return (tf.cast(value, tf.float32) if value.dtype == tf.bfloat16 else value).numpy()


def seed(value: int) -> None:
    """TensorFlow's own random operators, and dropout's generator, which compiled functions hold as a variable."""
    tf.random.set_seed(value)
    tf.random.get_global_generator().reset_from_seed(value)


def variable(array, trainable: bool = True):
    return tf.Variable(array, trainable=trainable)


def assign(target, array) -> None:
    target.assign(array)


def finite(variables):
    return next((i for i, v in enumerate(variables) if not tf.reduce_all(tf.math.is_finite(v))), None)


def train_function(forward, variables, optimizer, compiled: bool | str | None = None):
    """Compiled by default, the whole step as one graph; ``compiled="xla"`` for XLA, False for eager."""
    variables = list(variables)

    def step(x, y):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            loss, output = forward(x, y)
        optimizer.apply(tape.gradient(loss, variables))
        return loss, output

    return _compile(step, compiled)


def evaluate_function(forward, compiled: bool | str | None = None):
    return _compile(lambda *inputs: forward(*inputs), compiled)


def _compile(function, compiled):
    if compiled is False:
        return function
    # autograph would rewrite the user's Python; without it a data-dependent `if` says that it cannot be compiled.
    # The first trace is for the very shapes, which is the fastest; the first other shape makes one for any batch size.
    return tf.function(function, autograph=False, reduce_retracing=True, jit_compile=compiled == "xla" or None)


def gradients(function, values):
    leaves = [v if isinstance(v, tf.Variable) else tf.identity(v) for v in values]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(leaves)
        result = function(*leaves)
    found = tape.gradient(result, leaves, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    # the gradient of a lookup in a variable comes as the rows that were read
    return result, [tf.convert_to_tensor(g) for g in found]
