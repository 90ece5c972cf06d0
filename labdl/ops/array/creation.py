"""New tensors on a backend. These are edges: they take ``backend=`` and follow the default."""

from __future__ import annotations

import math

import numpy as np

from labdl import dispatch
from labdl.ops.array.shape import astype
from labdl.ops.array.strings import StringTensor
from labdl.ops.operator.checks import refuse_beyond_memory
from labdl.spec import DTYPES, Spec

_SMALL = 2**20  # elements that are not compared with the memory


def refuse_shape(function: str, shape, dtype: str) -> None:
    """Raise MemoryError if a tensor of this shape is larger than the memory, ValueError for sizes below 0."""
    sizes = tuple(shape) if np.iterable(shape) else (shape,)
    if any(isinstance(n, int | np.integer) and n < 0 for n in sizes):
        raise ValueError(f"{function} wants sizes of 0 or more, received {shape}")
    if all(n is not None for n in sizes) and math.prod(sizes) > _SMALL and dtype in DTYPES:
        refuse_beyond_memory(function, Spec(sizes, dtype))


def tensor(array, dtype: str | None = None, backend: str | None = None):
    """A backend's own tensor from a NumPy array, a number, nested lists, or a tensor of any backend.

    Without ``dtype`` it is the array's own; numbers with fractions in Python lists become float32, complex ones complex64,
    strings a StringTensor. Raises TypeError for unsupported dtypes, ValueError for lists of unequal lengths.
    """
    if dtype is not None and dtype not in DTYPES:
        raise TypeError(f"dtype must be one of {', '.join(DTYPES)}, received {dtype!r}")
    owner = dispatch.owner_of_type(type(array))
    values = np.asarray(array if owner is None else owner.to_numpy(array))
    if dtype == "string" or (dtype is None and values.dtype.kind in "SU"):
        return StringTensor(values, backend or dispatch.default())
    if values.dtype.kind not in "biufcV":
        raise TypeError(f"a tensor is made from numbers, strings or bools, received {_kind(array)}")
    if dtype is None and owner is None and not isinstance(array, np.ndarray):
        dtype = {"float64": "float32", "complex128": "complex64"}.get(values.dtype.name)
    target = dispatch.get(backend)
    if dtype == "bfloat16":  # NumPy has none: the framework converts
        return astype(target.tensor(values.astype("float32")), dtype)
    return target.tensor(values if dtype is None else values.astype(dtype, copy=False))


def _kind(value) -> str:
    return f"{type(value).__name__} of dtype {value.dtype}" if hasattr(value, "dtype") else type(value).__name__


def to_numpy(value) -> np.ndarray:
    """The values of any backend's tensor as a NumPy array, bfloat16 as float32; detached from gradients."""
    return dispatch.owner(value).to_numpy(value)


def empty(shape, dtype: str | None = "float32", backend: str | None = None):
    """A tensor whose values do not matter (they are zeros, so that no old memory can be read)."""
    return _constant("empty", shape, 0, dtype or "float32", backend)


def zeros(shape, dtype: str | None = "float32", backend: str | None = None):
    """Zeros. Raises MemoryError, as all functions of this kind, for more than the memory of the machine."""
    return _constant("zeros", shape, 0, dtype or "float32", backend)


def ones(shape, dtype: str | None = "float32", backend: str | None = None):
    """Ones."""
    return _constant("ones", shape, 1, dtype or "float32", backend)


def full(shape, value, dtype: str | None = None, backend: str | None = None):
    """One value everywhere; without ``dtype`` the value's own: bool, int64, float32, complex64 or string."""
    return _constant("full", shape, value, dtype, backend)


def _constant(function: str, shape, value, dtype: str | None, backend: str | None):
    value = np.asarray(value)
    if dtype is None:
        dtype = {"float64": "float32", "complex128": "complex64"}.get(value.dtype.name)
    if dtype in DTYPES and dtype != "string":
        value = value.astype("float32" if dtype == "bfloat16" else dtype)  # before an array of that width is made
    refuse_shape(function, shape, value.dtype.name)
    return tensor(np.full(shape, value), dtype, backend)


def arange(start, stop=None, step=1, dtype: str | None = None, backend: str | None = None):
    """Numbers from ``start`` up to but without ``stop``; ``arange(n)`` counts from 0. int64, or float32 for fractions."""
    if step == 0:
        raise ValueError("arange wants a step that is not 0")
    first, last = (0, start) if stop is None else (start, stop)
    count = (last - first) / step if step else 0
    if _SMALL < count < math.inf:
        refuse_shape("arange", math.ceil(count), "int64")
    values = np.arange(first, last, step)
    return tensor(values, dtype or ("int64" if values.dtype.kind in "iu" else "float32"), backend)


def linspace(start, stop, num: int, dtype: str = "float32", endpoint: bool = True, backend: str | None = None):
    """``num`` numbers at equal distances from ``start`` to ``stop``, with or without the latter."""
    refuse_shape("linspace", num, "float64")
    return tensor(np.linspace(start, stop, num, endpoint=endpoint), dtype, backend)


def logspace(start, stop, num: int, base: float = 10.0, dtype: str = "float32", backend: str | None = None):
    """``base`` to the power of `num` numbers at equal distances from ``start`` to ``stop``."""
    refuse_shape("logspace", num, "float64")
    return tensor(np.logspace(start, stop, num, base=base), dtype, backend)


def eye(rows: int, columns: int | None = None, k: int = 0, dtype: str = "float32", backend: str | None = None):
    """Ones on the ``k``-th diagonal, zeros elsewhere."""
    width = dtype if dtype in DTYPES and dtype not in ("bfloat16", "string") else "float32"
    refuse_shape("eye", (rows, rows if columns is None else columns), width)
    return tensor(np.eye(rows, columns, k, width), dtype, backend)


def fftfreq(n: int, d: float = 1.0, dtype: str = "float32", backend: str | None = None):
    """The frequencies of the ``n`` results of `fft` for samples that lie ``d`` apart."""
    refuse_shape("fftfreq", n, "float64")
    return tensor(np.fft.fftfreq(n, d), dtype, backend)


def rfftfreq(n: int, d: float = 1.0, dtype: str = "float32", backend: str | None = None):
    """The frequencies of the results of `rfft` for ``n`` samples that lie ``d`` apart."""
    refuse_shape("rfftfreq", n, "float64")
    return tensor(np.fft.rfftfreq(n, d), dtype, backend)


def hann_window(n: int, periodic: bool = True, dtype: str = "float32", backend: str | None = None):
    """The Hann window, for short-time spectra; ``periodic=False`` for the symmetric one. Semantics: torch.hann_window."""
    refuse_shape("hann_window", n, "float64")
    return tensor(np.hanning(n + 1)[:-1] if periodic and n > 1 else np.hanning(n), dtype, backend)


def hamming_window(n: int, periodic: bool = True, dtype: str = "float32", backend: str | None = None):
    """The Hamming window; ``periodic=False`` for the symmetric one. Semantics: torch.hamming_window."""
    refuse_shape("hamming_window", n, "float64")
    return tensor(np.hamming(n + 1)[:-1] if periodic and n > 1 else np.hamming(n), dtype, backend)
