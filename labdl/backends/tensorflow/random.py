"""TensorFlow's random numbers, all from its global generator, which compiled functions hold as a variable."""

import numpy as np
import tensorflow as tf


def seed(value: int) -> None:
    """TensorFlow's own random operators, and dropout's generator, which compiled functions hold as a variable."""
    tf.random.set_seed(value)
    _generator().state.assign(_state(value))


def _state(value: int) -> np.ndarray:
    """The state of `reset_from_seed`, which takes milliseconds for it: the words of the seed, the lowest first."""
    words = [value >> 64 * at & 2**64 - 1 for at in range(3)]
    return np.array(words, "uint64").view("int64")


def _generator():
    return tf.random.get_global_generator()


def _wide(name):
    """The generator draws float32 and float64 in full resolution; narrower ones are rounded from float32."""
    return name if name in ("float32", "float64") else "float32"


def random_uniform(shape, low, high, name):
    return tf.cast(_generator().uniform(shape, low, high, _wide(name)), name)


def random_normal(shape, mean, std, name):
    return tf.cast(_generator().normal(shape, mean, std, _wide(name)), name)


def random_integers(shape, low, high, name):
    return tf.cast(_generator().uniform(shape, low, high, tf.int64), name)


def random_permutation(n):
    return tf.cast(tf.argsort(_generator().uniform((n,), dtype=tf.float64)), tf.int64)


def random_uniform_like(x, low=0.0, high=1.0):
    return random_uniform(tf.shape(x), low, high, x.dtype.name)


def random_normal_like(x, mean=0.0, std=1.0):
    return random_normal(tf.shape(x), mean, std, x.dtype.name)


def _of_valid(draw, valid, neutral):
    """A drawing function for the parameters that are valid, NaN for the others: the kernels repeat or do not end."""

    def call(x):
        wide = x if x.dtype is tf.float64 else tf.cast(x, tf.float32)
        fine, seeds = valid(wide), _generator().make_seeds(1)[:, 0]
        drawn = draw(tf.where(fine, wide, tf.cast(neutral, wide.dtype)), seeds)
        return tf.cast(tf.where(fine, drawn, tf.cast(np.nan, wide.dtype)), x.dtype)

    return call


poisson = _of_valid(lambda x, seeds: tf.random.stateless_poisson(tf.shape(x), seeds, x, x.dtype), lambda x: x >= 0, 0.0)
standard_gamma = _of_valid(
    lambda x, seeds: tf.random.stateless_gamma(tf.shape(x), seeds, x, dtype=x.dtype), lambda x: x > 0, 1.0
)


def random_state():
    generator = _generator()
    return {"algorithm": int(generator.algorithm), "state": generator.state.numpy()}


def set_random_state(state) -> None:
    """Into the variable that compiled functions hold."""
    generator, value = _generator(), np.asarray(state["state"])
    if int(state["algorithm"]) != int(generator.algorithm) or (value.shape, value.dtype) != ((3,), "int64"):
        raise ValueError("the random state of tensorflow wants 3 int64 numbers of the algorithm that draws")
    generator.state.assign(value)
