"""Models as tf.Module, and modules of TensorFlow and Keras in models."""

import inspect
import sys

import tensorflow as tf


def native_module(call, branch, mode):
    from labdl.backends.tensorflow.keras_model import LabModule  # Keras takes a second to import

    return LabModule(call, branch, mode)


def is_native(value) -> bool:
    keras = sys.modules.get("keras")
    return isinstance(value, tf.Module) or (keras is not None and isinstance(value, keras.layers.Layer))


def native_parameters(module):
    return {
        v.name.partition(":")[0].replace("/", "_") + (f"_{n}" if n else ""): (_variable(v), bool(v.trainable))
        for n, v in enumerate(module.variables)
    }


def _variable(value):
    """The tf.Variable of a Keras variable."""
    return getattr(value, "value", value) if not isinstance(value, tf.Variable) else value


def native_call(module, training: bool, inputs):
    """Call a layer of Keras with its training mode."""
    takes = inspect.signature(getattr(module, "call", type(module).__call__)).parameters
    return module(*inputs, training=training) if "training" in takes else module(*inputs)
