"""Parameters: the tensors that belong to a module."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError


class Parameter:
    """A tensor that belongs to a module: its declaration, and once built the backend's own variable in ``value``.

    ``standard`` is the order of axes in which it is saved, where that differs from the operators' order (R7.1: a
    convolution kernel is spatial × in × out on disk). ``trainable`` may be switched at any time, in training too: a frozen
    parameter keeps its value. ``gradient`` is what `Module.backward` has added up.
    """

    learnable: ClassVar[bool] = True
    changes: ClassVar[int] = 0  # how often any was frozen, freed or given another variable: training then looks again

    def __init__(self, shape: tuple[int, ...], init: str | Callable = "zeros", dtype: str = "float32",
                 trainable: bool = True, standard: tuple[int, ...] | None = None):  # fmt: skip
        self.shape, self.init, self.dtype, self.standard = tuple(shape), init, dtype, standard
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
    def size(self) -> int:
        return math.prod(self.shape)

    def to_standard(self, array: np.ndarray) -> np.ndarray:
        return array if self.standard is None else np.ascontiguousarray(array.transpose(self.standard))

    def from_standard(self, array: np.ndarray) -> np.ndarray:
        if self.standard is None:
            return array
        return np.ascontiguousarray(array.transpose(np.argsort(self.standard)))

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
