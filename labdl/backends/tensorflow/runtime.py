"""TensorFlow tensors, variables, gradients and compiled steps."""

from contextlib import nullcontext

import numpy as np
import tensorflow as tf

from labdl.spec import Spec


def dtype(name: str) -> tf.DType:
    return tf.as_dtype(name)


def copy(value):
    return tf.identity(value)


def from_dlpack(value):
    """TensorFlow aborts on memory that is not aligned to 64 bytes: what is not its own is copied."""
    if isinstance(value, tf.Tensor):
        return tf.identity(value)
    return tf.constant(np.from_dlpack(value))


def spec_of(value) -> Spec:
    return Spec(tuple(value.shape), value.dtype.name)


_device: str | None = None  # None: TensorFlow's own default, its first GPU
_KINDS = {"CPU": "cpu", "GPU": "cuda"}


def _ours(kind: str, number: int | None = 0) -> str:
    kind = _KINDS.get(kind, kind.lower())
    return kind if kind == "cpu" else f"{kind}:{number or 0}"


def _theirs(name: str) -> str:
    kind, _, number = name.partition(":")
    kind = {ours: theirs for theirs, ours in _KINDS.items()}.get(kind, kind.upper())
    return f"/{kind}:{number or 0}"


def devices() -> tuple[str, ...]:
    # the physical ones: the logical ones cannot be listed without starting them all; XLA's are no place for tensors
    kinds = [d.device_type for d in tf.config.list_physical_devices() if not d.device_type.startswith("XLA")]
    return tuple(dict.fromkeys(_ours(kind, kinds[:i].count(kind)) for i, kind in enumerate(kinds)))


def current_device() -> str:
    return _device or ("cuda:0" if tf.config.list_physical_devices("GPU") else "cpu")


def set_device(name: str) -> None:
    global _device
    _device = name
    with placed():  # what XLA computes with must lie where it computes, the state of the random numbers too
        tf.random.set_global_generator(tf.random.Generator(copy_from=tf.random.get_global_generator()))


def placed():
    """The chosen device around what makes tensors; no scope where none has been chosen."""
    return nullcontext() if _device is None else tf.device(_theirs(_device))


def device_of(value) -> str:
    spec = tf.DeviceSpec.from_string(value.device)  # empty for the symbols of a tf.function
    return _ours(spec.device_type, spec.device_index) if spec.device_type else current_device()


def to_device(value, name: str):
    if device_of(value) == name:
        return value
    with tf.device(_theirs(name)):
        return tf.identity(value)


def tensor(array):
    with placed():
        return tf.constant(array)


def to_numpy(value):
    return (tf.cast(value, tf.float32) if value.dtype == tf.bfloat16 else value).numpy()


def seed(value: int) -> None:
    """TensorFlow's own random operators, and dropout's generator, which compiled functions hold as a variable."""
    tf.random.set_seed(value)
    tf.random.get_global_generator().reset_from_seed(value)


def variable(array, trainable: bool = True):
    with placed():
        return tf.Variable(array, trainable=trainable)


def assign(target, array) -> None:
    target.assign(array)


def finite(variables):
    return next((i for i, v in enumerate(variables) if not tf.reduce_all(tf.math.is_finite(v))), None)


def clear_gradients(variables) -> None:
    """TensorFlow stores none."""


def gradients(function, values):
    leaves = [v if isinstance(v, tf.Variable) else tf.identity(v) for v in values]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(leaves)
        result = function(*leaves)
    found = tape.gradient(result, leaves, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    # the gradient of a lookup in a variable comes as the rows that were read
    return result, [tf.convert_to_tensor(g) for g in found]


def set_trainable(variable, flag: bool) -> None:
    """Nothing to do: only what training asks for gets a gradient."""


def move_variable(value, device: str):
    with tf.device(device):
        return tf.Variable(value, trainable=value.trainable)


def with_gradient(forward, pull):
    @tf.custom_gradient
    def call(*tensors):
        def gradient(*gradients):
            found = pull(gradients, tensors)
            return [tf.zeros_like(t) if g is None else g for g, t in zip(found, tensors, strict=True)]

        return forward(*tensors), gradient

    return lambda *tensors: call(*map(tf.convert_to_tensor, tensors))
