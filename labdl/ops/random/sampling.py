"""Random numbers. Each backend has its own generator, seeded and reproducible; in portable mode NumPy's is used for all.

Portable numbers allow exact comparison of backends: ``labdl.seed(0, portable=True)`` applies to all random numbers (also
of dropout), ``portable=True`` to one call.
"""

from __future__ import annotations

import math

import numpy as np

from labdl import dispatch
from labdl.ops.array.creation import full, refuse_shape, tensor
from labdl.ops.array.shape import astype
from labdl.ops.array.sorting import searchsorted
from labdl.ops.math.arithmetic import add, divide, log1p, negative
from labdl.ops.math.special import erfinv
from labdl.ops.random.distributions import poisson, standard_gamma
from labdl.ops.random.state import generator
from labdl.spec import FLOATS, INTEGERS


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
    """Uniform random numbers from ``low`` up to but without ``high``. Raises ValueError for ``high`` below ``low``."""
    _check_floating("random_uniform", dtype)
    if not low <= high or math.isinf(high - low):
        raise ValueError(
            f"random_uniform wants finite low and high, high not below low, received low={low} and high={high}"
        )
    target = _target(backend, portable)
    refuse_shape("random_uniform", shape, dtype if target else "float64")
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
    """Normally distributed random numbers. Raises ValueError for ``std`` below 0."""
    _check_floating("random_normal", dtype)
    if not std >= 0:
        raise ValueError(f"random_normal wants std of 0 or more, received {std}")
    target = _target(backend, portable)
    refuse_shape("random_normal", shape, dtype if target else "float64")
    if target is None:
        return tensor(generator().normal(mean, std, shape), dtype, backend)
    return target.random_normal(_shape(shape), mean, std, dtype)


def random_integers(
    shape, low: int, high: int, dtype: str = "int64", backend: str | None = None, portable: bool | None = None
):
    """Random integers from ``low`` up to but without ``high``. Raises ValueError if ``dtype`` does not hold them."""
    if not (float(low).is_integer() and float(high).is_integer()) or high <= low:
        raise ValueError(f"random_integers wants integers, high above low, received low={low} and high={high}")
    low, high = int(low), int(high)
    if dtype in INTEGERS and not np.iinfo(dtype).min <= low < high <= np.iinfo(dtype).max + 1:
        raise ValueError(f"random_integers wants numbers that {dtype} holds, received low={low} and high={high}")
    if dtype == "bool" and not 0 <= low < high <= 2:
        raise ValueError(f"random_integers wants low and high from 0 to 2 for bool, received low={low} and high={high}")
    target = _target(backend, portable)
    refuse_shape("random_integers", shape, dtype if target else "int64")
    if target is None:
        return tensor(generator().integers(low, high, shape), dtype, backend)
    return target.random_integers(_shape(shape), low, high, dtype)


def permutation(n: int, backend: str | None = None, portable: bool | None = None):
    """The numbers from 0 to n - 1 in random order, int64."""
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
        raise ValueError(f"permutation wants an integer of 0 or more, received {n!r:.60}")
    n = int(n)
    target = _target(backend, portable)
    refuse_shape("permutation", n, "int64")
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
    _check_floating("random_truncated_normal", dtype)
    if not std >= 0 or not low < high:
        raise ValueError(
            f"random_truncated_normal wants std of 0 or more and high above low, received std={std}, low={low} and high={high}"
        )
    refuse_shape("random_truncated_normal", shape, dtype)
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
    if not isinstance(n, int | np.integer) or n < 0 or not 0 <= p <= 1:
        raise ValueError(f"random_binomial wants n of at least 0 and p from 0 to 1, received n={n} and p={p}")
    refuse_shape("random_binomial", n, "float64")  # the table
    refuse_shape("random_binomial", shape, "float64")
    below = tensor(_binomial_below(n, p), "float64", backend)
    drawn = random_uniform(shape, dtype="float64", backend=backend, portable=portable)
    return astype(searchsorted(below, drawn, side="right"), dtype)


def random_exponential(
    shape, rate: float = 1.0, dtype: str = "float32", backend: str | None = None, portable: bool | None = None
):
    """Exponentially distributed random numbers of mean 1 / ``rate``, which must be above 0.

    Semantics: torch.Tensor.exponential_.
    """
    _check_positive("random_exponential", rate=rate)
    refuse_shape("random_exponential", shape, "float64")
    drawn = random_uniform(shape, dtype="float64", backend=backend, portable=portable)
    return astype(divide(log1p(negative(drawn)), -rate), dtype)


def random_gamma(
    shape,
    concentration: float,
    rate: float = 1.0,
    dtype: str = "float32",
    backend: str | None = None,
    portable: bool | None = None,
):
    """Random numbers of the gamma distribution: mean ``concentration / rate``, both above 0.

    `standard_gamma` takes a tensor of concentrations, with gradients on some backends. Semantics: torch.distributions.Gamma.
    """
    _check_positive("random_gamma", concentration=concentration, rate=rate)
    refuse_shape("random_gamma", shape, "float64")
    return astype(divide(_gamma(shape, concentration, backend, portable), rate), dtype)


def random_beta(
    shape,
    concentration1: float,
    concentration0: float,
    dtype: str = "float32",
    backend: str | None = None,
    portable: bool | None = None,
):
    """Random numbers of the beta distribution, between 0 and 1: mean c1 / (c1 + c0) of both concentrations, above 0.

    Computed from two gamma distributions; not meant for concentrations below 0.001. Semantics: torch.distributions.Beta.
    """
    _check_positive("random_beta", concentration1=concentration1, concentration0=concentration0)
    refuse_shape("random_beta", shape, "float64")
    one, other = (_gamma(shape, c, backend, portable) for c in (concentration1, concentration0))
    return astype(divide(one, add(one, other)), dtype)


def random_poisson(shape, rate: float, dtype: str = "int64", backend: str | None = None, portable: bool | None = None):
    """Random numbers of Poisson's distribution of mean ``rate``, 0 or more; `poisson` takes a tensor of rates."""
    if not rate >= 0:
        raise ValueError(f"random_poisson wants a rate of 0 or more, received {rate}")
    refuse_shape("random_poisson", shape, "float64")
    target = _target(backend, portable)
    if target is None:
        return tensor(generator().poisson(rate, shape), dtype, backend)
    return astype(poisson(full(_shape(shape), float(rate), "float64", target.name)), dtype)


def _gamma(shape, concentration, backend, portable):
    target = _target(backend, portable)
    if target is None:
        return tensor(generator().standard_gamma(concentration, shape), "float64", backend)
    return standard_gamma(full(_shape(shape), float(concentration), "float64", target.name))


def _check_floating(name: str, dtype: str) -> None:
    if dtype not in FLOATS:
        raise TypeError(f"{name} wants a floating-point dtype, one of {', '.join(FLOATS)}, received {dtype!r:.40}")


def _check_positive(name: str, **values: float) -> None:
    if not all(isinstance(v, int | float | np.number) and v > 0 for v in values.values()):
        received = " and ".join(f"{k}={v}" for k, v in values.items())
        raise ValueError(f"{name} wants numbers above 0, received {received}")


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
    return (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)


def _unpack(shape):
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
