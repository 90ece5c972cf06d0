"""Initializers of parameters, computed in NumPy so that one seed gives bit-equal weights on every backend.

A setting such as ``kernel_init`` is the name of an initializer, or a call with settings: ``"normal(std=0.01)"``,
``"constant(0.5)"``. The text is parsed as literals and never executed.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import typing
import zlib
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt

from labdl.errors import ConfigError
from labdl.settings import describe

InitFunction = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
Positive = Annotated[float, Gt(0)]
Mode = Literal["fan_in", "fan_out", "fan_avg"]
# in the order of menus
INITIALIZERS: dict[str, Callable[..., np.ndarray]] = {}


def _register(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    INITIALIZERS[function.__name__.removeprefix("_")] = function
    return function


def compute_fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Fan-in and fan-out of a shape: matrices are (in, out), convolution kernels (out, in / groups, window...)."""
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


@_register
def fan_in_uniform(rng, shape):
    """Uniform in ± 1 / sqrt(in); PyTorch's default for linear and convolution kernels."""
    limit = 1 / math.sqrt(compute_fans(shape)[0])
    return rng.uniform(-limit, limit, shape)


@_register
def glorot_uniform(rng, shape, *, gain: Positive = 1.0):
    """Uniform in ± gain * sqrt(6 / (in + out)) (Glorot & Bengio, 2010); Keras's default."""
    limit = math.sqrt(6 / sum(compute_fans(shape))) * gain
    return rng.uniform(-limit, limit, shape)


@_register
def glorot_normal(rng, shape, *, gain: Positive = 1.0):
    """Normal with variance gain² * 2 / (in + out) (Glorot & Bengio, 2010)."""
    return rng.normal(0.0, math.sqrt(2 / sum(compute_fans(shape))) * gain, shape)


def _he_fan(shape, negative_slope: float, mode: str) -> float:
    """Fan-in or fan-out, times the correction for a leaky ReLU."""
    return (1 + negative_slope**2) * compute_fans(shape)[mode == "fan_out"]


@_register
def he_uniform(rng, shape, *, negative_slope: float = 0.0, mode: Literal["fan_in", "fan_out"] = "fan_in"):
    """Uniform in ± sqrt(6 / in), for units before a ReLU or a leaky one (He et al., 2015)."""
    limit = math.sqrt(6 / _he_fan(shape, negative_slope, mode))
    return rng.uniform(-limit, limit, shape)


@_register
def he_normal(rng, shape, *, negative_slope: float = 0.0, mode: Literal["fan_in", "fan_out"] = "fan_in"):
    """Normal with variance 2 / in, for units before a ReLU or a leaky one (He et al., 2015)."""
    return rng.normal(0.0, math.sqrt(2 / _he_fan(shape, negative_slope, mode)), shape)


@_register
def lecun_uniform(rng, shape):
    """Uniform in ± sqrt(3 / in) (LeCun et al., 1998)."""
    limit = math.sqrt(3 / compute_fans(shape)[0])
    return rng.uniform(-limit, limit, shape)


@_register
def lecun_normal(rng, shape):
    """Normal with variance 1 / in (LeCun et al., 1998), for self-normalizing networks (Klambauer et al., 2017)."""
    return rng.normal(0.0, math.sqrt(1 / compute_fans(shape)[0]), shape)


@_register
def variance_scaling(
    rng,
    shape,
    *,
    scale: Positive = 1.0,
    mode: Mode = "fan_in",
    distribution: Literal["truncated_normal", "normal", "uniform"] = "truncated_normal",
):
    """Variance scale / n, where n is the fan-in, the fan-out or the mean of both; Keras's VarianceScaling."""
    inputs, outputs = compute_fans(shape)
    std = math.sqrt(scale / {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[mode])
    if distribution == "uniform":
        return rng.uniform(-math.sqrt(3) * std, math.sqrt(3) * std, shape)
    if distribution == "normal":
        return rng.normal(0.0, std, shape)
    return _sample_truncated(rng, shape, 2.0) * (std / _TRUNCATED_STD)


# the standard deviation of a standard normal distribution truncated at ± 2
_TRUNCATED_STD = math.sqrt(1 - 4 * math.exp(-2) / math.sqrt(2 * math.pi) / math.erf(math.sqrt(2)))


def _sample_truncated(rng, shape, bound: float):
    """Sample the standard normal distribution truncated at ± bound, by rejection."""
    values = rng.normal(0.0, 1.0, shape)
    while (beyond := np.abs(values) > bound).any():
        values[beyond] = rng.normal(0.0, 1.0, int(beyond.sum()))
    return values


@_register
def orthogonal(rng, shape, *, gain: Positive = 1.0):
    """Orthonormal rows or columns, times gain (Saxe et al., 2013)."""
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r)) * gain
    return (q if rows >= columns else q.T).reshape(shape)


@_register
def normal(rng, shape, *, mean: float = 0.0, std: Positive = 0.02):
    """Normal distribution; the default standard deviation 0.02 is that of BERT and GPT-2."""
    return rng.normal(mean, std, shape)


@_register
def unit_normal(rng, shape):
    """Standard normal distribution (PyTorch's embedding)."""
    return rng.normal(0.0, 1.0, shape)


@_register
def truncated_normal(rng, shape, *, mean: float = 0.0, std: Positive = 0.02, bound: Annotated[float, Ge(0.1)] = 2.0):
    """Normal distribution truncated at bound * std from the mean (Keras's TruncatedNormal)."""
    return mean + std * _sample_truncated(rng, shape, bound)


@_register
def _uniform(rng, shape, *, low: float = -0.05, high: float = 0.05):
    """Uniform from low to high (Keras's RandomUniform)."""
    if low > high:
        raise ConfigError(f"uniform wants low not above high, received low={low!r} and high={high!r}")
    return rng.uniform(low, high, shape)


@_register
def zeros(rng, shape):
    """Zeros."""
    return np.zeros(shape)


@_register
def ones(rng, shape):
    """Ones."""
    return np.ones(shape)


@_register
def constant(rng, shape, *, value: float | list | tuple = 0.0):
    """One value everywhere, or nested lists of values that broadcast to the shape: ``"constant([0, 1, 2])"``."""
    try:
        return np.array(np.broadcast_to(np.asarray(value, "float64"), shape))
    except ValueError as error:
        raise ConfigError(
            f"constant wants numbers for a parameter of shape {shape}, received {value!r:.200}: {error}"
        ) from error


@_register
def identity(rng, shape, *, gain: float = 1.0):
    """The identity matrix, times gain: a linear layer that returns its input (Le et al., 2015)."""
    _check_shape("identity", shape, len(shape) == 2, "a matrix")
    return gain * np.eye(*shape)


@_register
def dirac(rng, shape, *, groups: Annotated[int, Ge(1)] = 1):
    """A convolution kernel that preserves its input channels (torch.nn.init.dirac_)."""
    _check_shape("dirac", shape, 3 <= len(shape) <= 5, "a convolution kernel (out, in / groups, window...)")
    if shape[0] % groups:
        raise ConfigError(f"dirac(groups={groups}) wants a number of outputs divisible by groups, received {shape[0]}")
    values, size = np.zeros(shape), shape[0] // groups
    channel = np.arange(min(size, shape[1]))
    center = tuple(n // 2 for n in shape[2:])
    for group in range(groups):
        values[(group * size + channel, channel, *center)] = 1.0
    return values


@_register
def sparse(rng, shape, *, sparsity: Annotated[float, Ge(0), Lt(1)] = 0.1, std: Positive = 0.01):
    """Normal, with a fraction of the inputs of each unit at zero (Martens, 2010; torch.nn.init.sparse_)."""
    _check_shape("sparse", shape, len(shape) == 2, "a matrix")
    values, none = rng.normal(0.0, std, shape), math.ceil(sparsity * shape[0])
    places = np.argsort(rng.random(shape), axis=0)[:none]
    np.put_along_axis(values, places, 0.0, axis=0)
    return values


def _check_shape(name: str, shape: tuple[int, ...], fits: bool, what: str) -> None:
    if not fits:
        raise ConfigError(f"{name} is for {what}, received a parameter of shape {shape}: choose another initializer")


def uniform(limit: float) -> InitFunction:
    """Uniform in ± ``limit``."""
    return lambda rng, shape: rng.uniform(-limit, limit, shape)


def from_values(values) -> InitFunction:
    """An initializer that returns fixed values."""
    return lambda rng, shape: np.reshape(np.asarray(values, "float64"), shape)


_LONGEST = 100_000  # characters of an initializer with its settings


def settings_of(name: str) -> dict[str, inspect.Parameter]:
    """Settings of an initializer: names, types and defaults."""
    parameters = inspect.signature(INITIALIZERS[name]).parameters.values()
    return {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}


@functools.cache
def read(text: str) -> InitFunction:
    """Parse ``"normal"`` or ``"normal(std=0.01)"``. Raises ConfigError that lists the names or settings."""
    if text in INITIALIZERS:
        return INITIALIZERS[text]
    try:
        if len(text) > _LONGEST:
            raise ValueError("too long")
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("not written as a call")
        name = call.func.id
        args = [ast.literal_eval(a) for a in call.args]
        named = [(k.arg, ast.literal_eval(k.value)) for k in call.keywords]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise ConfigError(
            f'an initializer is a name, or a name with settings such as "normal(std=0.01)", received {text!r:.200}; '
            f"the names are {', '.join(INITIALIZERS)}"
        ) from error
    if name not in INITIALIZERS:
        raise ConfigError(f"initializer {name!r} in {text!r} is unknown: there are {', '.join(INITIALIZERS)}")
    return functools.partial(INITIALIZERS[name], **_settings(text, name, args, named))


def _settings(text: str, name: str, args: list, named: list[tuple[str | None, Any]]) -> dict[str, Any]:
    """Validate the settings of a call, and return them by name."""
    known = settings_of(name)
    offered = ", ".join(f"{p.name}={p.default!r}" for p in known.values()) or "no settings"
    pairs = [*zip(known, args, strict=False), *named]
    values = {key: value for key, value in pairs if key is not None}
    if len(args) > len(known) or len(values) < len(pairs) or not values.keys() <= known.keys():
        raise ConfigError(f"initializer {name} takes {offered}, received {text!r}")
    hints = typing.get_type_hints(INITIALIZERS[name], include_extras=True)
    for key, value in values.items():
        if not _fits(value, hints[key]):
            raise ConfigError(f"initializer {name}: {key} wants {describe(hints[key])}, received {value!r}")
    return values


def _fits(value, hint) -> bool:
    import pydantic  # imported lazily: it takes longer than the rest of labdl

    if isinstance(value, float) and not math.isfinite(value):
        return False
    try:
        pydantic.TypeAdapter(hint).validate_python(value, strict=True)
    except pydantic.ValidationError:
        return False
    return True


def draw(
    initializer: str | InitFunction, shape: tuple[int, ...], dtype: str | np.dtype, seed: int, path: str
) -> np.ndarray:
    """Sample the parameter at ``path`` with its own generator, so that adding a layer changes no other layer's weights."""
    function = read(initializer) if isinstance(initializer, str) else initializer
    rng = np.random.default_rng([seed, zlib.crc32(path.encode())])
    return np.asarray(function(rng, shape), dtype=dtype, order="C")
