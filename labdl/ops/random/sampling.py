"""Random numbers. Each backend has its own generator, seeded and reproducible; in portable mode NumPy's is used for all.

Portable numbers allow exact comparison of backends: ``labdl.seed(0, portable=True)`` applies to all random numbers (also
of dropout), ``portable=True`` to one call.
"""

from __future__ import annotations

import math

import numpy as np

from labdl import dispatch
from labdl.ops.array.creation import tensor
from labdl.ops.array.shape import astype
from labdl.ops.array.sorting import searchsorted
from labdl.ops.math.special import erfinv
from labdl.ops.random.state import generator


def _target(backend, portable):
    """The backend that draws, or None for NumPy."""
    target = dispatch.get(backend)
    return None if target.name == "numpy" or (dispatch.portable() if portable is None else portable) else target


def random_uniform(
    shape,
    low: float = 0.0,
    high: float = 1.0,
    dtype: str = "float32",
    backend: str | None = None,
    portable: bool | None = None,
):
    """Uniform random numbers from ``low`` up to but without ``high``."""
    target = _target(backend, portable)
    if target is None:
        return tensor(generator().uniform(low, high, shape), dtype, backend)
    return target.random_uniform(_shape(shape), low, high, dtype)


def random_normal(
    shape,
    mean: float = 0.0,
    std: float = 1.0,
    dtype: str = "float32",
    backend: str | None = None,
    portable: bool | None = None,
):
    """Normally distributed random numbers."""
    target = _target(backend, portable)
    if target is None:
        return tensor(generator().normal(mean, std, shape), dtype, backend)
    return target.random_normal(_shape(shape), mean, std, dtype)


def random_integers(
    shape, low: int, high: int, dtype: str = "int64", backend: str | None = None, portable: bool | None = None
):
    """Random integers from ``low`` up to but without ``high``."""
    if high <= low:
        raise ValueError(f"random_integers wants high above low, received low={low} and high={high}")
    target = _target(backend, portable)
    if target is None:
        return tensor(generator().integers(low, high, shape), dtype, backend)
    return target.random_integers(_shape(shape), low, high, dtype)


def permutation(n: int, backend: str | None = None, portable: bool | None = None):
    """The numbers from 0 to n - 1 in random order, int64."""
    target = _target(backend, portable)
    return tensor(generator().permutation(n), "int64", backend) if target is None else target.random_permutation(n)


def random_truncated_normal(
    shape,
    mean: float = 0.0,
    std: float = 1.0,
    low: float = -2.0,
    high: float = 2.0,
    dtype: str = "float32",
    backend: str | None = None,
    portable: bool | None = None,
):
    """Normally distributed random numbers, none further from ``mean`` than ``low`` or ``high`` standard deviations.

    Computed by the inverse of the distribution function, without rejection (as torch's trunc_normal_).
    """
    ends = [math.erf(z / math.sqrt(2)) for z in (low, high)]
    drawn = random_uniform(shape, *ends, dtype=dtype, backend=backend, portable=portable)
    return erfinv(drawn) * (std * math.sqrt(2)) + mean


def random_binomial(
    shape, n: int, p: float, dtype: str = "int64", backend: str | None = None, portable: bool | None = None
):
    """Binomially distributed random numbers: successes of probability ``p`` in ``n`` trials; ``n=1`` is Bernoulli.

    Computed by a table of ``n + 1`` values of the distribution function. Raises ValueError
    for ``n`` below 0 and ``p`` outside of 0 to 1.
    """
    if n < 0 or not 0 <= p <= 1:
        raise ValueError(f"random_binomial wants n of at least 0 and p from 0 to 1, received n={n} and p={p}")
    below = tensor(_binomial_below(n, p), "float64", backend)
    drawn = random_uniform(shape, dtype="float64", backend=backend, portable=portable)
    return astype(searchsorted(below, drawn, side="right"), dtype)


def _binomial_below(n: int, p: float) -> np.ndarray:
    """The cumulative distribution function at 0 to n - 1."""
    if p in (0, 1):
        return np.full(n, 1.0 - p)
    k = np.arange(n, dtype="float64")
    ways = np.concatenate([[0.0], np.cumsum(np.log(n - k[:-1]) - np.log(k[1:]))]) if n else k
    return np.minimum(np.cumsum(np.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))), 1.0)


def rand(*shape: int, dtype: str = "float32", backend: str | None = None):
    """Uniform random numbers between 0 and 1: ``rand(2, 3)``."""
    return random_uniform(_unpack(shape), dtype=dtype, backend=backend)


def randn(*shape: int, dtype: str = "float32", backend: str | None = None):
    """Random numbers of the standard normal distribution: ``randn(2, 3)``."""
    return random_normal(_unpack(shape), dtype=dtype, backend=backend)


def randint(low: int, high: int, shape, dtype: str = "int64", backend: str | None = None):
    """Random integers from ``low`` up to but without ``high``, in torch.randint's order of arguments."""
    return random_integers(shape, low, high, dtype, backend)


def _shape(shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _unpack(shape):
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
