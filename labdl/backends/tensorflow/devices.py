"""Devices of TensorFlow."""

from contextlib import nullcontext

import tensorflow as tf

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
    # the physical ones: the logical ones cannot be listed without starting them all; XLA devices hold no tensors
    kinds = [d.device_type for d in tf.config.list_physical_devices() if not d.device_type.startswith("XLA")]
    return tuple(dict.fromkeys(_ours(kind, kinds[:i].count(kind)) for i, kind in enumerate(kinds)))


def current_device() -> str:
    return _device or ("cuda:0" if tf.config.list_physical_devices("GPU") else "cpu")


def set_device(name: str) -> None:
    global _device
    _device = name
    with device_scope():  # XLA needs its operands on its device, also the random state
        tf.random.set_global_generator(tf.random.Generator(copy_from=tf.random.get_global_generator()))


def device_scope():
    """Scope of the chosen device for new tensors; no scope by default."""
    return nullcontext() if _device is None else tf.device(_theirs(_device))


def device_of(value) -> str:
    spec = tf.DeviceSpec.from_string(value.device)  # empty for the symbols of a tf.function
    return _ours(spec.device_type, spec.device_index) if spec.device_type else current_device()


def to_device(value, name: str):
    if device_of(value) == name:
        return value
    with tf.device(_theirs(name)):
        return tf.identity(value)
