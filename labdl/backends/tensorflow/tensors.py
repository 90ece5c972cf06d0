"""TensorFlow tensors, data types and variables."""

import numpy as np
import tensorflow as tf

from labdl.backends.tensorflow.devices import device_scope
from labdl.spec import Spec

_EAGER = tf.__internal__.EagerTensor  # computing here would start threads, which a fork does not survive


def dtype(name: str) -> tf.DType:
    return tf.as_dtype(name)


def copy(value):
    return tf.identity(value)


def from_dlpack(value, copy=None):
    """TensorFlow aborts on memory that is not aligned to 64 bytes: other memory is copied."""
    if copy is False:
        raise ValueError("TensorFlow reads the memory of other libraries with a copy only: copy=False is not possible")
    if isinstance(value, tf.Tensor):
        return tf.identity(value)
    return tf.constant(np.from_dlpack(value))


def spec_of(value) -> Spec:
    return Spec(tuple(value.shape), value.dtype.name)


def key_of(value) -> tuple:
    if value.__class__ is _EAGER:  # its properties make new objects at each call
        return value._shape_tuple(), value._datatype_enum()
    return tuple(value.shape), value.dtype


def tensor(array):
    with device_scope():
        return tf.constant(array)


def to_numpy(value):
    return (tf.cast(value, tf.float32) if value.dtype == tf.bfloat16 else value).numpy()


def variable(array, trainable: bool = True):
    with device_scope():
        return tf.Variable(array, trainable=trainable)


def assign(target, array) -> None:
    target.assign(array)


def finite(variables):
    return next((i for i, v in enumerate(variables) if not tf.reduce_all(tf.math.is_finite(v))), None)


def move_variable(value, device: str):
    with tf.device(device):
        return tf.Variable(value, trainable=value.trainable)
