"""TensorFlow as a LabDL backend."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before the import, or its C++ side has read it already

import tensorflow as tf

from labdl.backends.tensorflow import operators
from labdl.backends.tensorflow.optimizer import optimizer
from labdl.backends.tensorflow.runtime import (
    assign,
    evaluate_function,
    finite,
    gradients,
    seed,
    spec_of,
    tensor,
    to_numpy,
    train_function,
    variable,
)  # fmt: skip

name = "tensorflow"
namespaces = (tf, tf.math, tf.nn)


def tensor_types():
    # eager and symbolic tensors are both subclasses of tf.Tensor, the resource variables of tf.Variable
    return (tf.Tensor, tf.Variable)


__all__ = [
    "assign", "evaluate_function", "finite", "gradients", "name", "namespaces", "operators", "optimizer", "seed",
    "spec_of", "tensor", "tensor_types", "to_numpy", "train_function", "variable",
]  # fmt: skip
