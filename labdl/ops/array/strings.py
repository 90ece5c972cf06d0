"""String tensors, in host memory on every backend: only one framework has kernels for strings."""

from __future__ import annotations

import numpy as np

from labdl import dispatch
from labdl.ops import infix
from labdl.spec import Spec


class StringTensor:
    """Strings of a backend: reshaped, compared and sorted like any tensor; arithmetic raises TypeError.

    Created by ``labdl.tensor(["cat", "dog"], backend="torch")``. Results of operators are StringTensors or, for
    comparisons and positions, tensors of the backend.
    """

    dtype = "string"
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: np.ndarray, backend: str):
        self.array = np.asarray(array, dtype=str)
        self.backend = backend

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self):
        return (StringTensor(part, self.backend) for part in self.array)

    def __repr__(self) -> str:
        return f"StringTensor({self.array.tolist()!r}, backend={self.backend!r})"

    def item(self) -> str:
        """The string of a tensor with one element."""
        return self.array.item()


class _Strings:
    """Runs an operator's NumPy body on the strings' arrays."""

    name = "string"
    precedence = 2

    def implementation(self, entry):
        def compute(*args, **kwargs):
            backend = _backend_of((args, tuple(kwargs.values())))
            args, kwargs = tuple(map(_to_array, args)), {k: _to_array(v) for k, v in kwargs.items()}
            if args and len(args) == 2 and entry.signature.parameters.keys() <= {"x", "y"}:
                args = tuple(np.asarray(a) if isinstance(a, str) else a for a in args)  # a str among strings
            result = dispatch.load("numpy").implementation(entry)(*args, **kwargs)
            return _from_array(result, backend)

        return compute

    def spec_of(self, value: StringTensor) -> Spec:
        return Spec(value.shape, "string")

    def to_numpy(self, value: StringTensor) -> np.ndarray:
        return value.array

    def device_of(self, value: StringTensor) -> str:
        return "cpu"

    def to_device(self, value: StringTensor, device: str) -> StringTensor:
        return value  # strings stay in host memory


def _backend_of(value) -> str | None:
    if isinstance(value, StringTensor):
        return value.backend
    return next(filter(None, map(_backend_of, value)), None) if isinstance(value, list | tuple) else None


def _to_array(value):
    if isinstance(value, list | tuple):
        return type(value)(map(_to_array, value))
    owner = dispatch.owner_of_type(type(value))
    return value if owner is None or getattr(owner, "only_shapes", False) else owner.to_numpy(value)


def _from_array(result, backend):
    if isinstance(result, tuple):
        return tuple(_from_array(r, backend) for r in result)
    return StringTensor(result, backend) if result.dtype.kind == "U" else dispatch.load(backend).tensor(result)


dispatch.claim(StringTensor, _Strings())
infix.register_type(StringTensor)
