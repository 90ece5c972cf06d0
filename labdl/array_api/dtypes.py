"""Data types of the Array API standard: the framework's own objects, and their properties."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from labdl.spec import COMPLEX, FLOATS, INTEGERS, promote

STANDARD = ("bool", *INTEGERS, "float32", "float64", *COMPLEX)
_KINDS = {
    "bool": ("bool",),
    "signed integer": tuple(d for d in INTEGERS if d[0] == "i"),
    "unsigned integer": tuple(d for d in INTEGERS if d[0] == "u"),
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": (*INTEGERS, *FLOATS, *COMPLEX),
}

finfo_object = namedtuple("finfo_object", "bits eps max min smallest_normal dtype")
iinfo_object = namedtuple("iinfo_object", "bits max min dtype")


class DataTypes:
    """Names of dtypes and the framework's objects for them, one to one."""

    def __init__(self, backend):
        self.native = {name: backend.dtype(name) for name in (*STANDARD, "float16", "bfloat16")}
        self.names = {kind: name for name, kind in self.native.items()}
        self._backend = backend

    def name(self, dtype) -> str | None:
        """LabDL's name of a framework's dtype; None stays None."""
        if dtype is None or dtype in self.names:
            return None if dtype is None else self.names[dtype]
        raise TypeError(f"{dtype!r} is not a dtype of the array namespace of {self._backend.name}")

    def of(self, value):
        """The name of a tensor's dtype, or of a dtype; Python numbers unchanged."""
        if isinstance(value, bool | int | float | complex):
            return value
        return self.names[value] if _hashable(value) and value in self.names else self._backend.spec_of(value).dtype

    def result_type(self, *values):
        """The promoted dtype of arrays, dtypes and Python numbers."""
        return self.native[promote(*map(self.of, values))]

    def can_cast(self, start, to) -> bool:
        """True if a dtype, or that of an array, is promoted to another."""
        start, to = self.of(start), self.name(to)
        try:
            return promote(start, to) == to
        except TypeError:
            return False

    def isdtype(self, dtype, kind) -> bool:
        """True if a dtype equals another, is of a kind such as "real floating", or one of several."""
        if isinstance(kind, tuple):
            return any(self.isdtype(dtype, k) for k in kind)
        if isinstance(kind, str):
            if kind not in _KINDS:
                raise ValueError(f"kind must be one of {', '.join(_KINDS)}, received {kind!r}")
            return self.name(dtype) in _KINDS[kind]
        return self.name(dtype) == self.name(kind)

    def finfo(self, value):
        """Bits, precision and range of a floating-point dtype, or that of an array."""
        name = str(self.of(value))
        real = {"complex64": "float32", "complex128": "float64"}.get(name, name)
        if real not in FLOATS:
            raise ValueError(f"finfo wants a floating-point dtype, received {name}")
        import ml_dtypes  # supports bfloat16 too

        info = ml_dtypes.finfo(real)
        return finfo_object(
            info.bits, float(info.eps), float(info.max), float(info.min), float(info.smallest_normal), self.native[real]
        )

    def iinfo(self, value):
        """Bits and range of an integer dtype, or that of an array."""
        name = str(self.of(value))
        if name not in INTEGERS:
            raise ValueError(f"iinfo wants an integer dtype, received {name}")
        info = np.iinfo(name)
        return iinfo_object(info.bits, int(info.max), int(info.min), self.native[name])


def _hashable(value) -> bool:
    # a tensor may be hashable too, but comparing it with dtypes would compute
    return not hasattr(value, "shape") and getattr(value, "__hash__", None) is not None
