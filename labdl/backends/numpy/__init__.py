"""NumPy: the framework-free reference. It computes forward only; training needs one of the frameworks."""

import numpy as np

from labdl.spec import Spec

name = "numpy"
namespaces = ()


def tensor_types():
    return (np.ndarray, np.generic)


def implementation(operator):
    """The body of an operator is its NumPy implementation."""
    return operator.body


def spec_of(value) -> Spec:
    return Spec(value.shape, str(value.dtype))


def tensor(array):
    return np.asarray(array)


def to_numpy(value) -> np.ndarray:
    return np.asarray(value)


def seed(value: int) -> None:
    np.random.seed(value)


def variable(array, trainable: bool = True):
    return np.array(array)


def assign(target, array) -> None:
    target[...] = array


def evaluate_function(forward, compiled=None):
    return forward


def finite(variables):
    return next((i for i, v in enumerate(variables) if not np.isfinite(v).all()), None)


def train_function(*_, **__):
    raise NotImplementedError("NumPy computes forward only: train on torch, tensorflow, paddle or mindspore")


gradients = optimizer = train_function
