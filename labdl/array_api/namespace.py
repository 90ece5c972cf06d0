"""Array API namespace: functions of the standard, implemented by the operators of the same names."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np

from labdl import dispatch, ops
from labdl.array_api import special_values
from labdl.array_api.arrays import device_name, patch_tensor_types
from labdl.array_api.dtypes import STANDARD, DataTypes
from labdl.array_api.names import ARRANGING, ELEMENTWISE, FFT, LINALG, PRODUCTS, REDUCING, SEARCHING
from labdl.ops.array.creation import refuse_shape
from labdl.ops.operator import OPERATORS

RESULTS = {
    "unique_all": "values indices inverse_indices counts",
    "unique_counts": "values counts",
    "unique_inverse": "values inverse_indices",
    "eigh": "eigenvalues eigenvectors",
    "qr": "Q R",
    "slogdet": "sign logabsdet",
    "svd": "U S Vh",
}
_RESULTS = {name: namedtuple(f"{name}_result", fields) for name, fields in RESULTS.items()}


@functools.cache
def array_namespace(backend: str) -> ArrayNamespace:
    """The Array API standard (2024.12) over a framework's own tensors.

    From then on that framework's tensors follow the standard in this process: their infix operators promote as it says,
    and they have its attributes (``T``, ``mT``, ``to_device``, ``__array_namespace__`` …) where they lacked them.
    """
    return ArrayNamespace(dispatch.load(backend))


class ArrayNamespace:
    """Functions, constants and dtypes of the Array API standard; arrays are the framework's own tensors."""

    __array_api_version__ = "2024.12"
    e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None

    def __init__(self, backend):
        self._backend, self._dtypes = backend, DataTypes(backend)
        self.__name__ = f"labdl.array_namespace({backend.name!r})"
        self._special = special_values.functions(backend)
        for name in STANDARD:
            setattr(self, name, self._dtypes.native[name])
        for name in (*ELEMENTWISE, *ARRANGING, *REDUCING, *SEARCHING, *PRODUCTS):
            setattr(self, name, self._function(name))
        self.linalg = SimpleNamespace(**{name: self._function(name) for name in LINALG})
        self.fft = SimpleNamespace(
            **{name: self._function(name) for name in FFT},
            fftfreq=self._frequencies("fftfreq"),
            rfftfreq=self._frequencies("rfftfreq"),
        )
        for name in ("result_type", "can_cast", "isdtype", "finfo", "iinfo"):
            setattr(self, name, getattr(self._dtypes, name))
        patch_tensor_types(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("uint16", "uint32", "uint64"):
            raise AttributeError(
                f"{self.__name__} has no {name}, for which the frameworks have few kernels: its dtypes are "
                f"{', '.join(STANDARD)}"
            )
        raise AttributeError(
            f"{self.__name__} has no {name!r}: the Array API standard of {self.__array_api_version__} names none"
        )

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def _function(self, name: str):
        """The operator, with dtypes given as the framework's objects and results named as the standard names them."""
        function, result = self._special.get(name) or getattr(ops, name), _RESULTS.get(name)
        has_dtype = "dtype" in OPERATORS[name].signature.parameters
        if not has_dtype and result is None:
            return function

        @functools.wraps(function)
        def call(*args, **kwargs):
            if kwargs.get("dtype") is not None:
                kwargs["dtype"] = self._dtypes.name(kwargs["dtype"])
            found = function(*args, **kwargs)
            return found if result is None else result(*found)

        return call

    # -- creation

    def asarray(self, obj, /, *, dtype=None, device=None, copy=None):
        """An array from a number, nested lists, an array, or anything with the buffer protocol."""
        native = isinstance(obj, self._backend.tensor_types())
        if copy is False and not native:
            raise ValueError("asarray: a Python object cannot become an array without a copy")
        name = self._dtypes.name(dtype)
        if not native:
            return self._to_device(ops.tensor(obj, self._default(obj, name), self._backend.name), device)
        if name is not None and self._backend.spec_of(obj).dtype != name:
            if copy is False:
                raise ValueError(f"asarray: another dtype ({name}) needs a copy")
            obj = ops.astype(obj, name)
        elif copy:
            obj = self._backend.copy(obj)
        return self._to_device(obj, device)

    def _default(self, obj, name) -> Any:
        """Python numbers become the default dtypes, int64 and float32."""
        if name is not None or hasattr(obj, "dtype"):
            return name
        return {"i": "int64", "u": "int64", "f": "float32", "c": "complex64", "b": "bool"}.get(
            np.asarray(obj).dtype.kind
        )

    def _to_device(self, array, device):
        return array if device is None else dispatch.to_device(array, device_name(device))

    def _create(self, array, dtype, device):
        return self.asarray(array, dtype=dtype, device=device)

    def arange(self, start, /, stop=None, step=1, *, dtype=None, device=None):
        """Numbers from start up to, but without, stop: int64, or float32 when one of them has a fraction."""
        first, last = (0, start) if stop is None else (start, stop)
        whole = all(isinstance(n, int) for n in (first, last, step))
        count = max(math.ceil((last - first) / step), 0)
        refuse_shape("arange", count, "int64")
        values = [first + i * step for i in range(count)] if whole else first + step * np.arange(count)
        return self._create(
            np.array(values, "int64" if whole else "float64"), dtype or (self.int64 if whole else self.float32), device
        )

    def empty(self, shape, *, dtype=None, device=None):
        """An array with undefined values, which are zeros here."""
        return self.zeros(shape, dtype=dtype, device=device)

    def empty_like(self, x, /, *, dtype=None, device=None):
        """An array with the shape and dtype of another and undefined values."""
        return self.zeros_like(x, dtype=dtype, device=device)

    def eye(self, n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
        """Ones on a diagonal, ``k`` further right, and zeros elsewhere."""
        refuse_shape("eye", (n_rows, n_rows if n_cols is None else n_cols), "float64")
        return self._create(np.eye(n_rows, n_cols, k), dtype or self.float32, device)

    def full(self, shape, fill_value, *, dtype=None, device=None):
        """An array of one value; int64, float32, complex64 or bool after the value unless a dtype is given."""
        name = self._dtypes.name(dtype) or self._default(fill_value, None)
        refuse_shape("full", shape, name)
        return self._create(np.full(shape, fill_value, name), dtype or self._dtypes.native[name], device)

    def full_like(self, x, /, fill_value, *, dtype=None, device=None):
        """An array of one value in another array's shape and dtype."""
        return self.full(tuple(x.shape), fill_value, dtype=dtype or x.dtype, device=device)

    def ones(self, shape, *, dtype=None, device=None):
        """An array of ones, float32 unless a dtype is given."""
        return self.full(shape, 1, dtype=dtype or self.float32, device=device)

    def ones_like(self, x, /, *, dtype=None, device=None):
        """Ones in another array's shape and dtype."""
        return self.full_like(x, 1, dtype=dtype, device=device)

    def zeros(self, shape, *, dtype=None, device=None):
        """An array of zeros, float32 unless a dtype is given."""
        return self.full(shape, 0, dtype=dtype or self.float32, device=device)

    def zeros_like(self, x, /, *, dtype=None, device=None):
        """Zeros in another array's shape and dtype."""
        return self.full_like(x, 0, dtype=dtype, device=device)

    def linspace(self, start, stop, /, num, *, dtype=None, device=None, endpoint=True):
        """``num`` numbers at equal distances from start to stop, which ``endpoint=False`` leaves out."""
        refuse_shape("linspace", num, "float64")
        whole = isinstance(start, complex) or isinstance(stop, complex)
        return self._create(
            np.linspace(start, stop, num, endpoint=endpoint),
            dtype or (self.complex64 if whole else self.float32),
            device,
        )

    def meshgrid(self, *arrays, indexing="xy"):
        """Coordinate grids from one-dimensional arrays, in a list."""
        return list(ops.meshgrid(*arrays, indexing=indexing))

    def from_dlpack(self, x, /, *, device=None, copy=None):
        """An array that shares the memory of another library's, where the framework can; ``copy=True`` for its own.

        Raises ValueError for ``copy=False`` where the framework copies, and with a device other than that of the memory.
        """
        array = self._backend.from_dlpack(x, copy)
        if copy is False and device is not None and self._backend.device_of(array) != device_name(device):
            raise ValueError(f"from_dlpack: another device ({device}) needs a copy")
        return self._to_device(self._backend.copy(array) if copy else array, device)

    def _frequencies(self, name: str):
        make = getattr(np.fft, name)

        def frequencies(n, /, *, d=1.0, dtype=None, device=None):
            """The frequencies of a transform of ``n`` points at a distance of ``d``."""
            refuse_shape(name, n, "float64")
            return self._create(make(n, d), dtype or self.float32, device)

        return frequencies

    # -- functions whose parameters differ from the operator's

    def astype(self, x, dtype, /, *, copy=True, device=None):
        """The array in another dtype; itself when it has that already and ``copy=False``."""
        name = self._dtypes.name(dtype)
        if self._backend.spec_of(x).dtype != name:
            x = ops.astype(x, name)
        elif copy:
            x = self._backend.copy(x)
        return self._to_device(x, device)

    def broadcast_arrays(self, *arrays):
        """Arrays broadcast to their common shape, in a list."""
        return list(ops.broadcast_arrays(*arrays))

    def reshape(self, x, /, shape, *, copy=None):
        """The elements in another shape; ``copy=True`` for memory of its own."""
        result = ops.reshape(x, shape)
        return self._backend.copy(result) if copy else result

    # -- about the framework

    def __array_namespace_info__(self) -> Any:
        """Capabilities, devices and dtypes, as the standard asks for them."""
        return Info(self)


class Info:
    """Capabilities of the framework (``__array_namespace_info__``)."""

    def __init__(self, namespace: ArrayNamespace):
        self._namespace = namespace

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> Any:
        """The device of new arrays, as ``x.device`` has it."""
        return self._device(self._namespace._backend.current_device())

    def devices(self) -> list[Any]:
        """The devices of this machine, as ``x.device`` has them."""
        return [self._device(name) for name in self._namespace._backend.devices()]

    def _device(self, name: str) -> Any:
        return getattr(self._namespace._backend, "array_device", str)(name)

    def default_dtypes(self, *, device=None) -> dict[str, Any]:
        xp = self._namespace
        return {
            "real floating": xp.float32,
            "complex floating": xp.complex64,
            "integral": xp.int64,
            "indexing": xp.int64,
        }

    def dtypes(self, *, device=None, kind=None) -> dict[str, Any]:
        xp = self._namespace
        found = {name: xp._dtypes.native[name] for name in STANDARD}
        return found if kind is None else {n: d for n, d in found.items() if xp.isdtype(d, kind)}
