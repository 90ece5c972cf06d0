"""Parameters: the tensors that belong to a module."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError


class Parameter:
    """A tensor that belongs to a module: its declaration, and once built the backend's own variable in ``value``.

        ``standard`` is the order of axes in which it is saved, where that differs from the operators' order (R7.1: a
    convolution kernel is spatial × in × out on disk). ``order`` is NumPy's word for the order in memory, "C" by rows or "F" by
    columns, where the backend's variables have one (PyTorch); the meaning stays the same. ``trainable`` may be switched at any
    time, in training too: a frozen parameter keeps its value. ``gradient`` is what `Module.backward` has added up.
    """

    learnable: ClassVar[bool] = True
    changes: ClassVar[int] = 0  # how often any was frozen, freed or given another variable: training then looks again

    def __init__(self, shape: tuple[int, ...], init: str | Callable = "zeros", dtype: str = "float32",
                 trainable: bool = True, standard: tuple[int, ...] | None = None,
                 order: Literal["C", "F"] = "C"):  # fmt: skip
        self.shape, self.init, self.dtype, self.standard = tuple(shape), init, dtype, standard
        self.order: Literal["C", "F"] = order
        self.value: Any = None
        self.gradient: Any = None
        self._trainable = trainable

    def __repr__(self) -> str:
        state = "" if self.trainable else ", trainable=False"
        return f"{type(self).__name__}({self.shape}, {self.init!r}, {self.dtype!r}{state})"

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if self._trainable != value:
            self._trainable = value
            Parameter.changes += 1
            if self.value is not None:
                dispatch.owner(self.value).set_trainable(self.value, value)

    @property
    def array_dtype(self) -> np.dtype:
        """The dtype of NumPy arrays that hold the values: NumPy itself knows bfloat16 not at all, or another framework's."""
        return dispatch.get("numpy").dtype(self.dtype)

    def takes(self, dtype: np.dtype) -> bool:
        """Whether values of that dtype can be put in, if need be in another width."""
        # ml_dtypes lets bfloat16 and complex numbers pass for each other
        given, own = ("float16" if d.kind == "V" else d for d in (dtype, self.array_dtype))
        return np.can_cast(given, own, "same_kind")

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def to_standard(self, array: np.ndarray) -> np.ndarray:
        """As it is saved: axes in the standard order, and bfloat16 as float32, which NumPy alone can read."""
        array = array.astype("float32") if array.dtype.kind == "V" else array
        if self.standard is None:
            return array if array.flags.c_contiguous else _reordered(array.T, tuple(reversed(range(array.ndim))))
        return _reordered(array, self.standard)

    def from_standard(self, array: np.ndarray) -> np.ndarray:
        return array if self.standard is None else _reordered(array, tuple(np.argsort(self.standard)))

    @property
    def standard_shape(self) -> tuple[int, ...]:
        return self.shape if self.standard is None else tuple(self.shape[a] for a in self.standard)


class Buffer(Parameter):
    """A tensor of a module that is saved with it and never learnt, such as a running mean."""

    learnable = False

    def __init__(self, shape: tuple[int, ...], init: str | Callable = "zeros", dtype: str = "float32"):
        super().__init__(shape, init, dtype, trainable=False)

    @Parameter.trainable.setter
    def trainable(self, value: bool) -> None:
        if value:
            raise ConfigError("a Buffer is never learnt: make it a Parameter")


_BLOCK = 64  # rows of a transposition at a time: what they are read from and written to fits into the processor's cache


def _reordered(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """A contiguous array with the axes in another order; for large kernels several times as fast as NumPy alone."""
    last = array.ndim - 1
    view = array.transpose(axes)
    if array.size < 1 << 16 or (axes[last] != 0 and axes[0] != last):
        return np.asarray(view, order="C")
    result = np.empty(view.shape, array.dtype)
    if axes[last] == 0:
        for at in range(0, len(array), _BLOCK):
            result[..., at : at + _BLOCK] = view[..., at : at + _BLOCK]
        return result
    # the last axis becomes the first: whole rows change places, then a matrix is transposed
    rows = np.ascontiguousarray(array.transpose(*axes[1:], last)).reshape(-1, array.shape[last])
    columns = result.reshape(array.shape[last], -1)
    for at in range(0, len(rows), _BLOCK):
        columns[:, at : at + _BLOCK] = rows[at : at + _BLOCK].T
    return result
