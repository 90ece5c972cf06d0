"""Parameters and buffers: the tensors of a module."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError
from labdl.habits import refuse_attributes


@refuse_attributes("parameter")
class Parameter:
    """A tensor of a module: its declaration, and after build the backend's own variable in ``value``.

    ``standard`` is the order of axes in which it is saved, where that differs from the operators' order (a convolution
    kernel is spatial × in × out on disk). ``order`` is the memory layout as in NumPy, "C" by rows or "F" by columns, where
    the backend's variables have one (PyTorch); values do not depend on it. ``trainable`` may be changed at any time, during
    training too: a frozen parameter keeps its value. After build it is the flag of the variable, which people may set by the
    framework's own name as well, from one training to the next. ``gradient`` is the sum of the gradients of `Module.backward`.
    """

    learnable: ClassVar[bool] = True
    changes: ClassVar[int] = (
        0  # counts changes of `trainable` and of variables of any parameter; training refreshes on it
    )

    def __init__(
        self,
        shape: tuple[int, ...],
        init: str | Callable = "zeros",
        dtype: str = "float32",
        trainable: bool = True,
        standard: tuple[int, ...] | None = None,
        order: Literal["C", "F"] = "C",
    ):
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
        own = None if self.value is None else dispatch.owner(self.value).is_trainable(self.value)
        return self._trainable if own is None else own

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not isinstance(value, bool | np.bool_):
            raise ConfigError(f"trainable is True or False, received {value!r:.80}")
        value = bool(value)
        if self.trainable != value:
            Parameter.changes += 1
            if self.value is not None:
                dispatch.owner(self.value).set_trainable(self.value, value)
        self._trainable = value

    @property
    def requires_grad(self) -> bool:
        """`trainable` under the name of PyTorch and MindSpore."""
        return self.trainable

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.trainable = value

    @property
    def stop_gradient(self) -> bool:
        """The opposite of `trainable`, under PaddlePaddle's name."""
        return not self.trainable

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self.trainable = not value

    @property
    def array_dtype(self) -> np.dtype:
        """NumPy dtype of the values; bfloat16, which NumPy itself lacks, is that of the NumPy backend."""
        return dispatch.get("numpy").dtype(self.dtype)

    def takes(self, dtype: np.dtype) -> bool:
        """Whether values of that dtype can be assigned, with another width if necessary."""
        # ml_dtypes lets bfloat16 and complex numbers pass for each other
        given, own = ("float16" if d.kind == "V" else d for d in (dtype, self.array_dtype))
        return np.can_cast(given, own, "same_kind")

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def to_standard(self, array: np.ndarray) -> np.ndarray:
        """Convert to the saved form: axes in the standard order, bfloat16 as float32, which plain NumPy can read."""
        array = array.astype("float32") if array.dtype.kind == "V" else array
        if self.standard is None:
            return (
                array
                if array.flags.c_contiguous
                else _transpose_contiguous(array.T, tuple(reversed(range(array.ndim))))
            )
        return _transpose_contiguous(array, self.standard)

    def from_standard(self, array: np.ndarray) -> np.ndarray:
        return array if self.standard is None else _transpose_contiguous(array, tuple(np.argsort(self.standard)))

    @property
    def standard_shape(self) -> tuple[int, ...]:
        return self.shape if self.standard is None else tuple(self.shape[a] for a in self.standard)


class Buffer(Parameter):
    """A tensor of a module that is saved with it and not trained, such as a running mean."""

    learnable = False

    def __init__(self, shape: tuple[int, ...], init: str | Callable = "zeros", dtype: str = "float32"):
        super().__init__(shape, init, dtype, trainable=False)

    @property
    def trainable(self) -> bool:
        return False

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if value:
            raise ConfigError("a Buffer cannot be trainable: make it a Parameter")


_BLOCK = 64  # rows of a transposition at a time: a block of source and destination fits into the processor's cache


def _transpose_contiguous(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Transpose into a contiguous array, for large kernels several times faster than NumPy."""
    last = array.ndim - 1
    view = array.transpose(axes)
    if array.size < 1 << 16 or (axes[last] != 0 and axes[0] != last):
        return np.asarray(view, order="C")
    result = np.empty(view.shape, array.dtype)
    if axes[last] == 0:
        for at in range(0, len(array), _BLOCK):
            result[..., at : at + _BLOCK] = view[..., at : at + _BLOCK]
        return result
    # the last axis becomes the first: permute whole rows, then transpose a matrix
    rows = np.ascontiguousarray(array.transpose(*axes[1:], last)).reshape(-1, array.shape[last])
    columns = result.reshape(array.shape[last], -1)
    for at in range(0, len(rows), _BLOCK):
        columns[:, at : at + _BLOCK] = rows[at : at + _BLOCK].T
    return result
