"""Deterministic kernels of TensorFlow, which cannot be switched off in a process."""

import tensorflow as tf

from labdl.errors import BackendError

_enabled = False


def set_deterministic(mode: bool, warn_only: bool) -> None:
    global _enabled
    if mode:
        tf.random.get_global_generator()  # created now: deterministic kernels refuse one without a seed
        tf.config.experimental.enable_op_determinism()
        _enabled = True
    elif _enabled:
        raise BackendError(
            "TensorFlow keeps deterministic kernels until the end of the process: restart the kernel to do without them"
        )
