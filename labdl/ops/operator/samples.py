"""Sample arguments of operators, for tests and documentation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from labdl.spec import COMPLEX


@dataclass(frozen=True)
class Sample:
    """A random array for tests and docs: shape, dtype and range; `draw` samples it.

    A ``free`` one stands for a tensor that the operator computes with, in any dtype that the operator takes. The others
    (positions, masks) keep their dtype.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -2.0
    high: float = 2.0
    free: bool = False
    transform: Callable[[np.ndarray], np.ndarray] | None = (
        None  # applied to floats, for example to make a matrix symmetric
    )

    def draw(self, rng: np.random.Generator, dtype: str | None = None) -> np.ndarray:
        """The array, a free one in another dtype if that is given (bfloat16 as float32: NumPy has none)."""
        dtype = dtype if dtype and self.free else self.dtype
        if dtype == "bool":
            return rng.random(self.shape) < 0.5
        if dtype == "string":
            return np.array(["b", "a", "c", ""])[rng.integers(0, 4, self.shape)]
        if "int" in dtype:
            low = math.ceil(max(self.low, 0) if dtype == "uint8" else self.low)
            return rng.integers(low, max(math.floor(self.high) + self.free, low + 1), self.shape).astype(dtype)
        values = rng.uniform(self.low, self.high, self.shape)
        if dtype in COMPLEX:
            values = values + 1j * rng.uniform(self.low, self.high, self.shape)
        values = self.transform(values) if self.transform else values
        return np.asarray(values).astype("float32" if dtype == "bfloat16" else dtype)


def floats(*shape: int, low: float = -2.0, high: float = 2.0, transform: Callable | None = None) -> Sample:
    """A tensor to compute with: float32, or any other dtype that the operator takes."""
    return Sample(shape, "float32", low, high, free=True, transform=transform)


def values(*shape: int, dtype: str = "int64", low: float = 0, high: float = 5) -> Sample:
    """As `floats`, for operators without float32; sampled as ``dtype`` by default."""
    return Sample(shape, dtype, low, high, free=True)


def ints(*shape: int, low: int = 0, high: int = 5, dtype: str = "int64") -> Sample:
    """Positions or counts from ``low`` up to but without ``high``: integers whatever the dtype of the other tensors is."""
    return Sample(shape, dtype, low, high)


def bools(*shape: int) -> Sample:
    """A mask."""
    return Sample(shape, "bool")


def case(*args, **kwargs) -> tuple[tuple, dict]:
    """One sample call: positional and named arguments, arrays given as samples."""
    return args, kwargs


def samples_in(value) -> Iterator[Sample]:
    """All samples in nested lists and tuples."""
    if isinstance(value, Sample):
        yield value
    elif isinstance(value, list | tuple):
        for v in value:
            yield from samples_in(v)
