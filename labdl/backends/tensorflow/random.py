"""TensorFlow's random numbers, all from its global generator, which compiled functions hold as a variable."""

import numpy as np
import tensorflow as tf


def seed(value: int) -> None:
    """TensorFlow's own random operators, and dropout's generator, which compiled functions hold as a variable."""
    tf.random.set_seed(value)
    tf.random.get_global_generator().reset_from_seed(value)


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


def random_state():
    generator = _generator()
    return {"algorithm": int(generator.algorithm), "state": generator.state.numpy()}


def set_random_state(state) -> None:
    """Into the variable that compiled functions hold."""
    generator, value = _generator(), np.asarray(state["state"])
    if int(state["algorithm"]) != int(generator.algorithm) or (value.shape, value.dtype) != ((3,), "int64"):
        raise ValueError("the random state of tensorflow wants 3 int64 numbers of the algorithm that draws")
    generator.state.assign(value)
