"""Initial values of parameters, born in NumPy so that one seed gives bit-equal weights on every backend (D4)."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable

import numpy as np

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
INITIALISERS: dict[str, Draw] = {}


def _register(function: Draw) -> Draw:
    INITIALISERS[function.__name__] = function
    return function


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Inputs and outputs of one unit. Matrices are (in, out), convolution kernels (out, in / groups, window...)."""
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


@_register
def zeros(rng, shape):
    """Zeros."""
    return np.zeros(shape)


@_register
def ones(rng, shape):
    """Ones."""
    return np.ones(shape)


@_register
def normal(rng, shape):
    """Normal distribution with standard deviation 0.02 (as in BERT and GPT-2)."""
    return rng.normal(0.0, 0.02, shape)


@_register
def unit_normal(rng, shape):
    """Standard normal distribution (PyTorch's embedding)."""
    return rng.normal(0.0, 1.0, shape)


@_register
def glorot_uniform(rng, shape):
    """Uniform in ± sqrt(6 / (in + out)) (Glorot & Bengio, 2010); Keras's default."""
    limit = math.sqrt(6 / sum(fans(shape)))
    return rng.uniform(-limit, limit, shape)


@_register
def glorot_normal(rng, shape):
    """Normal with variance 2 / (in + out) (Glorot & Bengio, 2010)."""
    return rng.normal(0.0, math.sqrt(2 / sum(fans(shape))), shape)


@_register
def he_uniform(rng, shape):
    """Uniform in ± sqrt(6 / in) (He et al., 2015)."""
    limit = math.sqrt(6 / fans(shape)[0])
    return rng.uniform(-limit, limit, shape)


@_register
def he_normal(rng, shape):
    """Normal with variance 2 / in (He et al., 2015)."""
    return rng.normal(0.0, math.sqrt(2 / fans(shape)[0]), shape)


@_register
def fan_in_uniform(rng, shape):
    """Uniform in ± 1 / sqrt(in); PyTorch's default for linear and convolution kernels."""
    limit = 1 / math.sqrt(fans(shape)[0])
    return rng.uniform(-limit, limit, shape)


@_register
def orthogonal(rng, shape):
    """Orthonormal rows or columns (Saxe et al., 2013)."""
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))
    return (q if rows >= columns else q.T).reshape(shape)


def uniform(limit: float) -> Draw:
    """Uniform in ± ``limit``."""
    return lambda rng, shape: rng.uniform(-limit, limit, shape)


def draw(initialiser: str | Draw, shape: tuple[int, ...], dtype: str, seed: int, path: str) -> np.ndarray:
    """Values for the parameter at ``path``: its own generator, so that adding a layer changes no other layer's weights."""
    function = INITIALISERS[initialiser] if isinstance(initialiser, str) else initialiser
    rng = np.random.default_rng([seed, zlib.crc32(path.encode())])
    return np.ascontiguousarray(function(rng, shape), dtype=dtype)
