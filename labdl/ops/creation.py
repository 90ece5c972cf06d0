"""New tensors on a backend: constants and random numbers. These are edges: they take ``backend=`` and follow the default."""

from __future__ import annotations

import numpy as np

from labdl import dispatch

_generator = np.random.default_rng()


def seed(value: int) -> None:
    """Seed LabDL's own random numbers and those of every backend, loaded or yet to be (dropout, native random functions)."""
    global _generator
    _generator = np.random.default_rng(value)
    dispatch.seed(value)


def tensor(array, dtype: str | None = None, backend: str | None = None):
    """A backend's own tensor from a NumPy array, a number or nested lists (float64 from Python lists becomes float32)."""
    values = np.asarray(array)
    if dtype is None and values.dtype == np.float64 and not isinstance(array, np.ndarray):
        values = values.astype("float32")
    return dispatch.get(backend).tensor(values if dtype is None else values.astype(dtype))


def to_numpy(value) -> np.ndarray:
    """The values of any backend's tensor as a NumPy array; gradients are not followed."""
    return dispatch.owner(value).to_numpy(value)


def zeros(shape, dtype: str = "float32", backend: str | None = None):
    """Zeros."""
    return tensor(np.zeros(shape, dtype), backend=backend)


def ones(shape, dtype: str = "float32", backend: str | None = None):
    """Ones."""
    return tensor(np.ones(shape, dtype), backend=backend)


def full(shape, value, dtype: str = "float32", backend: str | None = None):
    """One value everywhere."""
    return tensor(np.full(shape, value, dtype), backend=backend)


def arange(start, stop=None, step=1, dtype: str = "int64", backend: str | None = None):
    """Numbers from ``start`` up to but without ``stop``; ``arange(n)`` counts from 0."""
    first, last = (0, start) if stop is None else (start, stop)
    return tensor(np.arange(first, last, step, dtype), backend=backend)


def random_uniform(shape, low: float = 0.0, high: float = 1.0, dtype: str = "float32", backend: str | None = None):
    """Uniform random numbers from ``low`` up to but without ``high``, the same on every backend for one seed."""
    return tensor(_generator.uniform(low, high, shape).astype(dtype), backend=backend)


def random_normal(shape, mean: float = 0.0, std: float = 1.0, dtype: str = "float32", backend: str | None = None):
    """Normally distributed random numbers, the same on every backend for one seed."""
    return tensor(_generator.normal(mean, std, shape).astype(dtype), backend=backend)


def random_integers(shape, low: int, high: int, dtype: str = "int64", backend: str | None = None):
    """Random integers from ``low`` up to but without ``high``, the same on every backend for one seed."""
    return tensor(_generator.integers(low, high, shape).astype(dtype), backend=backend)


def permutation(n: int, backend: str | None = None):
    """The numbers from 0 to n - 1 in random order, the same on every backend for one seed."""
    return tensor(_generator.permutation(n), backend=backend)
