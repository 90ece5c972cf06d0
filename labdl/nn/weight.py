"""Tensors of a graph that are not inputs: parameters, buffers and constants."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from labdl.nn.module import Module
from labdl.nn.parameter import Buffer, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Initializer, Whole
from labdl.settings import ANY_FLOAT
from labdl.spec import Spec

Values = int | float | bool | tuple["Values", ...]


@layer({"shape": (4,)}, category="input")
class Weight(Module):
    """A parameter as a node of a graph, a buffer if ``learned`` is false, such as a class token or a table of positions.

    A trace represents a `Parameter` or `Buffer` of a user-defined module by it. ``standard`` is the order of axes in the
    parameter file, where that differs.
    """

    shape: tuple[Whole, ...]
    init: Initializer = "zeros"
    dtype: str = "float32"
    learned: bool = True
    standard: tuple[Whole, ...] | None = None

    def setup(self):
        # with an empty name the parameter is named by the path of this node, as in the model
        made = (
            Parameter(self.shape, self.init, self.dtype) if self.learned else Buffer(self.shape, self.init, self.dtype)
        )
        made.standard = self.standard
        setattr(self, "", made)

    def forward(self):
        return self.__dict__[""]

    def infer(self):
        self.prepare()
        return Spec(self.shape, self.dtype)


@layer({"value": (1.0, 2.0)}, category="input")
class Constant(Module):
    """A constant: a number or nested lists of numbers."""

    value: Annotated[int | float | bool | tuple, ANY_FLOAT]
    dtype: Literal["float32", "float64", "int64", "int32", "bool"] = "float32"

    def setup(self):
        self._array = np.array(self.value, self.dtype)

    def _place_constants(self, backend) -> None:
        self.__dict__["_tensor"] = backend.tensor(np.array(self.value, self.dtype))

    def forward(self):
        if "_tensor" in self.__dict__:
            return self.__dict__["_tensor"]
        if "_array" not in self.__dict__:
            self.setup()
        return self._array

    def infer(self):
        return Spec(np.shape(np.array(self.value)), self.dtype)
